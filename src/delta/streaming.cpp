#include <algorithm>

#include "delta/levels.hpp"

namespace gambrel::delta_detail {

// A depthwise filter stays in registers and every input of a tile is read by the warps that share a row: L1 moves the
// taps that stand in different rows, L2 and DRAM each tensor once.
void prepare_streaming(const Layer& layer, PreparedLayer& prepared) {
    const OperandBytes once = compulsory_bytes(layer);
    prepared.l1 = prepared.l2 = prepared.dram = {once.read, {}, once.written};
    const bool depthwise = prepared.mapping.family == KernelFamily::depthwise;
    if (const auto* v = std::get_if<Convolution>(&layer.op); v && depthwise) {
        const double most = v->r * v->s > 1 ? calibration().depthwise_l2 : 1;
        const Bytes asked = prepared.flop.value() / 2 * element_size(layer.precision);
        prepared.l1.a = std::max(once.read, asked);
        prepared.l2.a = std::max(once.read, std::min(asked, once.read * most));
    }
}

Seconds streaming_time(const PreparedLayer& layer, const ModelInputs& h, TimeTerms& t) {
    const FlopRate rate = std::max(FlopRate{1}, h.flop_per_cycle[layer.mapping.pipe] * h.sms * h.clock);
    t[Term::compute] = layer.flop / rate;
    t[Term::l1] = layer.l1.total() / (h.l1_width * h.sms * h.clock);
    t[Term::l2] = layer.l2.total() / h.l2_bandwidth;
    t[Term::dram] = layer.dram.total() / h.dram_bandwidth;
    if (!layer.profiled) t[Term::launch] = h.launch;
    t.prologue = h.dram_latency / h.clock;
    return t[longest(t, {Term::compute, Term::l1, Term::l2, Term::dram})] + t[Term::launch] + t.prologue;
}

void predict_streaming(const PreparedLayer& layer, const ModelInputs& h, Prediction& p) {
    p.traffic.l1 = layer.l1;
    p.traffic.l2 = layer.l2;
    p.traffic.dram = layer.dram;
    TimeTerms& t = p.terms;
    p.time = streaming_time(layer, h, t);
    p.bound = longest(t, {Term::compute, Term::l1, Term::l2, Term::dram, Term::launch});
    const Term most = longest(t, {Term::compute, Term::l1, Term::l2, Term::dram});
    p.regime = Regime::streaming;
    p.exposed[Term::launch] = t[Term::launch];
    p.exposed[Term::latency] = t.prologue;
    p.exposed[most] += p.time - t[Term::launch] - t.prologue;
}

}  // namespace gambrel::delta_detail
