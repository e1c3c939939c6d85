// The time of what a launch does, from its counts and the rates of a design: one source for one design and for several
// at once. `Inputs` is ModelInputs or LaneInputs; what differs between designs has the type of its clock. Conditions
// are on what the designs share.
#pragma once

#include <algorithm>
#include <cmath>

#include "delta/lanes.hpp"
#include "delta/levels.hpp"

namespace gambrel::delta_detail {

// Searches over designs need the time alone. Inlined there, what only a prediction shows is not computed.
#define GAMBREL_INLINED [[gnu::always_inline]] inline

template <class Inputs>
using NumberOf = std::remove_cvref_t<decltype(std::declval<const Inputs&>().clock.value())>;
template <class Inputs>
using SecondsOf = Quantity<0, 0, 1, 0, NumberOf<Inputs>>;
template <class Inputs>
using CyclesOf = Quantity<0, 0, 0, 1, NumberOf<Inputs>>;
template <class Inputs>
using TermsOf = BasicTimeTerms<NumberOf<Inputs>>;

// Most kinds of work are none in most launches, and a division is dear.
template <class Work, class Rate>
GAMBREL_INLINED auto taken(Work work, Rate rate) {
    return work.value() > 0 ? work / rate : decltype(work / rate){};
}

template <class Inputs>
GAMBREL_INLINED auto cta_work(const LaunchCounts& n, const Inputs& h) {
    const auto rate = larger(FlopPerCycle{1}, h.flop_per_cycle[n.pipe]);
    BasicCtaWork<NumberOf<Inputs>> w;
    w.compute = n.multiplied / rate;
    w.shared = n.shared / h.shared_width;
    if (n.tensor) {
        w.compute = w.compute / n.reach;
        w.latency = w.compute + n.barriers;
        if (n.per_sm == 1) w.apart = n.barriers + n.staged / h.shared_width;
        return w;
    }
    w.compute += taken(n.scalar_loads, rate);
    w.compute *= n.tap_offsets;
    w.compute *= n.sliced;
    w.issue = CyclesOf<Inputs>{n.issued / h.schedulers * n.issue_slots};
    w.latency = n.in_turn * larger(1.0, n.warps / h.schedulers / 2);
    if (n.per_sm == 1 && !n.unfilled) w.apart = n.around_loop * larger(1.0, n.warps / h.schedulers / 2);
    if (n.unfilled) {
        w.latency = w.issue;
        w.unfilled = *n.unfilled;
    }
    const auto loads = taken(n.engine_loads, rate);
    w.compute += loads;
    // While one line after the other passes, the instructions of further loads are issued.
    w.scattered = larger(Cycles{}, taken(n.scattered, h.shared_width) - loads);
    w.issue += taken(Cycles{n.engine_slots}, h.schedulers);
    w.compute += taken(n.transformed, rate);
    if (n.engine_steps > 0) {
        const Cycles far = n.engine_steps * (n.waits_for_l2 ? h.l2_latency : h.dram_latency);
        const Cycles answered = n.wait_is_shared ? n.engine_steps * h.l2_latency : far;
        const Cycles wait = n.wait_is_beside ? Cycles{} : answered;
        if (n.wait_is_filled)
            w.latency += wait;
        else
            w.unfilled += wait;
        w.fetching = larger(Cycles{}, far - wait);
    }
    if (n.engine_steps > 0 || n.full_waves < 1) w.places = larger(1.0, h.schedulers / n.warps);
    return w;
}

// Clock over what the board's power leaves of it. A product on CUDA cores takes at least the time in which its energy
// can be fed, less what the pauses before it left, or the other kernels of a stream; a shorter one runs at boost. On
// Tensor Cores power is averaged over about a millisecond. Convolutions on CUDA cores, which spend a tenth of their
// slots on offsets, were not seen to fall; on Tensor Cores all of them run at the lower clock.
template <class Inputs>
GAMBREL_INLINED NumberOf<Inputs> slow_down(const LaunchCounts& n, const Inputs& h, SecondsOf<Inputs> busy) {
    if (!n.tensor) {
        const Calibration& fit = *h.calibration;
        const auto fed = n.fed / h.fed;
        const auto boosted = busy / h.burst;
        if (n.call <= Seconds{}) return larger(boosted, fed * fit.power_share) / busy;
        const auto longer = larger(Seconds{}, fed - boosted);
        return (boosted + longer * (fed / (fed + fit.power_settling))) / busy;
    }
    const auto length = busy / h.calibration->power_window;
    const NumberOf<Inputs> above = n.gemm ? 1 / (1 + length * length) : 0;
    return 1 / (h.matrix_clock + above * (1 - h.matrix_clock));
}

template <class Inputs>
GAMBREL_INLINED void hold_clock(const LaunchCounts& n, const Inputs& h, TermsOf<Inputs>& t) {
    const bool limited = n.tensor ? h.burst > 1 : n.fed > Flops{} && any(h.fed > FlopRate{});
    const auto is_busy = t[Term::latency] > Seconds{};
    if (!limited || !any(is_busy)) return;
    const auto slower = select(is_busy, slow_down(n, h, t[Term::latency]), NumberOf<Inputs>{1});
    t[Term::compute] *= slower;
    t[Term::issue] *= slower;
    t[Term::shared] *= slower;
    t[Term::latency] *= slower;
    t.staged *= slower;
}

// What the chain of sums takes beyond the rounds is not hidden.
template <class Inputs>
GAMBREL_INLINED SecondsOf<Inputs> sums_in_order(const LaunchCounts& n, const Inputs& h, SecondsOf<Inputs> busy) {
    if (n.parts <= 1) return {};
    const auto link = n.sum_share * h.calibration->ordered_sum / h.clock;
    return larger((n.together - 1) * link, (n.parts - 1) * link - busy * (1 - 1 / n.sum_rounds));
}

template <class Inputs>
GAMBREL_INLINED SecondsOf<Inputs> dram_time(const LaunchCounts& n, const Inputs& h) {
    return n.dram / data_bandwidth(h);
}

// What of the waits that only the first wave has passes while other CTAs of the SM are busy. A CTA with fewer
// warps than there are schedulers shares its own with as many others.
template <class Inputs>
GAMBREL_INLINED CyclesOf<Inputs> filled_beside(const LaunchCounts& n, const Inputs& h,
                                               const BasicCtaWork<NumberOf<Inputs>>& work) {
    if (!n.fills_beside || n.filled_later <= Cycles{}) return {};
    const auto others = larger(Cycles{}, work.busy(n.full_waves >= 1 ? n.per_sm : n.gathered) - work.busy(1));
    return smaller(CyclesOf<Inputs>{n.filled_later}, others * smaller(NumberOf<Inputs>{1}, n.warps / h.schedulers));
}

// The time of one CTA's SM and of every level, each alone.
template <class Inputs>
GAMBREL_INLINED void fill_terms(const LaunchCounts& n, const Inputs& h, TermsOf<Inputs>& t) {
    const auto work = cta_work(n, h);
    const auto run = [&](auto&& of) { return (n.full_waves * of(n.per_sm) + of(n.gathered)) / h.clock; };
    t[Term::compute] = run([&](double ctas) { return (work.compute + work.scattered) * ctas; });
    t[Term::issue] = run([&](double ctas) { return work.issue * ctas; });
    t[Term::shared] = run([&](double ctas) { return work.shared * ctas; });
    t[Term::latency] =
        run([&](double ctas) { return work.of(ctas); }) - taken(waves_behind_first(n) * n.filled_later, h.clock);
    if (n.fills_beside) t[Term::latency] -= filled_beside(n, h, work) / h.clock;
    if (n.staged > Bytes{}) t.staged = run([&](double ctas) { return ctas * n.staged / h.shared_width; });
    t[Term::l1] = n.l1 / h.l1_width_of_all() / h.clock;
    t[Term::l2] = n.l2 / h.l2_bandwidth;
    t[Term::dram] = dram_time(n, h);
    t[Term::launch] = n.alone ? n.cold_start + taken(n.borders, h.clock) : h.launch * n.launches;
    // The first tile must come before anything is multiplied, and the outputs leave after all is: with one CTA on an SM
    // nothing overlaps with that, with several the others work meanwhile.
    // CTAs of a convolution's wave are here together, those of a product one by one: DRAM then has time for check bits.
    const auto around = (n.gemm ? 1 : data_share(h)) * h.dram_bandwidth;
    const auto first = n.read / around / n.k_steps;
    t.prologue = (first + n.rounds * (h.dram_latency + h.l2_latency) / h.clock) / n.per_sm;
    const auto stored = n.stores_apart ? SecondsOf<Inputs>{} : n.stored / around;
    t.epilogue = (stored + n.rounds * h.dram_latency / h.clock) / n.per_sm;
    t.waves = n.ctas / (n.per_sm * h.sms);
    hold_clock(n, h, t);
    const auto even = work.of(n.per_sm) / n.per_sm * n.ctas / h.sms / h.clock;
    t.tail = select(even > Seconds{}, t[Term::latency] / even, NumberOf<Inputs>{1});
}

// CTAs of engines and of fused Winograd keep step, so that the outputs of a wave are stored while nothing is
// multiplied. What the memory's time beyond that of the multiplications has room for is in it.
template <class Inputs>
GAMBREL_INLINED SecondsOf<Inputs> stores_beside(const LaunchCounts& n, const Inputs& h, SecondsOf<Inputs> busy,
                                                SecondsOf<Inputs> memory) {
    const auto stored = n.stored / h.dram_bandwidth;
    return larger(Seconds{}, stored - larger(Seconds{}, memory - busy));
}

// Multiplications and memory beside each other. CTAs of two warps overlap them as kernels on Tensor Cores do.
template <class Inputs>
GAMBREL_INLINED SecondsOf<Inputs> overlapped(const LaunchCounts& n, SecondsOf<Inputs> busy, SecondsOf<Inputs> memory) {
    const auto longer = larger(busy, memory);
    if (!n.hides_in_part) return longer;
    const auto share = smaller(busy, memory) / longer;
    return longer * power(1 + share * share * share, 1.0 / 3);
}

// The main kernel by itself.
template <class Inputs>
GAMBREL_INLINED SecondsOf<Inputs> kernel_time(const LaunchCounts& n, const Inputs& h, TermsOf<Inputs>& t) {
    fill_terms(n, h, t);
    t[Term::latency] += sums_in_order(n, h, t[Term::latency]);
    const auto busy = t[Term::latency], memory = larger(larger(t[Term::l1], t[Term::l2]), t[Term::dram]);
    if (n.stores_apart) t.epilogue += stores_beside(n, h, busy, memory);
    const auto around = t.prologue + t.epilogue;
    // Copies that need no registers are queued while the tile before them is multiplied, so the first tile and the
    // outputs of one CTA pass under the memory's time for the others; else the memory rests meanwhile.
    return n.asynchronous ? larger(busy + around, memory + (h.dram_latency + h.l2_latency) / h.clock)
                          : overlapped<Inputs>(n, busy, memory) + around;
}

// Transforms fill the multipliers, or where the schedulers can issue no more than these take, the schedulers: from
// Volta on half of the instructions, those on addresses, have lanes of their own.
template <class Inputs>
GAMBREL_INLINED SecondsOf<Inputs> transforms_time(const LaunchCounts& n, const Inputs& h) {
    if (n.beside_numbers <= 0) return {};
    const Calibration& fit = *h.calibration;
    const auto multiplied = fit.fft_slots / larger(1.0, h.flop_per_cycle[Pipe::fp32].value() / 2);
    const auto issued = fit.fft_instructions / (32 * h.schedulers);
    return CyclesOf<Inputs>{n.beside_numbers / h.sms * larger(multiplied, issued)} / h.clock;
}

template <class Inputs>
GAMBREL_INLINED SecondsOf<Inputs> beside_time(const LaunchCounts& n, const Inputs& h) {
    const auto moved =
        larger(taken(n.beside_dram, n.beside_reach * data_bandwidth(h)), taken(n.beside_l2, h.l2_bandwidth));
    const Cycles alone = n.beside_rows * h.dram_latency + n.beside_rows_in_l2 * h.l2_latency + n.beside_cycles;
    auto beside = larger(moved, transforms_time(n, h)) + taken(alone, h.clock);
    if (n.beside_instructions > 0)
        beside += CyclesOf<Inputs>{n.beside_instructions / (32 * h.sms * h.schedulers)} / h.clock;
    return larger(beside, taken(n.beside_least, h.clock));
}

// All kernels, with what lies between them.
template <class Inputs>
GAMBREL_INLINED SecondsOf<Inputs> call_time(const LaunchCounts& n, const Inputs& h, const TermsOf<Inputs>& t,
                                            SecondsOf<Inputs> kernel) {
    const auto all = larger(kernel, n.products_in_turn) + beside_time(n, h);
    const auto apart = h.launch * (n.queued ? kLaunchesOfFilters : 0);
    return n.call + taken(n.offsets, h.clock) +
           (n.groups > 1 || n.queued ? n.groups * (apart + larger(all, t[Term::launch] - apart))
                                     : all + t[Term::launch]);
}

template <class Inputs>
GAMBREL_INLINED SecondsOf<Inputs> time_of_counts(const LaunchCounts& n, const Inputs& h) {
    TermsOf<Inputs> t;
    const auto kernel = kernel_time(n, h, t);
    return call_time(n, h, t, kernel);
}

#undef GAMBREL_INLINED

}  // namespace gambrel::delta_detail
