#include "network/builder.hpp"

#include <algorithm>

namespace gambrel::network_detail {
namespace {

std::int64_t filter_elements(const Convolution& v) { return v.k * (v.c / v.groups) * v.r * v.s; }

}  // namespace

NetworkBuilder::NetworkBuilder(std::string name, std::string note) {
    network_.name = std::move(name);
    network_.note = std::move(note);
}

Tensor NetworkBuilder::input(const std::string& name, Tensor shape) {
    network_.inputs.push_back({name, {shape.n, shape.c, shape.h, shape.w}});
    return shape;
}

Layer& NetworkBuilder::push(const std::string& name, bool trained) {
    Layer& layer = network_.layers.emplace_back();
    layer.name = name;
    layer.input_is_trained = trained;
    return layer;
}

Tensor NetworkBuilder::stream(const std::string& name, const Streaming& streaming, Tensor out, bool trained) {
    push(name, trained).op = streaming;
    network_.parameters += streaming.parameters;
    out.trained = trained || streaming.parameters > 0;
    return out;
}

Tensor NetworkBuilder::conv(const std::string& name, Tensor in, const ConvStep& step) {
    Convolution v;
    v.n = in.n, v.c = in.c, v.h = in.h, v.w = in.w, v.k = step.k, v.r = v.s = step.filter;
    v.pad_top = v.pad_bottom = v.pad_left = v.pad_right = step.pad;
    v.stride_h = v.stride_w = step.stride, v.dilation_h = v.dilation_w = step.dilation, v.groups = step.groups;
    Layer& layer = push(name, in.trained);
    layer.op = v;
    layer.bias = step.bias;
    network_.parameters += static_cast<double>(filter_elements(v) + bias_elements(layer));
    return {in.n, v.k, v.p(), v.q(), true};
}

Tensor NetworkBuilder::conv_transposed(const std::string& name, Tensor in, const ConvStep& step,
                                       std::int64_t output_padding) {
    const auto grown = [&](std::int64_t size) {
        return (size - 1) * step.stride - 2 * step.pad + step.dilation * (step.filter - 1) + output_padding + 1;
    };
    Convolution v;
    v.n = in.n, v.c = step.k, v.h = grown(in.h), v.w = grown(in.w), v.k = in.c, v.r = v.s = step.filter;
    v.pad_top = v.pad_bottom = v.pad_left = v.pad_right = step.pad;
    v.stride_h = v.stride_w = step.stride, v.dilation_h = v.dilation_w = step.dilation, v.groups = step.groups;
    Layer& layer = push(name, in.trained);
    layer.op = v;
    layer.pass = Pass::dgrad;
    layer.bias = step.bias;
    network_.parameters += static_cast<double>(filter_elements(v) + bias_elements(layer));
    return {in.n, v.c, v.h, v.w, true};
}

Tensor NetworkBuilder::conv_bn_relu(const std::string& name, Tensor in, const ConvStep& step) {
    return relu(name + ".relu", batch_norm(name + ".bn", conv(name, in, step)));
}

Tensor NetworkBuilder::conv_bias_relu(const std::string& name, Tensor in, ConvStep step) {
    step.bias = true;
    const Tensor out = conv(name, in, step);
    const double elements = out.elements();
    // The convolution adds the bias as it stores; frameworks run ReLU as a kernel of its own.
    return stream(name + ".relu", {StreamingKind::activation, {elements}, 0, elements, 1}, out, true);
}

Tensor NetworkBuilder::fc(const std::string& name, Tensor in, std::int64_t outputs) {
    return linear(name, {1, 1, in.n, in.c * in.h * in.w, in.trained}, outputs);
}

Tensor NetworkBuilder::linear(const std::string& name, Tensor in, std::int64_t outputs) {
    Gemm g;
    g.m = in.n * in.c * in.h, g.n = outputs, g.k = in.w, g.b_transposed = true;
    Layer& layer = push(name, in.trained);
    layer.op = g;
    layer.bias = true;
    network_.parameters += static_cast<double>(g.k * g.n + bias_elements(layer));
    return {in.n, in.c, in.h, outputs, true};
}

Tensor NetworkBuilder::batched_gemm(const std::string& name, const Gemm& gemm, Tensor out) {
    Layer& layer = push(name, true);
    layer.op = gemm;
    layer.has_filter = false;
    out.trained = true;
    return out;
}

Tensor NetworkBuilder::batch_norm(const std::string& name, Tensor in) {
    // Scale and shift are learned; the two running statistics are read too, but are not parameters.
    const Streaming s{StreamingKind::batch_norm, {in.elements()}, static_cast<double>(2 * in.c), in.elements(), 1};
    return stream(name, s, in, in.trained);
}

Tensor NetworkBuilder::pointwise(const std::string& name, Tensor in, StreamingKind kind) {
    return stream(name, {kind, {in.elements()}, 0, in.elements(), 1}, in, in.trained);
}

Tensor NetworkBuilder::norm(const std::string& name, Tensor in, StreamingKind kind, std::int64_t parameters) {
    return stream(name, {kind, {in.elements()}, static_cast<double>(parameters), in.elements(), 1}, in, in.trained);
}

Tensor NetworkBuilder::lrn(const std::string& name, Tensor in, std::int64_t size) {
    return stream(name,
                  {StreamingKind::local_response_norm, {in.elements()}, 0, in.elements(), static_cast<double>(size)},
                  in, in.trained);
}

Tensor NetworkBuilder::max_pool(const std::string& name, Tensor in, const PoolStep& step) {
    const auto shrunk = [&](std::int64_t size) {
        const std::int64_t room = size + 2 * step.pad - step.filter;
        return (room + (step.ceil ? step.stride - 1 : 0)) / step.stride + 1;
    };
    const Tensor out{in.n, in.c, shrunk(in.h), shrunk(in.w), in.trained};
    const auto window = static_cast<double>(step.filter * step.filter);
    return stream(name, {StreamingKind::max_pool, {in.elements()}, 0, out.elements(), window}, out, in.trained);
}

Tensor NetworkBuilder::average_pool(const std::string& name, Tensor in) {
    const Tensor out{in.n, in.c, 1, 1, in.trained};
    const auto window = static_cast<double>(in.h * in.w);
    return stream(name, {StreamingKind::average_pool, {in.elements()}, 0, out.elements(), window}, out, in.trained);
}

Tensor NetworkBuilder::add(const std::string& name, Tensor a, Tensor b) {
    return stream(name, {StreamingKind::elementwise, {a.elements(), b.elements()}, 0, a.elements(), 1}, a,
                  a.trained || b.trained);
}

Tensor NetworkBuilder::concat(const std::string& name, const std::vector<Tensor>& parts) {
    Streaming s{StreamingKind::concatenation, {}, 0, 0, 1};
    Tensor out = parts.front();
    out.c = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        s.read[std::min<std::size_t>(i, s.read.size() - 1)] += parts[i].elements();
        out.c += parts[i].c;
        out.trained = out.trained || parts[i].trained;
    }
    s.written = out.elements();
    return stream(name, s, out, out.trained);
}

Tensor NetworkBuilder::resize(const std::string& name, Tensor in, std::int64_t h, std::int64_t w) {
    const Tensor out{in.n, in.c, h, w, in.trained};
    return stream(name, {StreamingKind::resize, {in.elements()}, 0, out.elements(), 1}, out, in.trained);
}

Tensor NetworkBuilder::copy(const std::string& name, Tensor in, Tensor out) {
    // What is cut off is not read.
    const double moved = std::min(in.elements(), out.elements());
    return stream(name, {StreamingKind::copy, {moved}, 0, out.elements(), 1}, out, in.trained);
}

Tensor NetworkBuilder::gather(const std::string& name, Tensor out, std::int64_t table_rows) {
    network_.parameters += static_cast<double>(table_rows * out.w);
    out = stream(name, {StreamingKind::gather, {out.elements()}, 0, out.elements(), 1}, out, true);
    return out;
}

}  // namespace gambrel::network_detail
