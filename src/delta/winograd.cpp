// Bytes of convolutions by transforms. By FFT: spectra of input, filters and products. Winograd's algorithm, fused: a
// CTA makes 8 x 16 outputs of one image for 32 filters; of every channel it loads a patch of 10 x 18 inputs and 16
// transformed elements of each filter. Separate: the transformed input and products lie in workspaces, for each tile of
// outputs as many numbers as it has inputs.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "delta/geometry.hpp"

namespace gambrel::delta_detail {
namespace {

struct Image {
    std::int64_t rows, columns, in_h, in_w, pad_h, pad_w;
};

// Rows of the input, or bytes of the sectors of one, that all blocks along one side load.
double patch_rows(const Image& i) {
    std::int64_t total = 0;
    for (std::int64_t y = -i.pad_h; y + i.pad_h < i.rows; y += 8)
        total += std::max<std::int64_t>(0, std::min(i.in_h, y + 10) - std::max<std::int64_t>(0, y));
    return static_cast<double>(total);
}
double patch_row_bytes(const Image& i, std::int64_t element) {
    const auto grain = static_cast<double>(std::gcd<std::int64_t>(32, i.in_w * element));
    double total = 0;
    for (std::int64_t x = -i.pad_w; x + i.pad_w < i.columns; x += 16) {
        const std::int64_t first = std::max<std::int64_t>(0, x), length = std::min(i.in_w, x + 18) - first;
        if (length <= 0) continue;
        const double offset = std::fmod(static_cast<double>(first * element), grain);
        total += sectors(static_cast<double>(length * element), grain, offset) * kSector;
    }
    return total;
}

// Of the 32 rows of a filter that is filled up with zeros only its own are transformed, and then all 17 columns. A row
// is of real numbers, and half of the work of a column.
double filter_work(const Convolution& v, const Spectra& s) {
    constexpr double kRows = 32, kColumns = 17;
    const bool two_sides = static_cast<double>(s.numbers) > kColumns;
    return two_sides ? (static_cast<double>(v.r) / 2 + kColumns) / (kRows / 2 + kColumns) : 1;
}

// Each spectrum is written by one kernel and read by the next; a transform of several passes writes and reads it again.
void fft_operands(const Layer& layer, const Mapping& m, const Grid& grid, Geometry& g) {
    const auto& v = std::get<Convolution>(layer.op);
    const Spectra s = spectra_of(v, m.transform);
    const OperandBytes once = compulsory_bytes(layer);
    const Bytes input = layer.pass == Pass::fwd ? once.input : once.output;
    const double of_one = 2 * g.element.value() * static_cast<double>(s.numbers);
    // Tiles of images that are taken in turn are products of their own, each of which asks for all filters.
    const auto turns = static_cast<double>(std::max<std::int64_t>(1, s.turns));
    const Bytes images{of_one * turns * g.m * g.k}, filters{of_one * g.n * g.k}, products{of_one * turns * g.m * g.n};
    g.a.elements = images / g.element * static_cast<double>(grid.columns);
    g.a.unique = images;
    g.transforms.turns = turns;
    g.b.elements = filters / g.element * turns * static_cast<double>(grid.rows);
    g.b.unique = filters;
    g.output = products / g.element;
    g.written = once.written;
    const double moved = 2 * s.passes - 1;
    g.transforms.dram = {input + moved * images, once.filter + moved * filters, moved * products + once.written};
    g.transforms.l1 = g.transforms.l2 = g.transforms.dram;
    // With 16 points a side a thread has a row of its own, so that each element that a warp loads lies in another
    // sector.
    constexpr std::int64_t kShort = 16 * (16 / 2 + 1);
    if (m.transform == Transform::fft && s.numbers <= kShort) {
        const double beside = kSector / g.element.value() - 1;
        g.transforms.l1.a += beside * input;
        g.transforms.l1.b += beside * once.filter;
    }
    g.transforms.handed_on = {images, filters, products};
    if (m.transform == Transform::fft_tiled) g.transforms.filter_work = filter_work(v, s);
}

}  // namespace

void transformed_operands(const Layer& layer, const Mapping& m, const Grid& grid, Geometry& g) {
    if (m.transform == Transform::fft || m.transform == Transform::fft_tiled) return fft_operands(layer, m, grid, g);
    const auto& v = std::get<Convolution>(layer.op);
    const bool forward = layer.pass == Pass::fwd;
    const SlidingWindow w = forward ? forward_window(v) : gradient_window(v);
    const OperandBytes once = compulsory_bytes(layer);
    const Bytes input = forward ? once.input : once.output, filter = once.filter;
    const double e = g.element.value(), rows = static_cast<double>(grid.rows),
                 columns = static_cast<double>(grid.columns);
    g.output = once.written / g.element;
    g.written = once.written;
    const auto give = [&](OperandAccess& o, double bytes, Bytes unique) {
        o.elements = bytes / e;
        o.unique = unique;
    };
    if (m.transform == Transform::winograd_fused) {
        const Image image{w.rows, w.columns, w.in_h, w.in_w, w.pad_h, w.pad_w};
        const double patches = patch_rows(image) * patch_row_bytes(image, static_cast<std::int64_t>(e));
        const Bytes transformed{16 * g.k * columns * m.cta.n * e};
        give(g.a, std::max(w.images * g.k * patches, 1.0) * columns, input);
        give(g.b, transformed.value() * rows, transformed);
        g.transforms.dram.b = filter + transformed;
        // By A100's counters the loads of that kernel ask for each filter nearly twice (34 of its 36 bytes once more).
        g.transforms.l1.b = 2 * filter + transformed;
        // A thread transforms a filter, tap by tap: the taps of a warp lie in the same sectors, which only L1 keeps
        // between one tap and the next.
        const Bytes filter_l2 = filter * (m.b.through_l1 ? 1.0 : static_cast<double>(v.r * v.s));
        g.transforms.l2.b = filter_l2 + transformed;
        g.transforms.handed_on = {transformed};
        return;
    }
    // The GEMMs multiply whole CTA tiles, but load and store only what there is.
    const SeparateTiles of = separate_tiles(v);
    const auto numbers = static_cast<double>(of.numbers());
    const Bytes tiles{numbers * g.m * g.k * e}, products{numbers * g.m * g.n * e}, transformed{numbers * g.n * g.k * e};
    give(g.a, tiles.value() * columns, tiles);
    give(g.b, transformed.value() * rows, transformed);
    // Tiles of inputs overlap by the filter's size less one; those of the outputs' gradient lie side by side.
    const double overlap = numbers / static_cast<double>(of.outputs * of.outputs);
    const bool gradient = layer.pass == Pass::wgrad;
    const Bytes first = gradient ? once.output : input * overlap, second = gradient ? once.input * overlap : filter;
    g.transforms.l1 = g.transforms.l2 = {first + tiles, second + transformed, products + once.written};
    g.transforms.dram = {gradient ? once.output : input, (gradient ? once.input : filter), products + once.written};
    g.transforms.dram.a += tiles;
    g.transforms.dram.b += transformed;
    g.transforms.handed_on = {tiles, transformed, products};
    g.output = products / g.element;
}

}  // namespace gambrel::delta_detail
