// Closed forms of what an operand's loads touch, from the layer and the mapping alone: no cache capacity enters here.
#pragma once

#include <cmath>

#include <gambrel/delta.hpp>

namespace gambrel::delta_detail {

inline constexpr double kSector = 32;

// Sectors that an interval of `length` bytes touches on average, if it starts at `offset` plus any multiple of `grain`
// (which divides 32).
inline double sectors(double length, double grain, double offset = 0) {
    return (std::ceil((offset + length) / grain) * grain + kSector - grain) / kSector;
}

// gcd(32, bytes): the largest power of two up to 32 that divides both.
inline std::int64_t grain_of(std::int64_t bytes) { return (bytes | 32) & -(bytes | 32); }

// Lines in which elements of 32 threads lie that are so far apart.
inline double lines_of_threads(Bytes apart) {
    constexpr double kThreads = 32, kLine = 128;
    return std::min(kThreads, std::ceil(kThreads * apart.value() / kLine));
}

// cuDNN's direct kernels: no tile is shared, each thread loops over the channels and taps of its output.
inline bool is_direct(const Mapping& m) { return m.cta.n == 1 && m.cta.k == 1; }

// `view` is kernel_view(layer).
Geometry geometry(const Layer& layer, const GemmView& view, const Mapping& mapping, const Grid& grid);
// Of Winograd's algorithm: the operands of its main kernel, and what the transforms move.
void transformed_operands(const Layer& layer, const Mapping& mapping, const Grid& grid, Geometry& g);

// The input of a convolution that a tile of pixels reads tap by tap: forward its input, dgrad the gradient of its
// output.
struct SlidingWindow {
    double images = 1, channels = 1;
    std::int64_t rows = 1, columns = 1;  // pixels that are computed
    std::int64_t in_h = 1, in_w = 1, taps_h = 1, taps_w = 1;
    std::int64_t stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1, pad_h = 0, pad_w = 0;
};
SlidingWindow forward_window(const Convolution& v);
SlidingWindow gradient_window(const Convolution& v);
// Share of (pixel, tap) pairs that lie inside the image, along one side.
double valid_rows(const SlidingWindow& w);
double valid_columns(const SlidingWindow& w);
// Pixels side by side in memory, channels apart: NCHW.
OperandAccess pixel_operand(const SlidingWindow& w, const WarpLoad& load, const Tile& tile, double columns,
                            double element);

}  // namespace gambrel::delta_detail
