// One function for each memory level, and the time. Each takes what the level before it gave and names its mechanism.
#pragma once

#include <algorithm>
#include <cmath>

#include "delta/geometry.hpp"

namespace gambrel::delta_detail {

// All that the levels share, by value: a prediction allocates nothing.
struct Case {
    Mapping mapping;
    Occupancy occupancy;
    Grid grid;
    Geometry geometry;
    Hardware hardware;
    double resident = 1;  // CTAs that an SM really has at a time
    double groups = 1;    // that run in turn; all else is of one of them
};
// What the launch gives an SM, up to what fits.
inline double resident_ctas(const Grid& grid, const Occupancy& occupancy, const Hardware& hardware) {
    const double share = std::ceil(static_cast<double>(grid.ctas()) / hardware.sms);
    return std::clamp(share, 1.0, static_cast<double>(std::max(1, occupancy.ctas_per_sm)));
}
Case make_case(const Layer& layer, const Mapping& mapping, const Occupancy& occupancy, const Hardware& hardware);

OperandTraffic shared_traffic(const Case& c);
OperandTraffic l1_traffic(const Case& c);
OperandTraffic l2_traffic(const Case& c);
void dram_traffic(const Case& c, Traffic& traffic);
// Fills terms, time, bound and regime.
void time(const Case& c, const Layer& layer, Prediction& p);

Regime regime_of(const Case& c, const Layer& layer, double waves);

// The forms of the paper; the same places.
void paper_traffic(const Case& c, const Layer& layer, Traffic& traffic);
void paper_time(const Case& c, Prediction& p);

// Layers without tiles: every byte once, at the speed of the memory.
void streaming(const Layer& layer, const Hardware& hardware, Prediction& p);

// Partial sums: each CTA of a split adds its own to memory, or writes it and a second kernel reads it.
double output_bytes(const Case& c);

}  // namespace gambrel::delta_detail
