#include <algorithm>
#include <numeric>

#include <gambrel/layer.hpp>

#include "network/streaming.hpp"
#include "network/transformer.hpp"

namespace gambrel {
namespace {

double product(std::initializer_list<std::int64_t> factors) {
    double result = 1;
    for (const std::int64_t factor : factors) result *= static_cast<double>(factor);
    return result;
}

struct Axis {
    std::int64_t size, pad, filter, dilation, stride, outputs;
};

// The union over the filter's taps of the positions tap * dilation - pad + stride * [0, outputs), inside [0, size).
// Taps of equal residue mod stride overlap; the one before of the same residue is stride / gcd taps back, and, as both
// progressions have the same length, only it can hide positions of this one.
std::int64_t positions_read(const Axis& a) {
    if (a.outputs <= 0) return 0;
    // Without gaps: up to the end of the last output's window.
    if (a.dilation == 1 && a.stride <= a.filter)
        return std::clamp<std::int64_t>((a.outputs - 1) * a.stride + a.filter - a.pad, 0, a.size);
    const auto ceil_div = [&](std::int64_t x) { return x <= 0 ? -(-x / a.stride) : (x + a.stride - 1) / a.stride; };
    const std::int64_t back = a.stride / std::gcd(a.stride, a.dilation);
    std::int64_t count = 0;
    for (std::int64_t tap = 0; tap < a.filter; ++tap) {
        const std::int64_t offset = tap * a.dilation - a.pad;
        std::int64_t first = std::max<std::int64_t>(0, ceil_div(-offset));
        std::int64_t end = std::min(a.outputs, std::max<std::int64_t>(0, ceil_div(a.size - offset)));
        if (tap >= back) first = std::max(first, a.outputs - back * a.dilation / a.stride);
        count += std::max<std::int64_t>(0, end - first);
    }
    return count;
}

struct Elements {
    double input, filter, output;
};

Elements elements(const Convolution& v, Pass pass) {
    // A gradient of the input is written whole, zeros too; a forward or filter gradient reads only what it uses.
    const bool whole = pass == Pass::dgrad;
    return {product({v.n, v.c, whole ? v.h : v.rows_read(), whole ? v.w : v.columns_read()}),
            product({v.k, v.c / v.groups, v.r, v.s}), product({v.n, v.k, v.p(), v.q()})};
}
Elements elements(const Gemm& g, Pass) {
    const double m = static_cast<double>(g.m), n = static_cast<double>(g.n), k = static_cast<double>(g.k);
    const double batch = static_cast<double>(g.batch);
    return {m * k * (g.a_shared ? 1 : batch), k * n * (g.b_shared ? 1 : batch), m * n * batch};
}

template <class Op>
OperandBytes matrix_bytes(const Op& op, const Layer& layer) {
    const Pass pass = layer.pass;
    const Elements e = elements(op, pass);
    const Bytes size = element_size(layer.precision), result = result_element_size(layer);
    OperandBytes b;
    b.input = e.input * (pass == Pass::dgrad ? result : size);
    b.filter = e.filter * (pass == Pass::wgrad ? result : element_size(layer.weights.value_or(layer.precision)));
    b.output = e.output * (pass == Pass::fwd ? result : size);
    b.bias = static_cast<double>(bias_elements(layer)) * bias_element_size(layer.precision);
    b.written = pass == Pass::fwd ? b.output : pass == Pass::dgrad ? b.input : b.filter;
    b.read = b.input + b.filter + b.output - b.written + b.bias;
    return b;
}

}  // namespace

std::int64_t Convolution::rows_read() const { return positions_read({h, pad_top, r, dilation_h, stride_h, p()}); }
std::int64_t Convolution::columns_read() const { return positions_read({w, pad_left, s, dilation_w, stride_w, q()}); }

Flops flop(const Layer& layer) {
    if (const auto* v = std::get_if<Convolution>(&layer.op))
        return Flops{2 * product({v->n, v->k, v->p(), v->q(), v->c / v->groups, v->r, v->s})};
    if (const auto* g = std::get_if<Gemm>(&layer.op)) return Flops{2 * product({g->m, g->n, g->k, g->batch})};
    if (const auto* a = std::get_if<Attention>(&layer.op)) return network_detail::attention_flop(*a, layer.pass);
    if (const auto* m = std::get_if<MixtureOfExperts>(&layer.op)) return network_detail::experts_flop(*m);
    if (const auto* r = std::get_if<AllReduce>(&layer.op)) return Flops{r->ranks > 1 ? r->elements : 0};
    return network_detail::streaming_flop(std::get<Streaming>(layer.op), layer.pass);
}

OperandBytes compulsory_bytes(const Layer& layer) {
    if (const auto* v = std::get_if<Convolution>(&layer.op)) return matrix_bytes(*v, layer);
    if (const auto* g = std::get_if<Gemm>(&layer.op)) return matrix_bytes(*g, layer);
    if (const auto* a = std::get_if<Attention>(&layer.op)) return network_detail::attention_bytes(*a, layer);
    if (const auto* m = std::get_if<MixtureOfExperts>(&layer.op)) return network_detail::experts_bytes(*m, layer);
    if (const auto* r = std::get_if<AllReduce>(&layer.op)) {
        const Bytes once = r->elements * element_size(layer.precision);
        return {once, {}, once, {}, once, once};
    }
    return network_detail::streaming_bytes(std::get<Streaming>(layer.op), layer.pass, layer.precision);
}

std::int64_t bias_elements(const Layer& layer) {
    if (!layer.bias) return 0;
    if (const auto* v = std::get_if<Convolution>(&layer.op)) return layer.pass == Pass::fwd ? v->k : v->c;
    if (const auto* g = std::get_if<Gemm>(&layer.op)) return g->n;
    return 0;
}

Bytes result_element_size(const Layer& layer) {
    const Bytes size = element_size(layer.precision);
    return std::holds_alternative<Gemm>(layer.op) ? std::max(size, element_size(Precision::bf16)) : size;
}

Bytes bias_element_size(Precision precision) {
    switch (precision) {
        case Precision::int8:
            return element_size(Precision::fp32);
        case Precision::fp8:
            return element_size(Precision::bf16);
        default:
            return element_size(precision);
    }
}

GemmView gemm_view(const Convolution& v, Pass pass) {
    const std::int64_t c = v.c / v.groups, k = v.k / v.groups, taps = v.r * v.s, pixels = v.n * v.p() * v.q();
    switch (pass) {
        case Pass::fwd:
            return {pixels, k, c * taps, v.groups};
        case Pass::dgrad:
            return {v.n * v.h * v.w, c, k * taps, v.groups};
        case Pass::wgrad:
            break;
    }
    return {k, c * taps, pixels, v.groups};
}

GemmView gemm_view(const Gemm& g, Pass pass) {
    // A shared B makes the batch more rows of one GEMM: libraries run it so.
    const std::int64_t rows = g.b_shared && !g.a_shared ? g.m * g.batch : g.m;
    const std::int64_t batch = rows == g.m ? g.batch : 1;
    switch (pass) {
        case Pass::fwd:
            return {rows, g.n, g.k, batch};
        case Pass::dgrad:
            return {rows, g.k, g.n, batch};
        case Pass::wgrad:
            break;
    }
    return {g.n, g.k, rows, batch};
}

std::optional<GemmView> gemm_view(const Layer& layer) {
    if (const auto* v = std::get_if<Convolution>(&layer.op)) return gemm_view(*v, layer.pass);
    if (const auto* g = std::get_if<Gemm>(&layer.op)) return gemm_view(*g, layer.pass);
    return std::nullopt;
}

}  // namespace gambrel
