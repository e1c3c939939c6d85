// cuDNN's older engines: which algorithms they run, and by which tile.
#include <cmath>

#include "mapping/rules.hpp"

namespace gambrel::mapping_detail {

const EngineChoice* engine_for(const AskedEngine& asked, const GemmView& view, const Architecture& architecture,
                               const Mapping& mapping) {
    const Layer& layer = asked.layer;
    const AlgorithmName& algorithm = asked.algorithm;
    const EngineKernels& engines = architecture.engines;
    const auto* v = std::get_if<Convolution>(&layer.op);
    if (!v || !layer.hints.kernel.empty() || layer.hints.tile_m > 0) return nullptr;
    const EngineChoice& implicit = engines.implicit;
    if (algorithm.implicit_gemm) return &implicit;
    // Where a Fourier transform is refused, the algorithm runs that needs no workspace.
    if (algorithm.fft && layer.pass == Pass::fwd && layer.precision == Precision::fp32 &&
        mapping.transform == Transform::none)
        return &implicit;
    if (algorithm.written_out && layer.pass == Pass::fwd) return &engines.written_out;
    // FP16 that no Tensor Core takes.
    const bool narrow =
        layer.precision == Precision::fp16 && !is_tensor(mapping.pipe) && architecture.matrix.has_value();
    if (narrow && algorithm.precomputed && layer.pass == Pass::fwd) return &implicit;
    const bool precomputed = algorithm.precomputed && layer.pass == Pass::fwd && layer.precision == Precision::fp32;
    const EngineChoice& choice = engines.precomputed;
    if (!precomputed) return nullptr;
    // Of cuDNN 7 both algorithms take the same time for all layers of one group on Kepler, and for dilated filters
    // everywhere; on Kepler for groups in turn, too.
    const bool dilated = v->dilation_h > 1 || v->dilation_w > 1;
    const bool only = architecture.engines_only || dilated;
    if (choice.narrow.m == 0) return only ? &implicit : nullptr;
    const Tile& tile = architecture.convolution_tile;
    const std::int64_t ctas = ceil_div(view.m, tile.m) * ceil_div(view.n, tile.n) * view.batch;
    const bool tiled =
        choice.tiled_from_images > 0 && v->n >= choice.tiled_from_images && ctas >= choice.tiled_from_ctas;
    return tiled ? nullptr : &choice;
}

namespace {

// Multiply-adds of whole tiles and whole k-steps, as a profiler counts them.
double fma_of(const Tile& tile, const GemmView& view) {
    const auto padded = [](std::int64_t size, std::int64_t side) {
        return static_cast<double>(ceil_div(size, side) * side);
    };
    return padded(view.m, tile.m) * padded(view.n, tile.n) * padded(view.k, tile.k) * static_cast<double>(view.batch);
}
bool explains(const Tile& tile, const GemmView& view, double fma) {
    constexpr double kCounted = 0.004;
    return std::abs(fma_of(tile, view) / fma - 1) < kCounted;
}

}  // namespace

// FP16 tensors of which a row says nothing are as kernels on Tensor Cores read them.
Layout layout_of_engine(const Layer& layer, const Architecture& architecture) {
    const bool half = layer.precision == Precision::fp16 && architecture.engines.half_wide.m > 0;
    return half && layer.hints.any_layout ? Layout::nhwc : layer.layout;
}

// By the row's count of multiply-adds where it tells the two apart, else by size.
Tile engine_tile(const EngineChoice& choice, const GemmView& view, const Layer& layer, const Target& gpu) {
    const EngineKernels& engines = gpu.architecture.engines;
    if (&choice == &engines.implicit && layer.precision == Precision::fp16 && engines.half_wide.m > 0) {
        const bool asked = parse_algorithm(layer.hints.algorithm).implicit_gemm;
        if (asked && layout_of_engine(layer, gpu.architecture) == Layout::nchw) return engines.half_sums;
        if (view.n >= engines.half_wide_from_filters) return engines.half_wide;
    }
    const double fma = layer.hints.fma;
    if (fma > 0) {
        const bool narrow = explains(choice.narrow, view, fma), wide = explains(choice.wide, view, fma);
        if (narrow != wide) return wide ? choice.wide : choice.narrow;
    }
    const std::int64_t ctas = ceil_div(view.m, choice.wide.m) * ceil_div(view.n, choice.wide.n) * view.batch;
    const bool fills = gpu.architecture.engines_fill_sms && layer.precision == Precision::fp32;
    const bool filled = !fills || static_cast<double>(ctas) >= 2 * gpu.sms;
    const bool wide = filled && view.n >= choice.from_filters && view.k >= choice.from_k && ctas >= choice.from_ctas;
    return wide ? choice.wide : choice.narrow;
}

// Seen up to Turing; what cuDNN 8 takes on Ampere and later is not known.
bool gradient_by_engine(const Layer& layer, Pipe pipe, const Architecture& architecture) {
    const auto* v = std::get_if<Convolution>(&layer.op);
    if (!v || is_tensor(pipe) || architecture.matrix_gemm) return false;
    if (!layer.hints.kernel.empty() || layer.hints.tile_m > 0) return false;
    // Of an image's own few channels, which no training asks for, the kernel is not known.
    constexpr std::int64_t kFewChannels = 16;
    const bool strided = (v->stride_h > 1 || v->stride_w > 1) && v->c / v->groups >= kFewChannels;
    return layer.pass == Pass::wgrad || (layer.pass == Pass::dgrad && strided);
}

// By the names wgrad_alg0_engine and dgrad_engine<float, 128, 6, 7, ...> in DeepCAM.
Tile gradient_engine_tile(const Convolution& v, Pass pass) {
    if (pass == Pass::dgrad) return {64, 128, 8};
    const std::int64_t filters = v.k / v.groups;
    return {64, filters <= 64 ? 32 : filters <= 128 ? 128 : 256, 8};
}

// More multiply-adds than whole tiles explain are those of borders that were computed apart. A side counts where some
// output has a tap beyond it.
std::int32_t borders_apart(const Convolution& v, const EngineChoice& choice, const GemmView& view, double fma) {
    constexpr double kMost = 1.25;
    if (fma <= 0 || explains(choice.narrow, view, fma) || explains(choice.wide, view, fma)) return 0;
    if (fma < fma_of(choice.narrow, view) || fma > kMost * fma_of(choice.wide, view)) return 0;
    const std::int64_t bottom = (v.p() - 1) * v.stride_h + (v.r - 1) * v.dilation_h + 1 - v.pad_top - v.h;
    const std::int64_t right = (v.q() - 1) * v.stride_w + (v.s - 1) * v.dilation_w + 1 - v.pad_left - v.w;
    return (v.pad_top > 0) + (v.pad_left > 0) + (bottom > 0) + (right > 0);
}

}  // namespace gambrel::mapping_detail
