#include <algorithm>
#include <cmath>

#include <gambrel/delta.hpp>

namespace gambrel {
namespace {

double latency(const Machine& machine, Level level, double otherwise) {
    const MemoryLevel* found = machine.find(level);
    return found && found->latency ? found->latency->value.value() : otherwise;
}

double bandwidth(const Machine& machine, Level level, Frequency clock, Roofs roofs, double otherwise) {
    const auto ceiling = memory_ceiling(machine, level, clock, roofs);
    return ceiling ? ceiling->value.value() : otherwise;
}

// Of the DRAM's pins, where nothing was measured: refresh, turnarounds and row changes take the rest. 0.91 to 0.96 of
// the datasheet's rate on V100, A100 and H100 in shared/data/measured/ceilings_summary.csv.
constexpr double kDramReach = 0.92;

// From the end of one kernel of a stream to the start of the next.
constexpr double kLaunch = 4.6e-6;
// Of the geometric mean of base and boost, under load; and of that, once the load has lasted.
constexpr double kHeld = 1.06, kHeldLong = 0.7;

// Boost where the board can feed it. Boards whose base clock is less than half of it (T4, L4: 70 and 72 W) reach about
// the geometric mean under load, and fall towards base while it lasts; seen on T4's GEMMs, whose clock nobody logged.
bool slot_powered(const Clocks& clocks) {
    return clocks.boost && clocks.base && clocks.base->value.value() < 0.45 * clocks.boost->value.value();
}
Frequency held_clock(const Clocks& clocks) {
    if (!clocks.boost) return clocks.base ? clocks.base->value : Frequency{1.4e9};
    const double boost = clocks.boost->value.value(), base = clocks.base ? clocks.base->value.value() : boost;
    return Frequency{slot_powered(clocks) ? kHeld * std::sqrt(base * boost) : boost};
}

}  // namespace

Hardware hardware(const Machine& machine, std::optional<Frequency> clock, Roofs roofs) {
    Hardware h;
    const Frequency at = clock.value_or(held_clock(machine.clocks));
    h.clock = at.value();
    if (!clock && slot_powered(machine.clocks)) h.clock_long = kHeldLong * h.clock;
    h.sms = machine.sm.sms ? machine.sm.sms->value : 80;
    h.schedulers = machine.sm.schedulers ? machine.sm.schedulers->value : 4;
    for (const Pipe pipe : all_pipes()) {
        const Arithmetic& a = machine.pipes[pipe];
        if (a.dense) h.flop_per_cycle[pipe] = a.dense->value.value();
        // A measured peak is of the whole device at the clock it ran at.
        if (roofs == Roofs::measured && a.measured && a.measured->clock && !a.dense)
            h.flop_per_cycle[pipe] = a.measured->ceiling.value.value() / a.measured->clock->value() / h.sms;
    }
    const double per_sm = h.clock * h.sms;
    h.shared_width = bandwidth(machine, Level::shared, at, roofs, 128 * per_sm) / per_sm;
    h.l1_width = bandwidth(machine, Level::l1, at, roofs, 64 * per_sm) / per_sm;
    h.dram_bandwidth = bandwidth(machine, Level::dram, at, roofs, 500e9);
    const MemoryLevel* dram = machine.find(Level::dram);
    if (roofs == Roofs::measured && !(dram && dram->measured)) h.dram_bandwidth *= kDramReach;
    h.l2_bandwidth = bandwidth(machine, Level::l2, at, roofs, 3 * h.dram_bandwidth);
    h.l1_latency = latency(machine, Level::l1, 30);
    h.l2_latency = latency(machine, Level::l2, 220);
    h.dram_latency = latency(machine, Level::dram, 500);
    const MemoryLevel* l2 = machine.find(Level::l2);
    h.l2_capacity = l2 && l2->capacity ? l2->capacity->value.value() : 4e6;
    h.cc = machine.compute_capability.value_or(ComputeCapability{9, 0});
    // From A100 on, each half of L2 keeps its own copy of what its SMs read.
    const bool halves = l2 && l2->partitions && l2->partitions->value >= 2 && h.cc.major >= 8;
    if (halves) h.l2_capacity /= 2;
    h.launch = kLaunch;
    return h;
}

}  // namespace gambrel
