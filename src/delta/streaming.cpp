#include <algorithm>

#include "delta/levels.hpp"

namespace gambrel::delta_detail {

Seconds streaming_time(const PreparedLayer& layer, const ModelInputs& h, TimeTerms& t, Traffic&) {
    const FlopRate rate = std::max(FlopRate{1}, h.flop_per_cycle[layer.mapping.pipe] * h.sms * h.clock);
    t[Term::compute] = layer.flop / rate;
    t[Term::l1] = layer.l1.total() / (h.l1_width * h.sms * h.clock);
    t[Term::l2] = layer.l2.total() / h.l2_bandwidth;
    t[Term::dram] = layer.dram.total() / h.dram_bandwidth;
    if (!kernels_alone(layer)) t[Term::launch] = h.launch;
    t.prologue = h.dram_latency / h.clock;
    return t[longest(t, {Term::compute, Term::l1, Term::l2, Term::dram})] + t[Term::launch] + t.prologue;
}

}  // namespace gambrel::delta_detail
