#include <algorithm>
#include <cmath>

#include "mapping/rules.hpp"

namespace gambrel::mapping_detail {
namespace {

// Multiply-adds of a GEMM's kernel if k is split into `parts`: whole tiles of whole k-steps, and one for each output of
// a whole tile that a part adds to what it has read.
double fma_of(const Mapping& m, const GemmView& view, std::int64_t parts, bool overwrites) {
    const std::int64_t part = ceil_div(view.k, parts), used = ceil_div(view.k, part);
    const std::int64_t last = view.k - (used - 1) * part;
    const std::int64_t k = ((used - 1) * ceil_div(part, m.cta.k) + ceil_div(last, m.cta.k)) * m.cta.k;
    const auto tiles = static_cast<double>(ceil_div(view.m, m.cta.m) * ceil_div(view.n, m.cta.n) * view.batch);
    const double added = static_cast<double>(used - 1) + (overwrites ? 1 : 0);
    return tiles * m.cta.m * m.cta.n * (static_cast<double>(k) + added);
}

}  // namespace

// cuBLAS 11 also splits k inside a kernel, without a reduction that a trace would show. The multiply-adds that a
// profiler counted tell into how many parts; the number that explains them best, the smallest of equals.
void split_of_blas(Mapping& m, const Layer& layer, const KernelName& name) {
    if (is_tensor(m.pipe) || name.tile.m <= 0) return;
    const GemmView view = *kernel_view(layer);
    // Parts are as long as k allows, but whole steps of all slices where warps share out a step.
    const std::int32_t grain = name.slices > 1 ? m.cta.k : 1;
    if (layer.hints.split_k > 1) {
        m.split_grain = grain;
        if (layer.hints.timing == Timing::kernel) m.sums = SplitSums::partial;
        return;
    }
    if (layer.hints.fma <= 0) return;
    constexpr std::int64_t kMostInOrder = 64;
    double best = 0;
    for (std::int64_t parts = 1; parts <= std::min(kMostInOrder, view.k); ++parts) {
        const double miss = std::abs(fma_of(m, view, parts, layer.hints.overwrites) / layer.hints.fma - 1);
        if (parts > 1 && miss >= best) continue;
        best = miss;
        m.split_k = static_cast<std::int32_t>(parts);
    }
    if (m.split_k <= 1) return;
    m.split_grain = grain;
    m.sums = SplitSums::in_order;
}

}  // namespace gambrel::mapping_detail
