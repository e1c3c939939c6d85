// Bounds of times from below: amounts of work and the time of a unit of each.
#pragma once

#include "delta/time_formula.hpp"

namespace gambrel::delta_detail {

template <class Number>
struct BasicUnitTimes {
    Quantity<0, -1, 1, 0, Number> flop;
    Quantity<0, 0, 1, 0, Number> slot;
    Quantity<0, 0, 1, -1, Number> cycle;
    Quantity<-1, 0, 1, 0, Number> shared, l1, l2, dram;
};

template <class Inputs>
BasicUnitTimes<NumberOf<Inputs>> unit_times_of(const Inputs& h, Pipe pipe) {
    const auto unit = [](auto rate) { return Seconds{1} / (rate * Seconds{1}); };
    const auto fastest = h.burst * h.clock;
    const auto cycle = unit(fastest);
    return {unit(larger(FlopPerCycle{1}, h.flop_per_cycle[pipe]) * fastest),
            CyclesOf<Inputs>{1 / h.schedulers} * cycle,
            cycle,
            unit(h.shared_width * fastest),
            unit(h.l1_width_of_all() * fastest),
            unit(h.l2_bandwidth),
            unit(h.dram_bandwidth)};
}

template <class Number>
auto least_time_of(const LeastWork& w, const BasicUnitTimes<Number>& u) {
    constexpr double kRounding = 1 - 1e-9;  // the bound must hold to the last bit
    const auto sm =
        larger(larger(w.multiplied * u.flop, w.issued * u.slot), larger(w.shared * u.shared, w.waited * u.cycle));
    const auto moved = larger(larger(w.l1 * u.l1, w.l2 * u.l2), w.dram * u.dram);
    return kRounding * (larger(sm, moved) + (w.dram_alone * u.dram + w.waited_alone * u.cycle + w.alone));
}

}  // namespace gambrel::delta_detail
