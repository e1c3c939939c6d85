// What the levels need to know of an operand: how many elements all CTAs ask for, and how many bytes a sector-wise
// memory moves for one that is asked for, at L1, past an L1 that merges one k-step, and past one that keeps lines.
// Closed forms of the layer and the mapping; no cache capacity enters here.
#pragma once

#include <gambrel/delta.hpp>

namespace gambrel::delta_detail {

inline constexpr double kSector = 32;

// Sectors that an interval of `length` bytes touches on average, if it starts at `offset` plus any multiple of `grain`
// (which divides 32).
double sectors(double length, double grain, double offset = 0);

struct Operand {
    double elements = 0;     // asked for by all CTAs; padding is not loaded
    double unique = 0;       // bytes of it that are touched at all
    double l1_factor = 1;    // bytes of sectors over bytes asked for: each request for itself
    double step_factor = 1;  // the same with what one CTA asks for in one k-step merged
    double kept_factor = 1;  // and with what it asks for in all its steps merged
};

struct Geometry {
    double m = 0, n = 0, k = 0, batch = 1;
    double element = 4;         // bytes
    double output_element = 4;  // bytes of what the epilogue writes
    Operand a, b;
    double output = 0;  // elements
    // Bytes of a bias that all CTAs load, and those that it has; counted with B, as both are parameters.
    double bias = 0, unique_bias = 0;
    double taps = 1, taps_h = 1;
    bool scalar_loads = false;  // rows of an operand do not begin at 16 bytes
    double tap_distance = 0;    // of a filter gradient: bytes of one input column between a row of taps and the next
};
Geometry geometry(const Layer& layer, const Mapping& mapping, const Grid& grid);

// The input of a convolution that a tile of pixels reads tap by tap: forward its input, dgrad the gradient of its
// output.
struct Walk {
    double images = 1, channels = 1;
    std::int64_t rows = 1, columns = 1;  // pixels that are computed
    std::int64_t in_h = 1, in_w = 1, taps_h = 1, taps_w = 1;
    std::int64_t stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1, pad_h = 0, pad_w = 0;
};
Walk forward_walk(const Convolution& v);
Walk gradient_walk(const Convolution& v);
double valid_rows(const Walk& w);
double valid_columns(const Walk& w);
// Pixels side by side in memory, channels apart: NCHW.
Operand pixel_operand(const Walk& w, const WarpLoad& load, const Tile& tile, double columns, double element);

}  // namespace gambrel::delta_detail
