#include "mapping/rules.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace gambrel::mapping_detail {
namespace {

// Convolutions on CUDA cores: the width that pads the fewest filters, the wider one where it ties. A width of 128 is
// taken only where a name says so. Some libraries leave launches that do not fill the SMs to the wider one.
Tile convolution_tile(const GemmView& view, const Target& gpu, bool one_of_groups) {
    const Architecture& a = gpu.architecture;
    const Tile &wide = a.convolution_tile, &narrow = a.narrow_convolution_tile;
    constexpr std::int64_t kFewFilters = 8;
    const auto padded = [&](const Tile& tile) { return ceil_div(view.n, tile.n) * tile.n; };
    const auto ctas = static_cast<double>(ceil_div(view.m, wide.m) * ceil_div(view.n, wide.n) * view.batch);
    const bool filled = ctas >= static_cast<double>(a.narrow_from_ctas_per_sm) * gpu.sms;
    return filled && !(one_of_groups && view.n < kFewFilters) && view.n <= a.narrow_up_to_filters &&
                   padded(narrow) < padded(wide)
               ? narrow
               : wide;
}

std::span<const Tile> tiles_on_cuda_cores(const Layer& layer, const Architecture& architecture) {
    const auto* gemm = std::get_if<Gemm>(&layer.op);
    const bool batched = gemm && gemm->batch > 1 && !architecture.batched_gemm_tiles.empty();
    return batched ? architecture.batched_gemm_tiles : architecture.gemm_tiles;
}

// CTAs of an SM that take as long as one alone, whose few warps leave issue slots free: see
// Calibration::issue_interval.
double alone_as(const Tile& tile, double macs) {
    constexpr double kLanes = 32;
    const double warps = threads_of_product(tile) / kLanes;
    return calibration().issue_interval / Cycles{1} * macs / (kLanes * warps);
}

// The tile with the least max(waves x area / reach, CTAs x (m + n) x element / L2 width), reach = area / (area + A).
Tile shortest_waves(const Layer& layer, const GemmView& view, const Target& gpu, Pipe pipe) {
    const MatrixUnits& matrix = matrix_of(gpu.architecture);
    const bool forward = std::holds_alternative<Convolution>(layer.op) && layer.pass == Pass::fwd;
    const bool own = forward && !matrix.convolution_tiles.empty();
    const std::span<const Tile> tiles = !is_tensor(pipe) ? tiles_on_cuda_cores(layer, gpu.architecture)
                                        : own            ? matrix.convolution_tiles
                                                         : matrix.tiles;
    const double width = l2_width(gpu), machine_sms = std::max(1.0, gpu.sms);
    const Arithmetic& a = gpu.machine.pipes[pipe];
    const double macs = a.dense ? a.dense->value.value() / 2 : 0;
    // MAC that an SM does while L2 gives an element.
    const double area_of_element = width > 0 ? macs * element_size(layer.precision).value() / width : 0;
    const bool product = std::holds_alternative<Gemm>(layer.op) && !is_tensor(pipe);
    Tile best = tiles.front();
    double best_time = 0;
    for (const Tile& tile : tiles) {
        const double ctas = static_cast<double>(ceil_div(view.m, tile.m) * ceil_div(view.n, tile.n) * view.batch);
        const double area = static_cast<double>(tile.m) * tile.n;
        const double reach = area / (area + calibration().tile_reach_area);
        const double together = std::ceil(ctas / machine_sms);
        const double waves = product ? std::max(together, alone_as(tile, macs)) : together;
        const double time = std::max(waves * area / reach, ctas * (tile.m + tile.n) * area_of_element);
        if (best_time == 0 || time < best_time) {
            best = tile;
            best_time = time;
        }
    }
    return best;
}

// Of products whose input has one scale (vLLM's, by CUTLASS); nullptr: another library's, or not known.
const ScaledKernel* scaled_kernel(const Layer& layer, const GemmView& view, const Architecture& architecture) {
    if (layer.hints.quantizes_input != InputScales::tensor || !architecture.matrix_gemm) return nullptr;
    for (const ScaledKernel& kernel : architecture.matrix_gemm->scaled_kernels)
        if (kernel.fits(view.m, view.n, view.k)) return &kernel;
    return nullptr;
}

}  // namespace

void tile_by_rule(Mapping& m, const Layer& layer, const GemmView& view, const Target& gpu, bool one_of_groups) {
    const bool by_matrix = is_tensor(m.pipe);
    if (std::holds_alternative<Convolution>(layer.op) && !by_matrix) {
        m.cta = layer.pass == Pass::wgrad ? gpu.architecture.filter_gradient_tile
                                          : convolution_tile(view, gpu, one_of_groups);
    } else if (!by_matrix || !gpu.architecture.matrix_gemm) {
        m.cta = shortest_waves(layer, view, gpu, m.pipe);
    } else if (const ScaledKernel* kernel = scaled_kernel(layer, view, gpu.architecture)) {
        m.cta = {kernel->tile.m, kernel->tile.n, 0};
        m.cluster = Cluster{kernel->cluster_m, kernel->cluster_n};
    } else {
        m.cta = fastest_matrix_tile(layer, view, gpu, m.pipe);
    }
}

std::int32_t split_by_rule(const Layer& layer, const GemmView& view, const Mapping& m, const Target& gpu,
                           KernelName::Family family) {
    const std::int64_t tiles = ceil_div(view.m, m.cta.m) * ceil_div(view.n, m.cta.n) * view.batch;
    const std::int64_t steps = ceil_div(view.k, m.cta.k);
    const std::int64_t longest_split = std::max<std::int64_t>(1, steps / 4);
    // cuBLAS splits where less than half of the SMs would have a CTA and each part still has a long way to go.
    const auto split_of_gemm = [&]() -> std::int32_t {
        const auto sms = static_cast<std::int64_t>(gpu.sms);
        if (layer.hints.adds_up_parts)  // two CTAs for an SM, of eight steps at the least
            return static_cast<std::int32_t>(
                std::clamp<std::int64_t>(2 * sms / tiles, 2, std::max<std::int64_t>(2, steps / 8)));
        if (2 * tiles > sms || m.cluster) return 1;
        const std::int64_t longest = view.k / static_cast<std::int64_t>(calibration().gemm_split_chunk);
        return static_cast<std::int32_t>(std::clamp<std::int64_t>(sms / tiles, 1, std::max<std::int64_t>(1, longest)));
    };
    if (m.transform != Transform::none && layer.pass == Pass::wgrad) return 1;
    if (const auto* v = std::get_if<Convolution>(&layer.op)) {
        if (layer.pass != Pass::wgrad && static_cast<double>(view.k) < calibration().convolution_split_from) return 1;
        if (layer.pass != Pass::wgrad) return split_of_gemm();
        if (family == KernelName::Family::engine)  // chunks of 512 pixels of one image, by the engine's last argument
            return m.split_chunk > 0 ? static_cast<std::int32_t>(v->n * ceil_div(v->p() * v->q(), m.split_chunk)) : 1;
        // How cuDNN 8 and later split it was not measured: as many CTAs as SMs, as their products have.
        if (is_tensor(m.pipe) && gpu.architecture.matrix_gemm) return split_of_gemm();
        if (is_tensor(m.pipe)) {
            // By the L1 bytes of V100, which give the number of parts exactly: two, and of a long reduction the nearest
            // power of two to as many CTAs of 128x128 as are wanted. A larger tile counts as one of these.
            const double area = std::min(1.0, m.cta.m * m.cta.n / (128.0 * 128.0));
            const double wanted = calibration().wgrad_matrix_ctas / (area * static_cast<double>(tiles));
            const bool long_way = static_cast<double>(view.k) >= calibration().convolution_split_from;
            const double parts = long_way ? std::exp2(std::max(1.0, std::round(std::log2(wanted)))) : 2;
            return static_cast<std::int32_t>(
                std::clamp<std::int64_t>(static_cast<std::int64_t>(parts), 1, longest_split));
        }
        const auto least = static_cast<std::int64_t>(calibration().wgrad_least_parts);
        const double ctas = calibration().wgrad_ctas_per_sm * gpu.sms;
        const auto wanted = static_cast<std::int64_t>(std::round(ctas / static_cast<double>(tiles)));
        return static_cast<std::int32_t>(std::clamp<std::int64_t>(std::max(least, wanted), 1, longest_split));
    }
    return split_of_gemm();
}

}  // namespace gambrel::mapping_detail

namespace gambrel {

using namespace mapping_detail;

std::span<const Tile> known_tiles(const Machine& machine, Pipe pipe) {
    const Architecture& a = architecture_of(machine);
    if (!is_tensor(pipe)) return a.gemm_tiles;
    return a.matrix ? std::span<const Tile>(a.matrix->tiles) : std::span<const Tile>{};
}

}  // namespace gambrel
