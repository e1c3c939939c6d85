#include <algorithm>
#include <cmath>

#include "delta/levels.hpp"

namespace gambrel::delta_detail {

// A depthwise filter stays in registers and every input of a tile is read by the warps that share a row: L1 moves the
// taps that stand in different rows, L2 and DRAM each tensor once.
void streaming(const Layer& layer, const Hardware& h, Prediction& p) {
    const OperandBytes once = compulsory_bytes(layer);
    OperandTraffic t{once.read.value(), 0, once.written.value()};
    p.traffic.l1 = p.traffic.l2 = p.traffic.dram = t;
    if (const auto* v = std::get_if<Convolution>(&layer.op)) {
        const double taps = static_cast<double>(v->r * v->s);
        const double asked = flop(layer).value() / 2 * element_size(layer.precision).value();
        p.traffic.l1.a = std::max(t.a, asked);
        p.traffic.l2.a = std::max(t.a, std::min(asked, t.a * (taps > 1 ? 1.25 : 1)));
    }
    TimeTerms& terms = p.terms;
    const double rate = std::max(1.0, h.flop_per_cycle[p.mapping.pipe] * h.sms * h.clock);
    terms[Term::compute] = p.flop / rate;
    terms[Term::l1] = p.traffic.l1.total() / (h.l1_width * h.sms * h.clock);
    terms[Term::l2] = p.traffic.l2.total() / h.l2_bandwidth;
    terms[Term::dram] = p.traffic.dram.total() / h.dram_bandwidth;
    terms[Term::launch] = h.launch;
    terms.prologue = h.dram_latency / h.clock;
    const auto most = std::max_element(terms.seconds.begin(), terms.seconds.end());
    p.bound = static_cast<Term>(most - terms.seconds.begin());
    p.time = std::max({terms[Term::compute], terms[Term::l1], terms[Term::l2], terms[Term::dram]}) +
             terms[Term::launch] + terms.prologue;
    p.regime = Regime::streaming;
}

}  // namespace gambrel::delta_detail
