// What the multiply-adds that a profiler counted tell of cuBLAS 11's kernels on CUDA cores: into how many parts k is
// split inside a kernel, without a reduction that a trace would show, and where no kernel is named, which tile it has.
#include <algorithm>
#include <cmath>
#include <span>

#include "mapping/rules.hpp"

namespace gambrel::mapping_detail {
namespace {

constexpr std::int64_t kMostInOrder = 64;
// All kernels of cuBLAS 11 with at most this many outputs are named sliced1x4.
constexpr std::int32_t kSlicedArea = 2048, kSlices = 4;

bool sliced(const Tile& tile) { return tile.m * tile.n <= kSlicedArea; }

double tiles_of(const GemmView& view, const Tile& tile) {
    return static_cast<double>(ceil_div(view.m, tile.m) * ceil_div(view.n, tile.n) * view.batch);
}

struct Explained {
    std::int64_t parts = 1;
    double miss = 0;  // of the count, as a share of it
};

// The number of parts that explains the count of multiply-adds best, the smallest of equals. A kernel that splits k
// does whole tiles of whole k-steps, and one for each output of a whole tile that a part adds to what it has read.
Explained explained_by(const Tile& tile, const GemmView& view, double fma, bool overwrites) {
    const double outputs = tiles_of(view, tile) * tile.m * tile.n;
    const auto unsplit = static_cast<double>(ceil_div(view.k, tile.k) * tile.k);
    Explained best;
    for (std::int64_t parts = 1; parts <= std::min(kMostInOrder, view.k); ++parts) {
        const std::int64_t part = ceil_div(view.k, parts), used = ceil_div(view.k, part);
        const double added = static_cast<double>(used - 1) + (overwrites ? 1 : 0);
        // More parts do not take fewer steps, and add more: none of them is nearer.
        if (parts > 1 && outputs * (unsplit + added) / fma - 1 >= best.miss) break;
        const std::int64_t last = view.k - (used - 1) * part;
        const std::int64_t k = ((used - 1) * ceil_div(part, tile.k) + ceil_div(last, tile.k)) * tile.k;
        const double miss = std::abs(outputs * (static_cast<double>(k) + added) / fma - 1);
        if (parts == 1 || miss < best.miss) best = {parts, miss};
    }
    return best;
}

// Of a call: without the kernel that adds the bias, one for each output.
double counted_in_product(const Layer& layer, const GemmView& view) {
    const auto outputs = static_cast<double>(view.m * view.n * view.batch);
    return layer.hints.fma - (layer.hints.bias_kernel == BiasKernel::adds ? outputs : 0);
}

bool reads_output(const Layer& layer) {
    return layer.hints.overwrites || layer.hints.bias_kernel == BiasKernel::copies;
}

// Place of a tile in the order in which cuBLAS prefers them, for so many waves of its largest tile and parts of k. As
// names of its kernels show: tiles with a side of 32, unless there is little work for all SMs, much of it, or a long
// way along k.
int place(const Tile& tile, double waves, double parts, double part) {
    const Calibration& fit = calibration();
    if (sliced(tile)) {
        const int small = tile.m * tile.n < kSlicedArea ? 1 : 0;
        return parts <= 2 && waves * parts < fit.sliced_waves ? small - 4 : small + 4;
    }
    if (std::min(tile.m, tile.n) <= 32) return 0;
    const bool square = tile.m == tile.n;
    if (waves >= fit.wide_waves) return square ? -1 : -2;
    return square ? (part >= fit.long_part ? -1 : 2) : 1;
}

const Tile* sliced_tile(std::span<const Tile> tiles, bool larger) {
    const Tile* found = nullptr;
    for (const Tile& tile : tiles)
        if (sliced(tile) && (!found || (tile.m * tile.n > found->m * found->n) == larger)) found = &tile;
    return found;
}

// Of those whose whole steps explain the count, the one that cuBLAS prefers; of equals that whose longer side lies
// along N.
const Tile* explaining_tile(const Layer& layer, const GemmView& view, const Target& gpu) {
    constexpr double kExact = 2e-5;
    const std::span<const Tile> tiles = gpu.architecture.gemm_tiles;
    const double counted = counted_in_product(layer, view), waves = tiles_of(view, tiles.front()) / gpu.sms;
    const Tile* best = nullptr;
    int least = 0;
    for (const Tile& tile : tiles) {
        const Explained by = explained_by(tile, view, counted, reads_output(layer));
        if (by.miss > kExact) continue;
        const auto parts = static_cast<double>(by.parts);
        const int order = place(tile, waves, parts, static_cast<double>(view.k) / parts);
        if (best && (order > least || (order == least && tile.n <= best->n))) continue;
        best = &tile, least = order;
    }
    return best;
}

}  // namespace

std::optional<KernelName> counted_kernel(const Layer& layer, const GemmView& view, const Target& gpu, Pipe pipe) {
    const bool unknown = layer.hints.kernel.empty() && layer.hints.tile_m <= 0 && layer.hints.split_k <= 0;
    if (!unknown || layer.hints.fma <= 0 || is_tensor(pipe) || !std::holds_alternative<Gemm>(layer.op)) return {};
    // Parts that another kernel adds up leave no trace in the count. By their names they are those of sliced kernels.
    const bool long_way = static_cast<double>(view.k) >= calibration().long_part;
    const Tile* tile = layer.hints.adds_up_parts ? sliced_tile(gpu.architecture.gemm_tiles, long_way)
                                                 : explaining_tile(layer, view, gpu);
    if (!tile) return {};
    KernelName name;
    name.tile = *tile;
    name.family = KernelName::Family::gemm;
    if (sliced(*tile)) name.slices = kSlices;
    return name;
}

std::int32_t slices_by_rule(const Mapping& m, const Layer& layer, const Target& gpu) {
    const bool by_cublas_11 = gpu.architecture.matrix_gemm.has_value();
    const bool product = std::holds_alternative<Gemm>(layer.op) && !is_tensor(m.pipe);
    return product && by_cublas_11 && sliced(m.cta) ? kSlices : 1;
}

void split_of_blas(Mapping& m, const Layer& layer, const GemmView& view, const KernelName& name) {
    if (is_tensor(m.pipe) || name.tile.m <= 0) return;
    // Parts are as long as k allows, but whole steps of all slices where warps share out a step.
    const std::int32_t grain = name.slices > 1 ? m.cta.k : 1;
    if (layer.hints.split_k > 1) {
        m.split_grain = grain;
        if (layer.hints.timing == Timing::kernel) m.sums = SplitSums::partial;
        return;
    }
    if (layer.hints.fma <= 0 || layer.hints.adds_up_parts) return;
    m.split_k = static_cast<std::int32_t>(
        explained_by(m.cta, view, counted_in_product(layer, view), reads_output(layer)).parts);
    if (m.split_k <= 1) return;
    m.split_grain = grain;
    m.sums = SplitSums::in_order;
}

}  // namespace gambrel::mapping_detail
