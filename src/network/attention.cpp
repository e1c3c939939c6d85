#include <algorithm>

#include <gambrel/layer.hpp>

#include "base/arithmetic.hpp"
#include "network/check.hpp"
#include "network/transformer.hpp"

namespace gambrel {
namespace {

// Sum over x = 1..n of min(x, window).
double rising(double n, double window) {
    const double inside = std::min(n, window);
    return inside * (inside + 1) / 2 + (n - inside) * window;
}

}  // namespace

double Attention::pairs() const {
    const double q = real(q_len), kv = real(kv_len), seen = window > 0 ? real(window) : kv + q;
    const double before = rising(kv, seen) - rising(std::max(0.0, kv - q), seen);  // keys up to the query's own
    if (causal) return before;
    return window > 0 ? before + rising(std::min(q, kv), seen) - std::min(q, kv) : q * kv;
}

Attention::Range Attention::keys_of(std::int64_t row, std::int64_t rows) const {
    const std::int64_t first = kv_len - q_len + row, last = std::min(kv_len - q_len + row + rows, kv_len) - 1;
    Range range{0, kv_len};
    if (causal)
        range.end = std::clamp<std::int64_t>(last + 1, 0, kv_len);
    else if (window > 0)
        range.end = std::clamp<std::int64_t>(last + window, 0, kv_len);
    if (window > 0) range.begin = std::clamp<std::int64_t>(first - window + 1, 0, range.end);
    return range;
}

std::int64_t Attention::keys_read() const {
    const Range all = keys_of(0, q_len);
    return all.end - all.begin;
}

std::vector<std::string> faults(const Attention& a) {
    network_detail::Check check;
    for (const auto& [what, value] : {std::pair{"batch", a.batch},
                                      {"q_len", a.q_len},
                                      {"kv_len", a.kv_len},
                                      {"heads", a.heads},
                                      {"kv_heads", a.kv_heads},
                                      {"head_dim", a.head_dim},
                                      {"head_dim_v", a.head_dim_v}})
        check.range(what, value, 1, network_detail::kLargestSize);
    for (const auto& [what, value] :
         {std::pair{"window", a.window}, {"decode_batch", a.decode_batch}, {"decode_kv_len", a.decode_kv_len}})
        check.range(what, value, 0, network_detail::kLargestSize);
    if (!check.clean()) return check.take();
    if (a.heads % a.kv_heads != 0)
        check.fault(fmt::format("heads {} is not divisible by kv_heads {}", a.heads, a.kv_heads));
    if (a.latent && a.head_dim_v > a.head_dim)
        check.fault(fmt::format("values of {} elements cannot be a part of keys of {}", a.head_dim_v, a.head_dim));
    check.elements("Q", {a.batch, a.q_len, a.heads, a.head_dim});
    check.elements("K", {a.batch, a.kv_len, a.kv_heads, a.head_dim});
    if (a.decode_batch > 0) {
        if (a.decode_kv_len < 1) check.fault("decode_kv_len is needed where decode_batch is given");
        check.elements("K of the decoding sequences", {a.decode_batch, a.decode_kv_len, a.kv_heads, a.head_dim});
    }
    check.elements("the scores", {a.batch, a.heads, a.q_len, a.kv_len});
    return check.take();
}

namespace network_detail {

// Backward: the scores again, then the gradients of P, V, Q and K.
Flops attention_flop(const Attention& a, Pass pass) {
    const double dk = real(a.head_dim), dv = real(a.head_dim_v);
    const double products = pass == Pass::fwd ? dk + dv : 3 * dk + 2 * dv;
    const double pairs = real(a.batch) * a.pairs() + real(a.decode_batch) * real(a.decode_kv_len);
    return Flops{2 * real(a.heads) * pairs * products};
}

OperandBytes attention_bytes(const Attention& a, const Layer& layer) {
    const Bytes size = element_size(layer.precision), kv_size = element_size(a.kv_precision.value_or(layer.precision));
    const double sequences = real(a.batch), values = a.latent ? 0 : real(a.head_dim_v);
    const double queries = (sequences * real(a.q_len) + real(a.decode_batch)) * real(a.heads);
    const double keys = sequences * real(a.keys_read()) + real(a.decode_batch) * real(a.decode_kv_len);
    OperandBytes b;
    b.input = queries * real(a.head_dim) * size;
    b.filter = keys * real(a.kv_heads) * (real(a.head_dim) + values) * kv_size;
    b.output = queries * real(a.head_dim_v) * size;
    if (layer.pass == Pass::fwd) {
        b.read = b.input + b.filter;
        b.written = b.output;
        return b;
    }
    // Q, K, V, O and dO are read, with the row sums of softmax in FP32; dQ, dK and dV are written.
    b.written = b.input + b.filter;
    b.read = b.input + b.filter + 2 * b.output + queries * element_size(Precision::fp32);
    b.input *= 2;
    b.filter *= 2;
    b.output *= 2;
    return b;
}

}  // namespace network_detail
}  // namespace gambrel
