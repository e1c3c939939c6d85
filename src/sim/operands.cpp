#include "sim/operands.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace gambrel::sim_detail {
namespace {

ElementSize element_of(Bytes size) {
    const std::int64_t all = std::llround(size.value() * kSixteenths), data = all < kSixteenths ? kSixteenths / 2 : all;
    return {data, all - data};
}

struct Strides {
    std::int64_t n, c, h, w;
};
Strides image_strides(std::int64_t c, std::int64_t h, std::int64_t w, Layout layout) {
    return layout == Layout::nchw ? Strides{c * h * w, h * w, w, 1} : Strides{h * w * c, 1, w * c, c};
}
// n is the filter, h and w its taps.
Strides filter_strides(const Convolution& v, Layout layout) { return image_strides(v.c / v.groups, v.r, v.s, layout); }

// The indices of a convolution: pixels (n, y, x) and channels with taps (c, r, s; in NHWC r, s, c).
Index pixels(std::int64_t n, std::int64_t p, std::int64_t q, Digit image, Digit y, Digit x) {
    image.radix = n;
    y.radix = p;
    x.radix = q;
    return {{Digit{}, Digit{}, image, y, x}};
}
Index taps(std::int64_t channels, std::int64_t step, Digit channel, Digit r, Digit s) {
    channel.radix = channels;
    if (step == 0) return {{Digit{}, Digit{}, channel, r, s}};
    if (channels % step != 0) return {{Digit{}, Digit{}, r, s, channel}};
    Digit chunk = channel;
    chunk.radix = channels / step;
    chunk.offset *= step;
    channel.radix = step;
    return {{Digit{}, chunk, r, s, channel}};
}
Index channels(std::int64_t count, std::int64_t stride) {
    return {{Digit{}, Digit{}, Digit{}, Digit{}, {count, stride}}};
}

// One axis of the input pixels first, first + stride, ... of a dgrad: the taps that reach them, and the output that the
// first of these reads at the first pixel. The next pixel is one output further, the next of these taps `back` outputs
// back.
struct ClassAxis {
    std::int64_t first, pixels, taps = 0, tap = 0, tap_step = 1, origin = 0, back = 0;
};
ClassAxis class_axis(std::int64_t first, std::int64_t size, std::int64_t filter, std::int64_t stride,
                     std::int64_t dilation, std::int64_t pad) {
    ClassAxis axis{first, first < size ? (size - first + stride - 1) / stride : 0};
    while (axis.tap < filter && (first + pad - axis.tap * dilation) % stride != 0) ++axis.tap;
    if (axis.tap == filter) return axis;
    axis.tap_step = stride / std::gcd(stride, dilation);
    axis.taps = (filter - 1 - axis.tap) / axis.tap_step + 1;
    axis.origin = (first + pad - axis.tap * dilation) / stride;
    axis.back = axis.tap_step * dilation / stride;
    return axis;
}
// Every tap of every pixel has an output.
bool always_inside(const ClassAxis& axis, std::int64_t outputs) {
    return axis.taps == 1 && axis.origin >= 0 && axis.origin + axis.pixels <= outputs;
}

class ConvolutionOperands {
public:
    ConvolutionOperands(const Convolution& v, Pass pass, ElementSizes sizes, Layout layout, std::int64_t step)
        : v_(v),
          pass_(pass),
          sizes_(sizes),
          // Of a wgrad, taps and channels are a side and not the reduction: they stand as they lie in memory.
          step_(layout == Layout::nchw ? 0 : (pass == Pass::wgrad ? v.c / v.groups : step)),
          in_(image_strides(v.c, v.h, v.w, layout)),
          out_(image_strides(v.k, v.p(), v.q(), layout)),
          filter_(filter_strides(v, layout)) {}

    [[nodiscard]] Operands operands() const {
        Operands result;
        result.view = gemm_view(v_, pass_);
        switch (pass_) {
            case Pass::fwd:
                result.a = image(Tensor::input, convolved_pixels(), input_taps());
                bound_to_input(result.a);
                result.b = filter(channels(v_.k / v_.groups, filter_.n), filter_taps());
                result.c = image(Tensor::output, output_pixels(), channels(v_.k / v_.groups, out_.c));
                break;
            case Pass::dgrad:
                return gradient_class(0, 0);
            case Pass::wgrad:
                result.a = image(Tensor::output, channels(v_.k / v_.groups, out_.c), output_pixels());
                result.b = image(Tensor::input, input_taps(), convolved_pixels());
                bound_to_input(result.b);
                result.c = filter(channels(v_.k / v_.groups, filter_.n), filter_taps());
                result.images = v_.n;
                break;
        }
        return result;
    }
    // Of a dgrad, the input pixels whose rows are y, y + stride, ... and columns x, x + stride, ...: a GEMM of its own.
    [[nodiscard]] Operands gradient_class(std::int64_t first_y, std::int64_t first_x) const {
        const ClassAxis y = class_axis(first_y, v_.h, v_.r, v_.stride_h, v_.dilation_h, v_.pad_top);
        const ClassAxis x = class_axis(first_x, v_.w, v_.s, v_.stride_w, v_.dilation_w, v_.pad_left);
        Operands result;
        result.view = gemm_view(v_, Pass::dgrad);
        result.view.m = v_.n * y.pixels * x.pixels;
        result.view.k = v_.k / v_.groups * y.taps * x.taps;
        result.a = gradient(y, x);
        Index rows = taps(v_.k / v_.groups, step_, {1, filter_.n}, {y.taps, y.tap_step * filter_.h},
                          {x.taps, x.tap_step * filter_.w});
        rows.offset = y.tap * filter_.h + x.tap * filter_.w;
        result.b = filter(channels(v_.c / v_.groups, filter_.c), rows);
        Index pixel = pixels(v_.n, y.pixels, x.pixels, {1, in_.n}, {1, v_.stride_h * in_.h}, {1, v_.stride_w * in_.w});
        pixel.offset = y.first * in_.h + x.first * in_.w;
        result.c = image(Tensor::input, pixel, channels(v_.c / v_.groups, in_.c));
        return result;
    }

private:
    [[nodiscard]] AddressedOperand image(Tensor tensor, const Index& side, const Index& depth) const {
        const bool input = tensor == Tensor::input;
        AddressedOperand o{tensor, sizes_.tensors, side, depth};
        o.batch_offset = input ? v_.c / v_.groups * in_.c : v_.k / v_.groups * out_.c;
        return o;
    }
    [[nodiscard]] AddressedOperand filter(const Index& side, const Index& depth) const {
        AddressedOperand o{Tensor::filter, sizes_.filter, side, depth};
        o.batch_offset = v_.k / v_.groups * filter_.n;
        return o;
    }
    // The input pixel of tap (0, 0) of each output.
    [[nodiscard]] Index convolved_pixels() const {
        const auto sh = narrow(v_.stride_h), sw = narrow(v_.stride_w);
        Index index = pixels(v_.n, v_.p(), v_.q(), {1, in_.n}, {1, sh * in_.h, sh, 0}, {1, sw * in_.w, 0, sw});
        index.offset = -v_.pad_top * in_.h - v_.pad_left * in_.w;
        index.y = -narrow(v_.pad_top);
        index.x = -narrow(v_.pad_left);
        return index;
    }
    [[nodiscard]] Index input_taps() const {
        const auto dh = narrow(v_.dilation_h), dw = narrow(v_.dilation_w);
        return taps(v_.c / v_.groups, step_, {1, in_.c}, {v_.r, dh * in_.h, dh, 0}, {v_.s, dw * in_.w, 0, dw});
    }
    [[nodiscard]] Index filter_taps() const {
        return taps(v_.c / v_.groups, step_, {1, filter_.c}, {v_.r, filter_.h}, {v_.s, filter_.w});
    }
    [[nodiscard]] Index output_pixels() const {
        return pixels(v_.n, v_.p(), v_.q(), {1, out_.n}, {1, out_.h}, {1, out_.w});
    }
    // Without padding every tap of every output is inside, and whole planes become one run.
    void bound_to_input(AddressedOperand& o) const {
        if (v_.pad_top + v_.pad_bottom + v_.pad_left + v_.pad_right > 0) {
            o.height = narrow(v_.h);
            o.width = narrow(v_.w);
            return;
        }
        drop_coordinates(o);
    }
    static void drop_coordinates(AddressedOperand& o) {
        for (Index* index : {&o.side, &o.depth}) {
            index->y = index->x = 0;
            for (Digit& digit : index->digits) digit.y = digit.x = 0;
        }
    }
    [[nodiscard]] AddressedOperand gradient(const ClassAxis& y, const ClassAxis& x) const {
        Index side = pixels(v_.n, y.pixels, x.pixels, {1, out_.n}, {1, out_.h, 1, 0}, {1, out_.w, 0, 1});
        side.offset = y.origin * out_.h + x.origin * out_.w;
        side.y = narrow(y.origin);
        side.x = narrow(x.origin);
        const Index depth = taps(v_.k / v_.groups, step_, {1, out_.c}, {y.taps, -y.back * out_.h, -narrow(y.back), 0},
                                 {x.taps, -x.back * out_.w, 0, -narrow(x.back)});
        AddressedOperand o = image(Tensor::output, side, depth);
        o.height = narrow(v_.p());
        o.width = narrow(v_.q());
        if (always_inside(y, v_.p()) && always_inside(x, v_.q())) {
            o.height = o.width = 0;
            drop_coordinates(o);
        }
        return o;
    }

    const Convolution& v_;
    Pass pass_;
    ElementSizes sizes_;
    std::int64_t step_;  // channels that NHWC takes together; 0: NCHW
    Strides in_, out_, filter_;
};

// rows x columns, row-major unless transposed: the index of one of its two sides.
std::int64_t row_stride(std::int64_t rows, std::int64_t columns, bool transposed, bool of_rows) {
    if (of_rows) return transposed ? 1 : columns;
    return transposed ? rows : 1;
}

}  // namespace

ElementSizes::ElementSizes(Precision all) : tensors(element_of(element_size(all))), filter(tensors), result(tensors) {}
ElementSizes::ElementSizes(const Layer& layer)
    : tensors(element_of(element_size(layer.precision))),
      filter(element_of(element_size(layer.weights.value_or(layer.precision)))),
      result(element_of(result_element_size(layer))) {}

Operands operands(const Convolution& convolution, Pass pass, ElementSizes sizes, Layout layout, std::int64_t step) {
    return ConvolutionOperands(convolution, pass, sizes, layout, std::max<std::int64_t>(1, step)).operands();
}

std::vector<Operands> gradient_operands(const Convolution& v, ElementSizes sizes, Layout layout, std::int64_t step) {
    const ConvolutionOperands all(v, Pass::dgrad, sizes, layout, std::max<std::int64_t>(1, step));
    std::vector<Operands> reached;
    std::vector<AddressedOperand> zeros;
    for (std::int64_t y = 0; y < std::min(v.h, v.stride_h); ++y) {
        for (std::int64_t x = 0; x < std::min(v.w, v.stride_w); ++x) {
            Operands one = all.gradient_class(y, x);
            if (one.view.k > 0)
                reached.push_back(std::move(one));
            else
                zeros.push_back(one.c);
        }
    }
    // Where taps only reach padding, all is zeros: a GEMM without k writes the first class.
    if (reached.empty()) {
        reached.push_back(all.gradient_class(0, 0));
        zeros.erase(zeros.begin());
    }
    reached.front().zeros = std::move(zeros);
    return reached;
}

Operands operands(const Gemm& g, Pass pass, ElementSizes sizes) {
    Operands result;
    result.view = gemm_view(g, pass);
    // A batch with one B is one GEMM of more rows: rows then step from matrix to matrix.
    const bool folded = result.view.batch != g.batch;
    const std::int64_t copies = folded ? g.batch : 1;
    const std::int64_t a_batch = folded || g.a_shared ? 0 : g.m * g.k, b_batch = g.b_shared ? 0 : g.k * g.n;
    const std::int64_t c_batch = folded ? 0 : g.m * g.n;
    const auto index = [](std::int64_t size, std::int64_t stride) { return channels(size, stride); };
    const Index a_m{
        {Digit{}, Digit{}, Digit{}, {copies, g.m * g.k}, {g.m, row_stride(g.m, g.k, g.a_transposed, true)}}};
    const Index a_k = index(g.k, row_stride(g.m, g.k, g.a_transposed, false));
    const Index b_k = index(g.k, row_stride(g.k, g.n, g.b_transposed, true));
    const Index b_n = index(g.n, row_stride(g.k, g.n, g.b_transposed, false));
    const Index c_m{{Digit{}, Digit{}, Digit{}, {copies, g.m * g.n}, {g.m, g.n}}};
    const Index c_n = index(g.n, 1);
    const auto make = [&](Tensor tensor, const Index& side, const Index& depth, std::int64_t batch) {
        AddressedOperand o{tensor, tensor == Tensor::filter ? sizes.filter : sizes.tensors, side, depth};
        o.batch_offset = batch;
        return o;
    };
    switch (pass) {
        case Pass::fwd:
            result.a = make(Tensor::input, a_m, a_k, a_batch);
            result.b = make(Tensor::filter, b_n, b_k, b_batch);
            result.c = make(Tensor::output, c_m, c_n, c_batch);
            break;
        case Pass::dgrad:
            result.a = make(Tensor::output, c_m, c_n, c_batch);
            result.b = make(Tensor::filter, b_k, b_n, b_batch);
            result.c = make(Tensor::input, a_m, a_k, a_batch);
            break;
        case Pass::wgrad:
            result.a = make(Tensor::output, c_n, c_m, c_batch);
            result.b = make(Tensor::input, a_k, a_m, a_batch);
            result.c = make(Tensor::filter, b_n, b_k, b_batch);
            break;
    }
    result.c.element = sizes.result;
    return result;
}

std::optional<AddressedOperand> bias_operand(const Layer& layer, const GemmView& view) {
    if (!layer.bias) return std::nullopt;
    AddressedOperand bias{Tensor::bias, element_of(bias_element_size(layer.precision)), channels(view.n, 1), Index{}};
    bias.batch_offset = std::holds_alternative<Convolution>(layer.op) ? view.n : 0;
    return bias;
}

}  // namespace gambrel::sim_detail
