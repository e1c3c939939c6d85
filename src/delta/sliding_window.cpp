#include <algorithm>
#include <cmath>
#include <numeric>

#include "delta/geometry.hpp"

namespace gambrel::delta_detail {
namespace {

double valid(std::int64_t out, std::int64_t in, std::int64_t taps, std::int64_t stride, std::int64_t dilation,
             std::int64_t pad) {
    if (pad == 0 && (out - 1) * stride + (taps - 1) * dilation < in) return 1;
    std::int64_t count = 0;
    for (std::int64_t t = 0; t < taps; ++t) {
        const std::int64_t offset = t * dilation - pad;
        const std::int64_t first = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
        const std::int64_t last = in - 1 - offset < 0 ? -1 : std::min(out - 1, (in - 1 - offset) / stride);
        count += std::max<std::int64_t>(0, last - first + 1);
    }
    return static_cast<double>(count) / static_cast<double>(taps * out);
}

// Pieces that `length` consecutive pixels fall into, on average, in rows of `row`.
double pieces(double length, std::int64_t row) {
    const auto whole = static_cast<std::int64_t>(length);
    if (row % whole == 0) return 1;
    if (whole % row == 0) return length / static_cast<double>(row);
    return 1 + (length - static_cast<double>(std::gcd(whole, row))) / static_cast<double>(row);
}

// A block of the matrix that is loaded together: pixels side by side, and taps of one channel.
struct Block {
    double length, taps_w, taps_h;
};

// Rows with less than a sector between them are one run of memory, an image long: with stride 1 whatever the padding,
// as pixels that fall into it leave holes; with a stride where the rows of taps fill what it skips.
bool joined(const SlidingWindow& w, const Block& block, double element) {
    const auto pitch = static_cast<double>(w.in_w), stride = static_cast<double>(w.stride_w);
    const bool rows = block.length >= static_cast<double>(w.columns);
    const double filled = rows ? (block.taps_h - 1) * static_cast<double>(w.dilation_h) * pitch : 0;
    const double gap = static_cast<double>(w.stride_h) * pitch - static_cast<double>(w.columns) * stride;
    const std::int64_t reach = (w.taps_w - 1) * w.dilation_w - w.pad_w;
    // A single tap's hole is as wide as it stands outside; others of its row fill it.
    const double hole = block.taps_w > 1 ? 0 : static_cast<double>(std::max(w.pad_w, reach));
    return (gap + stride - 1 - filled) * element < kSector && hole * element < kSector;
}

// Distinct input rows over rows x taps, where taps of neighbouring output rows meet.
double row_overlap(double rows, double taps, const SlidingWindow& w) {
    const auto sh = static_cast<double>(w.stride_h), dh = static_cast<double>(w.dilation_h);
    const double all = rows * taps;
    double distinct = all;
    if (w.dilation_h % w.stride_h == 0)
        distinct = all - (taps - 1) * std::max(0.0, rows - dh / sh);
    else if (w.stride_h % w.dilation_h == 0)
        distinct = all - (rows - 1) * std::max(0.0, taps - sh / dh);
    return distinct / all;
}

// The bytes that the starts of a block's runs are multiples of, up to 32.
std::int64_t grain(const SlidingWindow& w, const Block& block, std::int64_t row, double element) {
    const auto e = static_cast<std::int64_t>(element);
    const bool linear = w.taps_h == 1 && w.stride_h == 1 && w.stride_w == 1 && w.columns == w.in_w;
    // A power of two divides several numbers where it divides their bits together.
    const std::int64_t run = grain_of(static_cast<std::int64_t>(block.length) | row) * w.stride_w * e;
    return grain_of((w.in_h * w.in_w * e) | (linear ? 0 : w.in_w * e) | run);
}

// Bytes of sectors that a block touches, over those that it asks for, without its padding.
double touched(const SlidingWindow& w, const Block& block, double element, double in_row) {
    const bool run = joined(w, block, element);
    const std::int64_t row = run ? w.rows * w.columns : w.columns;
    const double parts = pieces(block.length, row);
    // Padding shortens a row's run; in the run of an image it is a hole.
    const double each = block.length / parts * (block.taps_w > 1 || run ? 1 : in_row);
    const auto columns = static_cast<double>(w.columns), pitch = static_cast<double>(w.in_w),
               stride = static_cast<double>(w.stride_w);
    const double asked = block.length * block.taps_w * block.taps_h * element * in_row;
    if (stride * element >= kSector && block.taps_w <= 1 && block.taps_h <= 1)
        return each * parts * kSector * (run ? in_row : 1) / asked;
    double own = (each - 1) * stride + 1;
    if (run) own += std::max(0.0, each - 1) / columns * (static_cast<double>(w.stride_h) * pitch - columns * stride);
    const double spread = (block.taps_w - 1) * static_cast<double>(w.dilation_w);
    // Taps farther apart than the piece is long share nothing.
    double span = spread > own * block.taps_w ? own * block.taps_w : own + std::max(0.0, spread);
    double rows = block.taps_h;  // of taps, that share nothing
    const double down = static_cast<double>(w.dilation_h) * pitch;
    if (run && down <= span) {
        span += (block.taps_h - 1) * down;
        rows = 1;
    } else if (!run) {
        rows *= row_overlap(std::max(1.0, block.length / columns), block.taps_h, w);
    }
    span = std::min(span, std::max(own, pitch * (run ? static_cast<double>(w.in_h) : 1)));
    const auto g = static_cast<double>(grain(w, block, row, element));
    double total = 0;
    const std::int64_t shifts = block.taps_w > 1 || g <= element ? 1 : w.taps_w;
    for (std::int64_t s = 0; s < shifts; ++s) {
        const double offset = std::fmod(static_cast<double>(s * w.dilation_w - w.pad_w) * element, g);
        total += sectors(span * element, g, offset < 0 ? offset + g : offset);
    }
    return rows * parts * total / static_cast<double>(shifts) * kSector / asked;
}

}  // namespace

SlidingWindow forward_window(const Convolution& v) {
    const std::int64_t channels = v.c / v.groups;
    return {static_cast<double>(v.n),
            static_cast<double>(channels),
            v.p(),
            v.q(),
            v.h,
            v.w,
            v.r,
            v.s,
            v.stride_h,
            v.stride_w,
            v.dilation_h,
            v.dilation_w,
            v.pad_top,
            v.pad_left};
}

// A gradient of the input is a convolution of the output's gradient with the turned filter. Of a strided layer only
// each stride-th tap reaches a given pixel.
SlidingWindow gradient_window(const Convolution& v) {
    const std::int64_t channels = v.k / v.groups;
    SlidingWindow w{static_cast<double>(v.n), static_cast<double>(channels), v.h, v.w, v.p(), v.q(), v.r, v.s};
    w.dilation_h = v.dilation_h;
    w.dilation_w = v.dilation_w;
    w.pad_h = v.dilation_h * (v.r - 1) - v.pad_top;
    w.pad_w = v.dilation_w * (v.s - 1) - v.pad_left;
    if (v.stride_h > 1 || v.stride_w > 1) {
        w.rows = w.in_h = v.p();
        w.columns = w.in_w = v.q();
        w.dilation_h = w.dilation_w = 1;
        w.pad_h = w.pad_w = 0;
        w.taps_h = (v.r + v.stride_h - 1) / v.stride_h;
        w.taps_w = (v.s + v.stride_w - 1) / v.stride_w;
        w.images = static_cast<double>(v.n * gradient_classes(v));
    }
    return w;
}

double valid_rows(const SlidingWindow& w) { return valid(w.rows, w.in_h, w.taps_h, w.stride_h, w.dilation_h, w.pad_h); }
double valid_columns(const SlidingWindow& w) {
    return valid(w.columns, w.in_w, w.taps_w, w.stride_w, w.dilation_w, w.pad_w);
}

OperandAccess pixel_operand(const SlidingWindow& w, const WarpLoad& load, const Tile& tile, double columns,
                            double element) {
    const double in_row = valid_columns(w), in_image = valid_rows(w), taps = static_cast<double>(w.taps_w);
    const double pixels = w.images * static_cast<double>(w.rows * w.columns);
    const double reduction = w.channels * static_cast<double>(w.taps_h * w.taps_w);
    OperandAccess o;
    o.elements = pixels * reduction * columns * in_row * in_image;
    if (o.elements <= 0) return o;  // every tap of every pixel lies in the padding
    const double request = load.run(), side = tile.m;
    o.overfetch_request = touched(w, {request, 1, 1}, element, in_row);
    o.overfetch_step = o.overfetch_cta = touched(w, {side, 1, 1}, element, in_row);
    // Planes shorter than a sector: those of neighbouring channels lie in one, and a k-step takes them together.
    const double plane = static_cast<double>(w.in_h * w.in_w) * element;
    if (w.taps_h * w.taps_w == 1 && w.stride_h * w.stride_w == 1 && plane < kSector) {
        const double together = plane * std::min<double>(tile.k, w.channels);
        const auto pitch = static_cast<std::int64_t>(plane * w.channels);
        const auto grain = static_cast<double>(std::gcd<std::int64_t>(
            32, std::gcd(pitch, std::max<std::int64_t>(1, static_cast<std::int64_t>(together)))));
        o.overfetch_step = std::min(o.overfetch_step, sectors(together, grain) * kSector / together);
        o.overfetch_cta = std::min(o.overfetch_cta, o.overfetch_step);
    }
    if (w.taps_h * w.taps_w > 1) {
        const auto down = static_cast<double>(w.taps_h);
        o.overfetch_cta = touched(w, {side, taps, down}, element, in_row);
        // A k-step begins anywhere in a row of taps, so it meets (k + taps - 1) / taps rows; and anywhere in a channel.
        const double met = (tile.k + taps - 1) / taps, channels = 1 + (tile.k - 1) / (taps * down);
        const Block step{side, tile.k / met, std::clamp(met / channels, 1.0, down)};
        o.overfetch_step = std::min(o.overfetch_step, touched(w, step, element, in_row));
    }
    o.overfetch_step = std::max(o.overfetch_step, o.overfetch_cta);
    o.overfetch_request = std::max(o.overfetch_request, o.overfetch_step);
    return o;
}

}  // namespace gambrel::delta_detail
