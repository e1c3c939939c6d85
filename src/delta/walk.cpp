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

struct Rows {
    std::int64_t row;      // pixels that lie beside each other in memory
    bool linear;           // rows follow each other without a gap, so an image is one row
    std::int64_t pitches;  // what divides the distance between all rows, in bytes, up to 32
};
Rows rows_of(const Walk& w, double element) {
    const auto e = static_cast<std::int64_t>(element);
    const bool linear = w.taps_h == 1 && w.taps_w == 1 && w.stride_h == 1 && w.stride_w == 1 && w.pad_h == 0 &&
                        w.pad_w == 0 && w.columns == w.in_w;
    std::int64_t pitches = std::gcd<std::int64_t>(32, w.in_h * w.in_w * e);
    if (!linear) pitches = std::gcd(pitches, w.in_w * e);
    return {linear ? w.rows * w.columns : w.columns, linear, pitches};
}

// Bytes of sectors that `length` pixels and `taps` neighbouring taps touch, without their padding.
double piece_bytes(const Walk& w, const Rows& r, double length, double taps, double element, double in_row) {
    const double parts = pieces(length, r.row);
    const double each = length / parts * (taps > 1 ? 1 : in_row);
    const double own = (each - 1) * static_cast<double>(w.stride_w) + 1;
    const double spread = (taps - 1) * static_cast<double>(w.dilation_w);
    // Taps farther apart than the piece is long share nothing.
    double span = spread > own * taps ? own * taps : own + std::max(0.0, spread);
    span = std::min(span, std::max(own, static_cast<double>(w.in_w) * (r.linear ? static_cast<double>(w.in_h) : 1)));
    const auto start = static_cast<std::int64_t>(length);
    const std::int64_t grain =
        std::gcd(r.pitches, std::gcd(start, r.row) * w.stride_w * static_cast<std::int64_t>(element));
    const double g = static_cast<double>(std::max<std::int64_t>(grain, 1));
    if (static_cast<double>(w.stride_w) * element >= kSector && taps <= 1) return each * parts * kSector;
    double total = 0;
    const std::int64_t shifts = taps > 1 ? 1 : w.taps_w;
    for (std::int64_t s = 0; s < shifts; ++s) {
        const double offset = std::fmod(static_cast<double>(s * w.dilation_w - w.pad_w) * element, g);
        total += sectors(span * element, g, offset < 0 ? offset + g : offset);
    }
    return parts * total / static_cast<double>(shifts) * kSector;
}

// Distinct input rows over rows x taps, where taps of neighbouring output rows meet.
double row_overlap(double rows, const Walk& w) {
    const auto taps = static_cast<double>(w.taps_h), sh = static_cast<double>(w.stride_h),
               dh = static_cast<double>(w.dilation_h);
    const double all = rows * taps;
    double distinct = all;
    if (w.dilation_h % w.stride_h == 0)
        distinct = all - (taps - 1) * std::max(0.0, rows - dh / sh);
    else if (w.stride_h % w.dilation_h == 0)
        distinct = all - (rows - 1) * std::max(0.0, taps - sh / dh);
    return distinct / all;
}

}  // namespace

double sectors(double length, double grain, double offset) {
    return (std::ceil((offset + length) / grain) * grain + kSector - grain) / kSector;
}

Walk forward_walk(const Convolution& v) {
    return {static_cast<double>(v.n),
            static_cast<double>(v.c / v.groups),
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
Walk gradient_walk(const Convolution& v) {
    Walk w{static_cast<double>(v.n), static_cast<double>(v.k / v.groups), v.h, v.w, v.p(), v.q(), v.r, v.s};
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

double valid_rows(const Walk& w) { return valid(w.rows, w.in_h, w.taps_h, w.stride_h, w.dilation_h, w.pad_h); }
double valid_columns(const Walk& w) { return valid(w.columns, w.in_w, w.taps_w, w.stride_w, w.dilation_w, w.pad_w); }

Operand pixel_operand(const Walk& w, const WarpLoad& load, const Tile& tile, double columns, double element) {
    const Rows rows = rows_of(w, element);
    const double in_row = valid_columns(w), in_image = valid_rows(w), taps = static_cast<double>(w.taps_w);
    const double pixels = w.images * static_cast<double>(w.rows * w.columns);
    const double reduction = w.channels * static_cast<double>(w.taps_h * w.taps_w);
    Operand o;
    o.elements = pixels * reduction * columns * in_row * in_image;
    const double request = load.run();
    const double asked = request * element * in_row;
    o.l1_factor = piece_bytes(w, rows, request, 1, element, in_row) / asked;
    const double side = tile.m;
    const double tile_asked = side * element * in_row;
    const double one_tap = piece_bytes(w, rows, side, 1, element, in_row) / tile_asked;
    o.step_factor = o.kept_factor = one_tap;
    if (w.taps_h * w.taps_w > 1) {
        const double per_row = piece_bytes(w, rows, side, taps, element, in_row) / (tile_asked * taps);
        o.kept_factor = per_row * row_overlap(pieces(side, w.columns), w);
        // A k-step begins anywhere in a row of taps, so it meets (k + taps - 1) / taps rows.
        const double groups = (tile.k + taps - 1) / taps;
        const double taps_each = tile.k / groups;
        o.step_factor =
            std::min(one_tap, piece_bytes(w, rows, side, taps_each, element, in_row) / (tile_asked * taps_each));
    }
    o.l1_factor = std::max(o.l1_factor, o.step_factor);
    o.step_factor = std::max(o.step_factor, o.kept_factor);
    return o;
}

}  // namespace gambrel::delta_detail
