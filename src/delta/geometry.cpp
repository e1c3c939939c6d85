#include "delta/geometry.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/arithmetic.hpp"
#include "delta/levels.hpp"

namespace gambrel::delta_detail {
namespace {

// An operand as a matrix whose rows lie `pitch` elements apart and are `length` long: runs of a request, windows of a
// k-step or of a tile's side.
struct Matrix {
    double elements;  // asked for by all CTAs
    std::int64_t pitch, length;
    double window;       // contiguous elements that a CTA takes in one k-step
    double window_kept;  // and in all its steps
    // Where the contiguous index is split among CTAs: parts, and elements of each.
    std::int64_t parts = 1, part = 0;
};

double factor(double run, double element, const Matrix& x, std::int32_t alignment) {
    const double bytes = run * element;
    const auto e = static_cast<std::int64_t>(element);
    double grain = alignment;
    if (alignment <= 0) {
        const auto length = static_cast<std::int64_t>(run) * e;
        const std::int64_t starts = grain_of((x.pitch * e) | std::max<std::int64_t>(length, 1));
        grain = static_cast<double>(starts);
        // Then nothing is to be rounded up in sectors(), and parts of a split are alike.
        const bool alike = x.parts <= 1 || (x.part * e) % starts == 0;
        if (alike && static_cast<double>(length) == bytes) return (bytes + kSector - grain) / kSector * kSector / bytes;
    }
    grain = std::min(grain, kSector);
    double total = sectors(bytes, grain);
    if (alignment > 0 || x.parts <= 1) return total * kSector / bytes;
    // Parts of a split begin where they begin: one that starts inside a sector takes one more with every run.
    const std::int64_t parts = std::min<std::int64_t>(x.parts, 64);
    for (std::int64_t i = 1; i < parts; ++i)
        total += sectors(bytes, grain, remainder_of(static_cast<double>(i * x.part * e), grain));
    return total / static_cast<double>(parts) * kSector / bytes;
}

OperandAccess matrix_operand(const Matrix& x, const WarpLoad& load, double element) {
    OperandAccess o;
    o.elements = x.elements;
    const double run = std::max(1.0, std::min<double>(load.run(), x.window));
    const double step = std::max(run, x.window), kept = std::max(run, x.window_kept);
    o.overfetch_request = o.overfetch_step = factor(run, element, x, load.alignment);
    // Often a request takes all of a step, and a step all that a CTA takes of a row.
    if (step != run) o.overfetch_step = std::min(o.overfetch_request, factor(step, element, x, load.alignment));
    o.overfetch_cta = o.overfetch_step;
    if (kept != step || load.alignment > 0) o.overfetch_cta = std::min(o.overfetch_step, factor(kept, element, x, 0));
    return o;
}

struct Sizes {
    double rows, columns, k_step, tile_m, tile_n;
};

// Side or k-step as the window, by which of the two is contiguous.
Matrix matrix(double elements, std::int64_t pitch, std::int64_t length, bool k_major, double side, double k_step) {
    const auto whole = static_cast<double>(length);
    return {elements, pitch, length, std::min(whole, k_major ? k_step : side), k_major ? whole : std::min(whole, side)};
}

// X of a filter gradient: every (channel, tap) is a column whose pixels are the reduction.
OperandAccess wgrad_input(const SlidingWindow& w, const Mapping& m, double rows, double element) {
    const double pixels = w.images * static_cast<double>(w.rows * w.columns);
    const double reduction = w.channels * static_cast<double>(w.taps_h * w.taps_w);
    const double valid = valid_rows(w) * valid_columns(w);
    const double stride = static_cast<double>(w.stride_w), taps = static_cast<double>(w.taps_w);
    OperandAccess o;
    o.elements = pixels * reduction * rows * valid;
    const auto e = static_cast<std::int64_t>(element);
    const std::int64_t shift = w.taps_w > 1 ? w.dilation_w * e : 32;
    const double grain = m.b.alignment > 0
                             ? m.b.alignment
                             : static_cast<double>(std::gcd(std::gcd<std::int64_t>(32, w.in_w * e),
                                                            std::gcd<std::int64_t>(shift, w.stride_w * m.cta.k * e)));
    const auto bytes = [&](double pixels_in_a_row, double taps_together) {
        const double span =
            (pixels_in_a_row - 1) * stride + 1 + (taps_together - 1) * static_cast<double>(w.dilation_w);
        return sectors(std::min(span, static_cast<double>(w.in_w)) * element, grain) * kSector;
    };
    const double run = m.b.run(), step = m.cta.k;
    // The other threads of a request stand at further columns: taps of one row lie side by side, and a request that
    // begins anywhere among them meets (lanes + taps - 1) / taps rows.
    const double lanes = m.b.lanes, beside = lanes / ((lanes + taps - 1) / taps);
    // Images that are short enough lie in one line together.
    const Bytes image{static_cast<double>(w.in_h * w.in_w) * element / static_cast<double>(w.taps_h)};
    if (run <= 1) o.lines = std::min((lanes + taps - 1) / taps, lines_of_threads(image));
    const double apart = run <= 1 ? kSector / element : bytes(run, 1) / (run * element);
    o.overfetch_request = std::min(apart, bytes(run, beside) / (run * beside * element));
    const double alone = bytes(step, 1) / (step * element), together = bytes(step, taps) / (step * taps * element);
    o.overfetch_step = std::min({o.overfetch_request, alone, together});
    o.overfetch_cta = std::min(o.overfetch_step, std::max(stride / taps, 1.0 / taps));
    return o;
}

// Of the pixels that a tile asks for with all taps of a row, the share that differ. Channels lie side by side, so that
// a tap asks for the same channels of the next pixels.
double distinct_pixels(const SlidingWindow& w, double tile_m) {
    const double pixels = std::min(tile_m, static_cast<double>(w.columns)), taps = static_cast<double>(w.taps_w);
    const double span =
        (pixels - 1) * static_cast<double>(w.stride_w) + 1 + (taps - 1) * static_cast<double>(w.dilation_w);
    return std::min(1.0, span / (taps * pixels));
}

void convolution_operands(const Convolution& v, Pass pass, const Mapping& m, const Sizes& s, Geometry& g) {
    const bool nhwc = m.layout == Layout::nhwc;
    const double e = g.element.value();
    const SlidingWindow w = pass == Pass::dgrad ? gradient_window(v) : forward_window(v);
    const auto valid = [&] { return valid_rows(w) * valid_columns(w); };
    const std::int64_t channels = pass == Pass::dgrad ? v.k : v.c;  // of the tensor that is walked
    const double filter_rows = g.n * g.k * s.rows;
    if (pass == Pass::wgrad) {
        const double gradient = g.m * g.k * s.columns;
        if (nhwc) {
            g.a = matrix_operand(matrix(gradient, v.k, v.k / v.groups, false, s.tile_m, s.k_step), m.a, e);
            const double input = g.n * g.k * s.rows * valid();
            g.b = matrix_operand(matrix(input, v.c, v.c / v.groups, false, s.tile_n, s.k_step), m.b, e);
        } else {
            const std::int64_t image = v.p() * v.q();
            g.a = matrix_operand(matrix(gradient, image, image, true, s.tile_m, s.k_step), m.a, e);
            if (m.a.run() == 1) g.a.lines = lines_of_threads(static_cast<double>(image) * g.element);
            g.b = wgrad_input(w, m, s.rows, e);
            g.taps_h = static_cast<double>(v.r);
            if (v.r > 1)
                g.tap_distance = static_cast<double>(v.dilation_h * v.q()) / static_cast<double>(v.r * v.s) * g.element;
        }
        return;
    }
    if (nhwc) {
        const double asked = g.m * g.k * s.columns * valid();
        g.a = matrix_operand(matrix(asked, channels, channels / v.groups, true, s.tile_m, s.k_step), m.a, e);
        if (pass == Pass::fwd) g.a.overfetch_cta *= distinct_pixels(w, s.tile_m);
        const Bytes pixel = static_cast<double>(channels * (pass == Pass::fwd ? v.stride_w : 1)) * g.element;
        if (is_tensor(m.pipe) && m.a.k_major) g.a.pitch = pixel;
        if (m.pixels_apart()) g.a.lines = lines_of_threads(pixel);
    } else if (m.explicit_matrix) {
        const auto rows = static_cast<std::int64_t>(g.m);
        g.a = matrix_operand(matrix(g.m * g.k * s.columns, rows, rows, false, s.tile_m, s.k_step), m.a, e);
    } else {
        // A direct kernel's CTA has 1024 outputs that follow one another in memory, by the threads that were counted;
        // its loop over the channels finds in L1 the rest of a sector.
        const Tile lines{1024, 1, static_cast<std::int32_t>(kSector / e)};
        g.a = pixel_operand(w, m.a, is_direct(m) ? lines : m.cta, s.columns, e);
        if (is_direct(m) && v.groups == 1) g.image = Bytes{static_cast<double>(v.c * v.h * v.w + v.p() * v.q()) * e};
    }
    const bool filter_along_k = m.b.k_major;
    const std::int64_t pitch = filter_along_k ? (v.c / v.groups) * v.r * v.s : v.c / v.groups;
    g.b = matrix_operand(matrix(filter_rows, pitch, pitch, filter_along_k, s.tile_n, s.k_step), m.b, e);
}

// The kernel that writes the input out as a matrix: 32 threads take one tap of neighbouring pixels. Taps that overlap
// meet in L1.
void add_matrix_writer(const Layer& layer, Bytes input, Geometry& g) {
    const WarpLoad side_by_side{.lanes = 32};
    const OperandAccess taken =
        pixel_operand(forward_window(std::get<Convolution>(layer.op)), side_by_side, {32, 1, 1}, 1, g.element.value());
    const Bytes matrix = g.a.unique;
    g.transforms.l1.a = taken.elements * g.batch * taken.overfetch_request * g.element + matrix;
    g.transforms.l2.a = g.transforms.dram.a = input + matrix;
    g.transforms.handed_on[0] = matrix;
}

// Beside a product: every output is read with its bias and written again, or the bias is written to every output.
void add_bias_kernel(BiasKernel kernel, Geometry& g) {
    if (kernel == BiasKernel::none) return;
    const Bytes output = g.output * g.stored;
    const bool adds = kernel == BiasKernel::adds;
    g.transforms.l1.c = (adds ? 3 : 2) * output;
    g.transforms.l2.c = g.transforms.dram.c = (adds ? 2 : 1) * output;
    g.transforms.handed_on[2] = g.written = output;
    if (!adds) return;
    g.rewritten += output;
    g.read_back += output;
}

// A warp stores runs of neighbours. Where a row of the output does not begin with a sector, a run ends inside one,
// which the next run completes.
Bytes stored_in_part(const Layer& layer, const Mapping& m, const GemmView& view, const Geometry& g) {
    if (is_tensor(m.pipe) || m.split_k > 1 || layer.pass == Pass::wgrad) return {};
    const auto* v = std::get_if<Convolution>(&layer.op);
    const std::int64_t pixels = !v ? 1 : layer.pass == Pass::fwd ? v->p() * v->q() : v->h * v->w;
    const std::int64_t row = v && m.layout == Layout::nchw ? pixels : view.n;
    const double run = m.store_run * g.stored.value();
    const double grain = static_cast<double>(grain_of(row * static_cast<std::int64_t>(g.stored.value())));
    return g.output * g.stored * (1 - grain / kSector) * std::min(1.0, kSector / run);
}

void gemm_operands(const Mapping& m, const Sizes& s, Geometry& g) {
    const double a = g.m * g.k * s.columns, b = g.n * g.k * s.rows;
    const auto side = [](double x) { return static_cast<std::int64_t>(x); };
    const std::int64_t a_pitch = m.a.k_major ? side(g.k) : side(g.m), b_pitch = m.b.k_major ? side(g.k) : side(g.n);
    const auto parted = [&](Matrix x, bool k_major) {
        if (!k_major || m.split_k <= 1 || m.split_grain <= 0) return x;
        x.parts = m.split_k;
        x.part = ceil_div(ceil_div(side(g.k), m.split_grain), std::int64_t{m.split_k}) * m.split_grain;
        x.window_kept = std::min(x.window_kept, static_cast<double>(x.part));
        return x;
    };
    const double e = g.element.value();
    g.a = matrix_operand(parted(matrix(a, a_pitch, a_pitch, m.a.k_major, s.tile_m, s.k_step), m.a.k_major), m.a, e);
    g.b = matrix_operand(parted(matrix(b, b_pitch, b_pitch, m.b.k_major, s.tile_n, s.k_step), m.b.k_major), m.b, e);
    if (is_tensor(m.pipe)) return;
    if (m.a.k_major) g.a.pitch = g.k * g.element;
    if (m.b.k_major) g.b.pitch = g.k * g.element;
}

}  // namespace

Geometry geometry(const Layer& layer, const GemmView& view, const Mapping& m, const Grid& grid) {
    Geometry g;
    g.m = static_cast<double>(view.m);
    g.n = static_cast<double>(view.n);
    g.k = static_cast<double>(view.k);
    g.batch = static_cast<double>(view.batch);
    g.element = element_size(layer.precision);
    g.stored = result_element_size(layer);
    g.output_element = m.split_k > 1 ? Bytes{4} : g.stored;
    const double in_a_column = static_cast<double>(m.transposed_view ? grid.columns : grid.rows);
    g.unique_bias = static_cast<double>(bias_elements(layer)) * bias_element_size(layer.precision);
    if (layer.bias) g.bias = g.n * g.batch * in_a_column * bias_element_size(layer.precision);
    const Sizes sizes{static_cast<double>(grid.rows), static_cast<double>(grid.columns), static_cast<double>(m.cta.k),
                      static_cast<double>(m.cta.m), static_cast<double>(m.cta.n)};
    if (m.transform != Transform::none) {
        transformed_operands(layer, m, grid, g);
        return g;
    }
    const OperandBytes once = compulsory_bytes(layer);
    const double computed = g.m * g.n * g.batch;
    // The gradient of an input that a strided layer reads in part is written whole, by this kernel or another one.
    g.output = m.leaves_zeros ? computed : std::max(computed, once.written / g.stored);
    if (const auto* v = std::get_if<Convolution>(&layer.op))
        convolution_operands(*v, layer.pass, m, sizes, g);
    else
        gemm_operands(m, sizes, g);
    if (const auto* v = std::get_if<Convolution>(&layer.op)) g.taps = static_cast<double>(v->r * v->s);
    const OutputTraffic moved = output_traffic(g, m);
    g.rewritten = moved.rewritten;
    g.read_back = moved.read;
    if (m.overwrites) g.read_once = g.output * g.stored;
    g.stored_in_part = stored_in_part(layer, m, view, g);
    g.a.elements *= g.batch;
    g.b.elements *= g.batch;
    // One sector for each k of 32 pixels.
    if (m.loads_offsets) g.offsets = Bytes{g.m / 32 * g.k * sizes.columns * g.batch * kSector};
    g.a.unique = layer.pass == Pass::fwd ? once.input : once.output;
    if (m.explicit_matrix) g.a.unique = g.m * g.k * g.batch * g.element;
    g.b.unique = layer.pass == Pass::wgrad ? once.input : once.filter;
    if (m.writes_matrix) add_matrix_writer(layer, once.input, g);
    add_bias_kernel(m.bias_kernel, g);
    if (m.transposes) {
        const auto& v = std::get<Convolution>(layer.op);
        const Bytes input = static_cast<double>(v.n * v.c * v.h * v.w) * g.element;
        const Bytes output = static_cast<double>(v.n * v.k * v.p() * v.q()) * g.element;
        g.transforms.dram = {2 * (layer.pass == Pass::fwd ? input : output), {}, 2 * once.written};
        if (layer.pass == Pass::wgrad) g.transforms.dram.b = 2 * input;
        g.transforms.l1 = g.transforms.l2 = g.transforms.dram;
    }
    // Where a strided layer skips columns, their sectors come along.
    if (const auto* v = std::get_if<Convolution>(&layer.op);
        v && layer.pass != Pass::dgrad && m.layout == Layout::nchw) {
        const double touched =
            static_cast<double>(v->w) / static_cast<double>(std::max<std::int64_t>(1, v->columns_read()));
        (layer.pass == Pass::fwd ? g.a : g.b).unique *= std::min(touched, kSector / g.element.value());
        if (layer.pass == Pass::fwd && v->r < v->stride_h && v->dilation_h == 1) {
            const Bytes row = static_cast<double>(v->w) * g.element;
            g.a.run = static_cast<double>(v->r) * row;
            g.a.run_pitch = static_cast<double>(v->stride_h) * row;
        }
    }
    return g;
}

}  // namespace gambrel::delta_detail
