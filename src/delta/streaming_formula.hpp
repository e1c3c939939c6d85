// The time of a layer that streams, as time_formula.hpp has that of a launch with tiles.
#pragma once

#include "delta/time_formula.hpp"

namespace gambrel::delta_detail {

// A sum of powers, which is the longer one where they differ.
template <class Time>
Time joined(Time a, Time b, double exponent) {
    return Time{power(power(a.value(), exponent) + power(b.value(), exponent), 1 / exponent)};
}

template <class Inputs>
SecondsOf<Inputs> time_of_counts(const StreamingCounts& n, const Inputs& h, TermsOf<Inputs>& t) {
    t[Term::compute] = n.multiplied / larger(FlopRate{1}, h.flop_per_cycle[n.pipe] * h.sms * h.clock);
    CyclesOf<Inputs> issued = n.rows;
    if (n.of_lanes > 0) {
        const auto lanes = larger(1.0, h.flop_per_cycle[Pipe::fp32].value() / 2);
        issued = larger(issued, CyclesOf<Inputs>{n.of_lanes / (lanes * h.sms)});
    }
    if (n.of_schedulers > 0) issued = larger(issued, CyclesOf<Inputs>{n.of_schedulers / (h.schedulers * h.sms)});
    t[Term::issue] = issued / h.clock;
    t[Term::latency] = n.waited / h.clock;
    t[Term::l1] = n.l1 / (h.l1_width_of_all() * h.clock);
    t[Term::l2] = n.l2 / h.l2_bandwidth * n.l2_passes;
    t[Term::dram] = n.dram / h.dram_bandwidth / n.reach;
    t[Term::launch] = n.launch;
    t.prologue = n.first / h.clock;
    const auto bytes = larger(larger(t[Term::l1], t[Term::l2]), t[Term::dram]);
    auto busy = larger(larger(larger(t[Term::compute], t[Term::issue]), t[Term::latency]), bytes);
    if (n.blend > 0) busy = larger(busy, joined(t[Term::latency], bytes, n.blend));
    const auto kernel = busy + t[Term::launch] + t.prologue;
    const auto launched = n.host - n.host_ahead / h.dram_bandwidth;
    t[Term::launch] += larger(Seconds{}, launched - kernel);
    return larger(kernel, launched);
}

}  // namespace gambrel::delta_detail
