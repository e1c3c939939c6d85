#include <algorithm>

#include "delta/levels.hpp"

namespace gambrel::delta_detail {

Bytes output_bytes(const PreparedLayer& layer) {
    const Geometry& g = layer.geometry;
    const Mapping& m = layer.mapping;
    const Bytes once = g.output * g.output_element;
    if (m.split_k <= 1) return once;
    // Through a workspace all partial sums but the last are written and read, and the result written.
    if (m.split_k_in_workspace) return g.output * (Bytes{8.0 * (m.split_k - 1)} + g.element);
    const double run = std::min(kSector, m.store_run * g.output_element.value());
    return once * m.split_k * kSector / run;
}

// Fragments are stored once by the CTA and loaded by each of its warps; a slice of k is loaded by its own warps only.
OperandTraffic shared_traffic(const PreparedLayer& layer) {
    const Mapping& m = layer.mapping;
    const double warps = m.threads / 32.0;
    const double slices = m.warp.k > 0 ? static_cast<double>(m.cta.k) / m.warp.k : 1;
    const Bytes steps = static_cast<double>(layer.grid.ctas() * layer.grid.k_steps) * m.cta.k * layer.geometry.element;
    return {steps * (m.cta.m + m.warp.m * warps / slices), steps * (m.cta.n + m.warp.n * warps / slices), {}};
}

// Sectors of each warp's requests, and of the epilogue's stores. Each row of a CTA's warps loads the bias of its
// columns.
OperandTraffic l1_traffic(const PreparedLayer& layer) {
    const Geometry& g = layer.geometry;
    const Mapping& m = layer.mapping;
    const int tile = m.transposed_view ? m.cta.n : m.cta.m, warp = m.transposed_view ? m.warp.n : m.warp.m;
    const Bytes bias = g.bias * (warp > 0 ? std::max(1, tile / warp) : 1);
    // A strided or padded layer may ask for less than all of a tensor; by convention each operand moves at least once.
    return {std::max(g.a.elements * g.element * g.a.overfetch_request, g.a.unique),
            std::max(g.b.elements * g.element * g.b.overfetch_request, g.b.unique) + bias, output_bytes(layer)};
}

}  // namespace gambrel::delta_detail
