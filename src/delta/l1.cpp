#include <algorithm>

#include "delta/levels.hpp"

namespace gambrel::delta_detail {

double output_bytes(const Case& c) {
    const Geometry& g = c.geometry;
    const double once = g.output * g.output_element;
    if (c.mapping.split_k <= 1) return once;
    // Through a workspace all partial sums but the last are written and read, and the result written.
    if (c.mapping.split_k_in_workspace) return g.output * (8.0 * (c.mapping.split_k - 1) + g.element);
    const double run = std::min(kSector, c.mapping.store_run * g.output_element);
    return once * c.mapping.split_k * kSector / run;
}

// Fragments are stored once by the CTA and loaded by each of its warps; a slice of k is loaded by its own warps only.
OperandTraffic shared_traffic(const Case& c) {
    const Mapping& m = c.mapping;
    const double warps = m.threads / 32.0;
    const double slices = m.warp.k > 0 ? static_cast<double>(m.cta.k) / m.warp.k : 1;
    const double steps = static_cast<double>(c.grid.ctas() * c.grid.k_steps) * m.cta.k * c.geometry.element;
    OperandTraffic t;
    t.a = steps * (m.cta.m + m.warp.m * warps / slices);
    t.b = steps * (m.cta.n + m.warp.n * warps / slices);
    return t;
}

// Sectors of each warp's requests, and of the epilogue's stores. Each row of a CTA's warps loads the bias of its
// columns.
OperandTraffic l1_traffic(const Case& c) {
    const Geometry& g = c.geometry;
    const bool turned = c.mapping.transposed_view;
    const int tile = turned ? c.mapping.cta.n : c.mapping.cta.m, warp = turned ? c.mapping.warp.n : c.mapping.warp.m;
    const double bias = g.bias * (warp > 0 ? std::max(1, tile / warp) : 1);
    return {g.a.elements * g.element * g.a.l1_factor, g.b.elements * g.element * g.b.l1_factor + bias, output_bytes(c)};
}

}  // namespace gambrel::delta_detail
