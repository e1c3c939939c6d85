// Layers that are not one implicit GEMM: which function predicts them, and what their time waits for.
#include <algorithm>
#include <cmath>

#include "delta/levels.hpp"

namespace gambrel::delta_detail {
namespace {

// Of the terms that are not the launch.
Term longest_work(const TimeTerms& terms) {
    return longest(
        terms, {Term::compute, Term::issue, Term::latency, Term::shared, Term::l1, Term::l2, Term::dram, Term::link});
}

// A product of a matrix with few vectors: a CTA has eight rows of the matrix, or where these lie side by side one for
// each thread, and reads all vectors for them.
void prepare_vectors(const Gemm& g, Precision precision, PreparedLayer& prepared) {
    constexpr double kRows = 8;
    const bool along_k = g.n > g.m ? g.b_transposed : !g.a_transposed;
    const double rows_of_cta = along_k ? kRows : prepared.mapping.threads;
    const double vectors = static_cast<double>(std::min(g.m, g.n)), rows = static_cast<double>(std::max(g.m, g.n));
    const double k = static_cast<double>(g.k), ctas = std::ceil(rows / rows_of_cta);
    prepared.l1.a += vectors * k * static_cast<double>(g.batch) * (ctas - 1) * element_size(precision);
    if (const std::int32_t step = prepared.mapping.vector_step; step > 0) prepared.waits_in_turn = std::ceil(k / step);
}

}  // namespace

Regime regime_of_untiled(const PreparedLayer& layer) {
    if (const auto* a = std::get_if<Attention>(&layer.op))
        return a->q_len == 1 ? Regime::attention_decode : Regime::attention;
    if (std::holds_alternative<MixtureOfExperts>(layer.op)) return Regime::experts;
    const bool of_few_vectors = layer.mapping.vector_step > 0;
    const bool convolution = layer.mapping.family == KernelFamily::depthwise || layer.waits_in_turn > 0;
    if (convolution && !of_few_vectors) return Regime::direct;
    // Kernels that go through a tensor in order have 256 threads and read it once.
    const bool in_order = layer.mapping.threads == 256 && layer.mapping.a.through_l1;
    return in_order ? Regime::streaming : Regime::rows;
}

// A depthwise filter stays in registers and every input of a tile is read by the warps that share a row: L1 moves the
// taps that stand in different rows, L2 and DRAM each tensor once.
void prepare_untiled(const Layer& layer, PreparedLayer& prepared) {
    const OperandBytes once = compulsory_bytes(layer);
    prepared.l1 = prepared.l2 = prepared.dram = {once.read, {}, once.written};
    prepared.pass = layer.pass;
    prepared.precision = layer.precision;
    prepared.weights = layer.weights.value_or(layer.precision);
    prepared.timing = layer.hints.timing;
    prepared.host = layer.hints.host;
    prepared.host_ahead = layer.hints.host_ahead;
    const bool depthwise = prepared.mapping.family == KernelFamily::depthwise;
    if (const auto* v = std::get_if<Convolution>(&layer.op); v && depthwise) {
        const double most = v->r * v->s > 1 ? calibration().depthwise_l2 : 1;
        // Neighbouring outputs lie a stride apart, and whole sectors are moved for them.
        const double sector = kSector / element_size(layer.precision).value();
        const double apart = layer.pass == Pass::fwd ? std::min(static_cast<double>(v->stride_w), sector) : 1;
        const Bytes asked = prepared.flop.value() / 2 * element_size(layer.precision) * apart;
        prepared.l1.a = std::max(once.read, asked);
        prepared.l2.a = std::max(once.read, std::min(asked, once.read * most));
        if (layer.pass == Pass::fwd) prepared.plane = static_cast<double>(v->p() * v->q());
        prepared.tap_rows = static_cast<double>(v->r);
    }
    // One channel in and out: a CTA has an image and goes along it by as many pixels as it has threads. Each step
    // loads, and the next one waits until it has stored.
    if (const auto* v = std::get_if<Convolution>(&layer.op); v && prepared.mapping.family == KernelFamily::streaming)
        prepared.waits_in_turn = 2 * std::ceil(static_cast<double>(v->p() * v->q()) / prepared.mapping.threads);
    if (const auto* g = std::get_if<Gemm>(&layer.op)) prepare_vectors(*g, layer.precision, prepared);
    if (const auto* s = std::get_if<Streaming>(&layer.op)) prepared.op = *s;
    if (const auto* a = std::get_if<Attention>(&layer.op)) prepared.op = *a;
    if (const auto* m = std::get_if<MixtureOfExperts>(&layer.op)) prepared.op = *m;
    if (const auto* r = std::get_if<AllReduce>(&layer.op)) prepared.op = *r;
}

void start_untiled(const PreparedLayer& layer, Traffic& traffic) {
    traffic.l1 = layer.l1;
    traffic.l2 = layer.l2;
    traffic.dram = layer.dram;
}

bool streams(const PreparedLayer& layer) {
    return std::holds_alternative<std::monostate>(layer.op) || std::holds_alternative<Streaming>(layer.op);
}

Seconds untiled_time(const PreparedLayer& layer, const ModelInputs& h, TimeTerms& t, Traffic& traffic) {
    start_untiled(layer, traffic);
    if (std::holds_alternative<Attention>(layer.op)) return attention_time(layer, h, t, traffic);
    if (std::holds_alternative<MixtureOfExperts>(layer.op)) return experts_time(layer, h, t, traffic);
    if (std::holds_alternative<AllReduce>(layer.op)) return all_reduce_time(layer, h, t, traffic);
    return streaming_time(layer, h, t, traffic);
}

void time_untiled(const PreparedLayer& layer, const ModelInputs& h, TimedTraffic& p) {
    p.time = untiled_time(layer, h, p.terms, p.traffic);
    const Term most = longest_work(p.terms);
    p.bound = p.terms[Term::launch] > p.terms[most] ? Term::launch : most;
}

PerTerm untiled_exposed(const TimedTraffic& p) {
    const TimeTerms& t = p.terms;
    PerTerm exposed{};
    exposed[Term::launch] = std::min(t[Term::launch], p.time);
    exposed[Term::latency] = std::min(t.prologue + t.epilogue, p.time - exposed[Term::launch]);
    exposed[longest_work(t)] += p.time - exposed[Term::launch] - exposed[Term::latency];
    return exposed;
}

Seconds all_reduce_time(const PreparedLayer& layer, const ModelInputs& h, TimeTerms& t, Traffic&) {
    const auto& r = std::get<AllReduce>(layer.op);
    if (r.ranks <= 1) return {};
    // A ring: each GPU sends and receives all but its own share twice, once to add up and once to hand out.
    const double sent = 2 * static_cast<double>(r.ranks - 1) / static_cast<double>(r.ranks);
    const Bytes bytes = r.elements * element_size(layer.precision) * sent;
    t[Term::link] = h.link > Bandwidth{} ? bytes / h.link : Seconds{};
    t[Term::dram] = layer.dram.total() / h.dram_bandwidth;
    t[Term::launch] = h.launch;
    return t[Term::launch] + std::max(t[Term::link], t[Term::dram]);
}

}  // namespace gambrel::delta_detail
