#include <algorithm>

#include "mapping/rules.hpp"

namespace gambrel {

Transform transform_of(const Layer& layer) {
    return mapping_detail::transform_of(layer, mapping_detail::parse_algorithm(layer.hints.algorithm));
}

Transform mapping_detail::transform_of(const Layer& layer, const AlgorithmName& asked) {
    const auto* v = std::get_if<Convolution>(&layer.op);
    if (!v || v->groups != 1) return Transform::none;
    const bool filters = layer.pass == Pass::wgrad;
    if (asked.fft) return filters ? Transform::none : fft_of(layer, asked);
    const bool square = v->r == v->s && (v->r == 3 || v->r == 5);
    if (!square) return Transform::none;
    if (v->stride_h != 1 || v->stride_w != 1 || v->dilation_h != 1 || v->dilation_w != 1) return Transform::none;
    const std::string_view kernel = layer.hints.kernel;
    if (!asked.says_winograd && !has_in_any_case(kernel, "winograd")) return Transform::none;
    if (asked.says_nonfused || has_in_any_case(kernel, "nonfused")) return Transform::winograd_separate;
    return v->r == 3 && !filters ? Transform::winograd_fused : Transform::none;
}

SeparateTiles separate_tiles(const Convolution& v) { return v.r == 3 ? SeparateTiles{4, 6} : SeparateTiles{9, 13}; }

namespace mapping_detail {

GemmView transformed_view(const Convolution& v, Pass pass, Transform transform) {
    if (transform == Transform::fft || transform == Transform::fft_tiled) return fft_view(v, pass, transform);
    const bool forward = pass == Pass::fwd;
    const std::int64_t rows = forward ? v.p() : v.h, columns = forward ? v.q() : v.w;
    GemmView view;
    view.n = forward ? v.k : v.c;
    view.k = forward ? v.c : v.k;
    if (transform == Transform::winograd_fused) {
        // 16 products for each of the 4 x 8 tiles of a block, which is 8 x 16 outputs of one image.
        view.m = v.n * ceil_div(rows, std::int64_t{8}) * ceil_div(columns, std::int64_t{16}) * 32 * 16;
        return view;
    }
    const SeparateTiles tiles = separate_tiles(v);
    view.batch = tiles.numbers();
    if (pass == Pass::wgrad) {
        // The taps are what a tile of outputs is to a forward pass: both have as many numbers. The sum is over tiles.
        view.m = v.k;
        view.n = v.c;
        view.k = v.n * ceil_div(v.p(), tiles.outputs) * ceil_div(v.q(), tiles.outputs);
        return view;
    }
    // Fewer images are filled up to 16: workspaces of cuDNN 7, and multiply-adds counted on A100.
    constexpr std::int64_t kImages = 16;
    view.m = std::max(v.n, kImages) * ceil_div(rows, tiles.outputs) * ceil_div(columns, tiles.outputs);
    return view;
}

Tile transformed_tile(const Layer& layer, Transform transform, const GemmView& view, const Architecture& architecture,
                      const FourierKernels& fourier) {
    if (transform == Transform::fft || transform == Transform::fft_tiled)
        return fft_tile(layer, transform, view, fourier);
    if (transform == Transform::winograd_fused) return {32 * 16, 32, 8};
    // By counts of cuDNN 8, which has a small tile for one filter or a few, and by times of cuDNN 7.
    if (architecture.matrix_gemm) return view.n < 8 ? Tile{32, 32, 8} : Tile{128, 128, 8};
    return architecture.product_launch > Seconds{} ? Tile{64, 64, 8} : Tile{128, 64, 8};
}

}  // namespace mapping_detail
}  // namespace gambrel
