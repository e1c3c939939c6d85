// Convolutions by Fourier transforms, as workspaces of cuDNN 7 and counters of cuDNN 8 show them.
#include <algorithm>
#include <bit>
#include <cmath>

#include "mapping/rules.hpp"

namespace gambrel {
namespace {

constexpr std::int64_t kTile = 32, kLeastSide = 16, kLargestSide = 256;
constexpr std::int64_t kComplex = 8;
// Spectra of more than this were refused by cuDNN 8, and another algorithm ran in half of the calls.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 32;

std::int64_t padded_height(const Convolution& v) { return v.h + v.pad_top + v.pad_bottom; }
std::int64_t padded_width(const Convolution& v) { return v.w + v.pad_left + v.pad_right; }
std::int64_t half_plane(std::int64_t side) { return side * (side / 2 + 1); }

// A profiler counted the multiply-adds of whole tiles of an engine, and not those of spectra.
bool counted_as_engine(const Layer& layer) {
    const auto& v = std::get<Convolution>(layer.op);
    constexpr std::int64_t kSide = 32, kStep = 8;
    constexpr double kCounted = 0.004;
    const auto whole = [](std::int64_t size, std::int64_t side) {
        return static_cast<double>(ceil_div(size, side) * side);
    };
    const double engine = whole(v.n * v.p() * v.q(), kSide) * whole(v.k, kSide) * whole(v.c * v.r * v.s, kStep);
    return layer.hints.fma > 0 && std::abs(layer.hints.fma / engine - 1) < kCounted;
}

}  // namespace

Spectra spectra_of(const Convolution& v, Transform transform) {
    Spectra s;
    const std::int64_t height = padded_height(v), width = padded_width(v);
    if (transform == Transform::fft) {
        const auto least = static_cast<std::uint64_t>(std::max({height, width, kLeastSide}));
        const auto side = static_cast<std::int64_t>(std::bit_ceil(least));
        s.numbers = half_plane(side);
        s.passes = side <= kTile ? 1 : side <= 2 * kTile ? 2 : 3;
        return s;
    }
    const auto along = [](std::int64_t size, std::int64_t filter) {
        return ceil_div(size - filter + 1, kTile - filter + 1);
    };
    if (std::min(v.r, v.s) == 1 && v.stride_h == 1 && v.stride_w == 1) {
        s.numbers = kTile / 2 + 1;  // rows, or columns, by themselves
        s.tiles = v.r == 1 ? height * along(width, v.s) : width * along(height, v.r);
        return s;
    }
    // Outputs of stride 1; the others are left out at the end.
    s.numbers = half_plane(kTile);
    s.tiles = along(height, v.r) * along(width, v.s);
    s.turns = s.tiles;
    return s;
}

Layer one_group(const Layer& layer) {
    Layer one = layer;
    auto& v = std::get<Convolution>(one.op);
    v.c /= v.groups;
    v.k /= v.groups;
    v.groups = 1;
    return one;
}

namespace mapping_detail {

Transform fft_of(const Layer& layer, const AlgorithmName& asked) {
    const auto& v = std::get<Convolution>(layer.op);
    const Transform kind = asked.tiling ? Transform::fft_tiled : Transform::fft;
    const std::int64_t largest = std::max(padded_height(v), padded_width(v));
    if (v.dilation_h != 1 || v.dilation_w != 1 || std::max(v.r, v.s) > kTile) return Transform::none;
    if (kind == Transform::fft && largest > kLargestSide) return Transform::none;
    if (layer.pass == Pass::fwd && counted_as_engine(layer)) return Transform::none;
    const Spectra s = spectra_of(v, kind);
    const double images = static_cast<double>(v.n * s.tiles), filters = static_cast<double>(v.k),
                 channels = static_cast<double>(v.c);
    const double numbers =
        static_cast<double>(s.numbers * kComplex) * (images * channels + filters * channels + images * filters);
    if (kind == Transform::fft_tiled || numbers <= static_cast<double>(kMostBytes)) return kind;
    // Where multiply-adds were counted, they show which of the two ran: tiles of an implicit GEMM pad them by
    // a third at most, spectra of small filters have three times as many.
    constexpr double kPadded = 2;
    return layer.hints.fma > kPadded * flop(layer).value() / 2 ? kind : Transform::none;
}

// A complex multiplication takes three real ones. Tiles of images that are taken in turn are products of their own.
GemmView fft_view(const Convolution& v, Pass pass, Transform transform) {
    const Spectra s = spectra_of(v, transform);
    GemmView view;
    view.m = v.n * s.tiles / std::max<std::int64_t>(1, s.turns);
    view.n = pass == Pass::fwd ? v.k : v.c;
    view.k = pass == Pass::fwd ? v.c : v.k;
    view.batch = 3 * s.numbers * std::max<std::int64_t>(1, s.turns);
    return view;
}

namespace {

// Multiply-adds of both few images and few filters are not those of padded tiles.
Tile rule_tile(const GemmView& view) {
    if (std::max(view.m, view.n) > 32) return {view.m <= 32 ? 32 : 64, view.n <= 32 ? 32 : 64, 8};
    const auto side = [](std::int64_t size) {
        return static_cast<std::int32_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(size, 4))));
    };
    return {side(view.m), side(view.n), 8};
}

constexpr std::int32_t kLong = 64, kShort = 32, kLeast = 4, kStep = 8;

bool is_vector(const GemmView& view, const FourierKernels& kernels) {
    return kernels.single_image_is_vector && std::min(view.m, view.n) == 1;
}
// Products that fill less than a tile of 32 x 32.
bool is_small(const GemmView& view) {
    return std::max(view.m, view.n) <= kShort && view.m * view.n < std::int64_t{kShort} * kShort;
}

// Products of FFT_TILING by cuDNN 7 from Maxwell on: 64 x 32, the longer side along the filters where up to 32 images
// would leave half of it empty. Rows or columns by themselves have one tile whatever their number. From 128 tiles of
// 64 x 64 on Turing, and more rows by themselves than two of them elsewhere, these run.
Tile tile_of_tiles(const Layer& layer, const GemmView& view, const FourierKernels& kernels) {
    constexpr std::int64_t kSquareFromRows = 129, kSquareFromTiles = 128;
    const bool single = spectra_of(std::get<Convolution>(layer.op), Transform::fft_tiled).numbers < kTile;
    const Tile& few = kernels.few_images;
    if (is_vector(view, kernels)) return view.m == 1 ? Tile{kLeast, kLong, kStep} : Tile{kLong, kLeast, kStep};
    if (is_small(view)) return few;
    const bool turing = few.m <= kShort;
    const bool square =
        turing ? ceil_div(view.m, std::int64_t{kLong}) * ceil_div(view.n, std::int64_t{kLong}) >= kSquareFromTiles
               : single && view.m >= kSquareFromRows;
    if (square) return {kLong, kLong, kStep};
    const std::int32_t rows = single ? few.m : view.m <= kShort ? kShort : kLong;
    return {rows, rows == kLong || view.n <= kShort ? kShort : kLong, kStep};
}

}  // namespace

std::int64_t least_channels(const Layer& layer, Transform transform, const GemmView& view,
                            const FourierKernels& kernels) {
    constexpr std::int64_t kChannels = 32;
    if (transform != Transform::fft && transform != Transform::fft_tiled) return 0;
    const bool whole = transform == Transform::fft, known = kernels.few_images.m > 0;
    if (is_vector(view, kernels)) return 0;
    const bool many = whole && std::get<Convolution>(layer.op).n >= kShort && kernels.few_images.m == kLong;
    const bool few = !whole && known && is_small(view);
    const bool always = !whole && kernels.tiled.m > 0 && view.batch > 3 * kTile;  // not rows by themselves
    return many || few || always ? kChannels : 0;
}

Tile fft_tile(const Layer& layer, Transform transform, const GemmView& view, const FourierKernels& kernels) {
    constexpr std::int64_t kFewFilters = 32;
    constexpr std::int32_t kNarrow = 16;
    const std::int64_t images = std::get<Convolution>(layer.op).n;
    Tile tile = rule_tile(view);
    if (transform == Transform::fft_tiled) {
        if (kernels.tiled.m > 0) return kernels.tiled;
        if (kernels.few_images.m > 0) return tile_of_tiles(layer, view, kernels);
        if (kernels.slots_of_four == 0) return tile;
        return {view.m <= kNarrow ? kNarrow : view.m <= kShort ? kShort : kLong, kLong, kStep};
    }
    if (kernels.single_image_is_vector && images == 1) return {kLeast, kLong, kStep};
    if (multiplies_few_images(layer, transform, kernels) && view.n >= kFewFilters) return kernels.few_images;
    if (least_channels(layer, transform, view, kernels) > view.k) return {kLong, kLong, kStep};
    if (images >= kernels.wide_from_images) tile.m = kLong;
    return tile;
}

bool multiplies_few_images(const Layer& layer, Transform transform, const FourierKernels& kernels) {
    constexpr std::int64_t kFew = 32, kShared = 8;
    if (transform != Transform::fft || kernels.few_images.m == 0) return false;
    const auto& v = std::get<Convolution>(layer.op);
    if (kernels.single_image_is_vector && v.n == 1) return false;
    const bool is_long = spectra_of(v, transform).passes > 1;
    return v.n < (is_long ? kShared : kFew);
}

// All of cuDNN's algorithms but the one that needs nothing around its kernel, and that one too with filters of 1x1.
bool takes_groups_in_turn(const Layer& layer, const AlgorithmName& asked) {
    if (!layer.hints.kernel.empty()) return false;
    const auto* v = std::get_if<Convolution>(&layer.op);
    if (v && asked.implicit_gemm) return v->groups > 1 && v->r == 1 && v->s == 1 && !v->depthwise();
    return asked.precomputed || asked.fft || asked.winograd || (v && asked.written_out);
}

std::int32_t launches_of(const Layer& layer, const AlgorithmName& asked, Transform transform, bool cudnn7) {
    // Two transforms of input and filters, the products, the transform back, and what reorders spectra in between. Of
    // tiles that are taken in turn, each has four of these, and the filters once for all have four. Those of cuDNN 7 by
    // what groups of small images take beside V100.
    constexpr std::int64_t kOfTurn = 4, kOfFilters = 4;
    const std::int32_t of_fft = cudnn7 ? 5 : 7, of_nonfused = cudnn7 ? 3 : 4;
    if (asked.fft) {
        if (transform == Transform::none) return 1;
        if (transform != Transform::fft_tiled) return of_fft;
        const std::int64_t turns =
            std::max<std::int64_t>(1, spectra_of(std::get<Convolution>(layer.op), transform).turns);
        return static_cast<std::int32_t>(std::min<std::int64_t>(kOfTurn * turns + kOfFilters, 1 << 20));
    }
    return asked.nonfused ? of_nonfused : 2;
}

}  // namespace mapping_detail
}  // namespace gambrel
