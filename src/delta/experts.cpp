#include <algorithm>

#include "delta/levels.hpp"

namespace gambrel::delta_detail {

Seconds experts_time(const PreparedLayer& layer, const ModelInputs& h, TimeTerms& t, Traffic& traffic) {
    const FlopRate rate = std::max(FlopRate{1}, h.flop_per_cycle[layer.mapping.pipe] * h.sms * h.clock);
    t[Term::compute] = layer.flop / rate;
    t[Term::l2] = traffic.l2.total() / h.l2_bandwidth;
    t[Term::dram] = traffic.dram.total() / h.dram_bandwidth;
    t[Term::launch] = h.launch;
    t.prologue = h.dram_latency / h.clock;
    return t[longest(t, {Term::compute, Term::l2, Term::dram})] + t[Term::launch] + t.prologue;
}

}  // namespace gambrel::delta_detail
