#include <algorithm>

#include "delta/levels.hpp"

namespace gambrel::delta_detail {

OutputTraffic output_traffic(const Geometry& g, const Mapping& m) {
    const Bytes once = g.output * g.output_element;
    // A store takes whole sectors, however few of their bytes it writes.
    const double sector = kSector / std::min(kSector, m.store_run * g.output_element.value());
    const Bytes read = m.overwrites ? g.output * g.stored : Bytes{};
    OutputTraffic t;
    if (m.split_k <= 1) {
        // Of stores that fill a sector piece by piece all but the first find it.
        (m.overwrites || sector > 1 ? t.rewritten : t.fresh) = once * sector;
        t.read = read;
        return t;
    }
    const double others = m.split_k - 1;
    switch (m.sums) {
        case SplitSums::atomics:
            t.fresh = once * sector;
            t.rewritten = once * sector * others;
            return t;
        case SplitSums::workspace:  // all partial sums but the last are written and read, and the result written
            t.fresh = g.output * (Bytes{4 * others} + g.stored);
            t.read = g.output * Bytes{4 * others} + read;
            return t;
        case SplitSums::partial:
            t.fresh = once * m.split_k;
            return t;
        case SplitSums::in_order:
            break;
    }
    (m.overwrites ? t.rewritten : t.fresh) = once;
    t.rewritten += once * others;
    t.read = once * others + read;
    return t;
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
    return {std::max(g.a.elements * g.element * g.a.overfetch_request, g.a.unique) + g.offsets,
            std::max(g.b.elements * g.element * g.b.overfetch_request, g.b.unique) + bias,
            output_traffic(g, m).total()};
}

}  // namespace gambrel::delta_detail
