#include <algorithm>
#include <cmath>

#include "delta/levels.hpp"

namespace gambrel::delta_detail {
namespace {

// Searches over designs need the time alone. Inlined there, what only a prediction shows is not computed.
#define GAMBREL_INLINED [[gnu::always_inline]] inline

// Most kinds of work are none in most launches, and a division is dear.
template <class Work, class Rate>
GAMBREL_INLINED auto taken(Work work, Rate rate) {
    return work.value() > 0 ? work / rate : decltype(work / rate){};
}

GAMBREL_INLINED CtaWork cta_work(const LaunchCounts& n, const ModelInputs& h) {
    const FlopPerCycle rate = larger(FlopPerCycle{1}, h.flop_per_cycle[n.pipe]);
    CtaWork w;
    w.compute = n.multiplied / rate;
    w.shared = n.shared / h.shared_width;
    if (n.tensor) {
        w.compute = w.compute / n.reach;
        w.latency = w.compute + n.barriers;
        return w;
    }
    w.compute += taken(n.scalar_loads, rate);
    w.compute *= n.tap_offsets;
    w.compute *= n.sliced;
    w.issue = Cycles{n.issued / h.schedulers * n.issue_slots};
    w.latency = n.in_turn * std::max(1.0, n.warps / h.schedulers / 2);
    if (n.per_sm == 1 && !n.unfilled) w.apart = n.around_loop * std::max(1.0, n.warps / h.schedulers / 2);
    if (n.unfilled) {
        w.latency = w.issue;
        w.unfilled = *n.unfilled;
    }
    w.compute += taken(n.engine_loads, rate);
    w.issue += taken(Cycles{n.engine_slots}, h.schedulers);
    w.compute += taken(n.transformed, rate);
    if (n.engine_steps > 0) {
        const Cycles far = n.engine_steps * (n.waits_for_l2 ? h.l2_latency : h.dram_latency);
        const Cycles wait = n.wait_is_shared ? n.engine_steps * h.l2_latency : far;
        (n.wait_is_filled ? w.latency : w.unfilled) += wait;
        w.fetching = larger(Cycles{}, far - wait);
    }
    if (n.engine_steps > 0 || n.full_waves < 1) w.places = std::max(1.0, h.schedulers / n.warps);
    return w;
}

// Clock over what the board's power leaves of it. A product on CUDA cores takes at least the time in which its energy
// can be fed, less what the pauses before it left, or the other kernels of a stream; a shorter one runs at boost. On
// Tensor Cores power is averaged over about a millisecond. Convolutions on CUDA cores, which spend a tenth of their
// slots on offsets, were not seen to fall; on Tensor Cores all of them run at the lower clock.
GAMBREL_INLINED double slow_down(const LaunchCounts& n, const ModelInputs& h, Seconds busy) {
    if (!n.tensor) {
        const Calibration& fit = *h.calibration;
        const Seconds fed = n.fed / h.fed;
        const Seconds boosted = busy / h.burst;
        if (n.call <= Seconds{}) return larger(boosted, fed * fit.power_share) / busy;
        const Seconds longer = larger(Seconds{}, fed - boosted);
        return (boosted + longer * (fed / (fed + fit.power_settling))) / busy;
    }
    const double length = busy / h.calibration->power_window;
    const double above = n.gemm ? 1 / (1 + length * length) : 0;
    return 1 / (h.matrix_clock + above * (1 - h.matrix_clock));
}

GAMBREL_INLINED void hold_clock(const LaunchCounts& n, const ModelInputs& h, TimeTerms& t) {
    const bool limited = n.tensor ? h.burst > 1 : n.fed > Flops{} && h.fed > FlopRate{};
    if (!limited || t[Term::latency] <= Seconds{}) return;
    const double slower = slow_down(n, h, t[Term::latency]);
    t[Term::compute] *= slower;
    t[Term::issue] *= slower;
    t[Term::shared] *= slower;
    t[Term::latency] *= slower;
}

// What the chain of sums takes beyond the rounds is not hidden.
GAMBREL_INLINED Seconds sums_in_order(const LaunchCounts& n, const ModelInputs& h, Seconds busy) {
    if (n.parts <= 1) return {};
    const Seconds link = n.sum_share * h.calibration->ordered_sum / h.clock;
    return larger((n.together - 1) * link, (n.parts - 1) * link - busy * (1 - 1 / n.sum_rounds));
}

GAMBREL_INLINED Seconds dram_time(const LaunchCounts& n, const ModelInputs& h) { return n.dram / data_bandwidth(h); }

// The time of one CTA's SM and of every level, each alone.
GAMBREL_INLINED void fill_terms(const LaunchCounts& n, const ModelInputs& h, TimeTerms& t) {
    const CtaWork work = cta_work(n, h);
    const auto run = [&](auto&& of) { return (n.full_waves * of(n.per_sm) + of(n.gathered)) / h.clock; };
    t[Term::compute] = run([&](double ctas) { return work.compute * ctas; });
    t[Term::issue] = run([&](double ctas) { return work.issue * ctas; });
    t[Term::shared] = run([&](double ctas) { return work.shared * ctas; });
    t[Term::latency] =
        run([&](double ctas) { return work.of(ctas); }) - taken(waves_behind_first(n) * n.filled_later, h.clock);
    t[Term::l1] = n.l1 / h.l1_width_of_all() / h.clock;
    t[Term::l2] = n.l2 / h.l2_bandwidth;
    t[Term::dram] = dram_time(n, h);
    t[Term::launch] = n.alone ? n.cold_start + taken(n.borders, h.clock) : h.launch * n.launches;
    // The first tile must come before anything is multiplied, and the outputs leave after all is: with one CTA on an SM
    // nothing overlaps with that, with several the others work meanwhile.
    const Seconds first = n.read / h.dram_bandwidth / n.k_steps;
    t.prologue = (first + n.rounds * (h.dram_latency + h.l2_latency) / h.clock) / n.per_sm;
    const Seconds stored = n.stores_apart ? Seconds{} : n.stored / h.dram_bandwidth;
    t.epilogue = (stored + n.rounds * h.dram_latency / h.clock) / n.per_sm;
    t.waves = n.ctas / (n.per_sm * h.sms);
    hold_clock(n, h, t);
    const Seconds even = work.of(n.per_sm) / n.per_sm * n.ctas / h.sms / h.clock;
    t.tail = even > Seconds{} ? t[Term::latency] / even : 1;
}

// CTAs of engines and of fused Winograd keep step, so that the outputs of a wave are stored while nothing is
// multiplied. What the memory's time beyond that of the multiplications has room for is in it.
GAMBREL_INLINED Seconds stores_beside(const LaunchCounts& n, const ModelInputs& h, Seconds busy, Seconds memory) {
    const Seconds stored = n.stored / h.dram_bandwidth;
    return larger(Seconds{}, stored - larger(Seconds{}, memory - busy));
}

// The main kernel by itself.
GAMBREL_INLINED Seconds kernel_time(const LaunchCounts& n, const ModelInputs& h, TimeTerms& t) {
    fill_terms(n, h, t);
    t[Term::latency] += sums_in_order(n, h, t[Term::latency]);
    const Seconds busy = t[Term::latency], memory = larger(larger(t[Term::l1], t[Term::l2]), t[Term::dram]);
    if (n.stores_apart) t.epilogue += stores_beside(n, h, busy, memory);
    const Seconds around = t.prologue + t.epilogue;
    // Copies that need no registers are queued while the tile before them is multiplied, so the first tile and the
    // outputs of one CTA pass under the memory's time for the others; else the memory rests meanwhile.
    return n.asynchronous ? larger(busy + around, memory + (h.dram_latency + h.l2_latency) / h.clock)
                          : larger(busy, memory) + around;
}

// Transforms fill the multipliers, or where an SM has more of these than its schedulers can issue to, the schedulers.
GAMBREL_INLINED Seconds slots_time(const LaunchCounts& n, const ModelInputs& h) {
    if (n.beside_slots <= 0) return {};
    const double lanes = h.flop_per_cycle[Pipe::fp32].value() / 2, issued = 32 * h.schedulers;
    return Cycles{n.beside_slots / (h.sms * std::max(1.0, std::min(lanes, issued)))} / h.clock;
}

GAMBREL_INLINED Seconds beside_time(const LaunchCounts& n, const ModelInputs& h) {
    const Seconds moved =
        larger(taken(n.beside_dram, n.beside_reach * data_bandwidth(h)), taken(n.beside_l2, h.l2_bandwidth));
    const Cycles alone = n.beside_rows * h.dram_latency + n.beside_rows_in_l2 * h.l2_latency + n.beside_cycles;
    return larger(moved, slots_time(n, h)) + taken(alone, h.clock);
}

// All kernels, with what lies between them.
GAMBREL_INLINED Seconds call_time(const LaunchCounts& n, const ModelInputs& h, const TimeTerms& t, Seconds kernel) {
    const Seconds all = larger(kernel, n.products_in_turn) + beside_time(n, h);
    return n.call + taken(n.offsets, h.clock) +
           (n.groups > 1 || n.queued ? n.groups * larger(all, t[Term::launch]) : all + t[Term::launch]);
}

#undef GAMBREL_INLINED

}  // namespace

PerTerm exposed_time(const TiledLaunch& c, const TimedTraffic& p) {
    const TimeTerms& t = p.terms;
    const ModelInputs& h = c.gpu;
    PerTerm exposed{};
    exposed[Term::launch] = std::min(t[Term::launch], p.time);
    const double per_sm = std::max(1, c.occupancy.ctas_per_sm);
    const Seconds once = (h.dram_latency + h.l2_latency) / h.clock;
    const Term memory = longest(t, {Term::l1, Term::l2, Term::dram});
    Seconds around = t.prologue + t.epilogue;
    Seconds waiting = std::ceil(t.waves) * (once + h.dram_latency / h.clock) / per_sm;
    const bool asynchronous = c.mapping.a.asynchronous;
    const bool hidden = asynchronous && t[Term::latency] + around < t[memory] + once;
    if (hidden) around = waiting = once;
    const bool by_memory = asynchronous ? hidden : t[memory] > t[Term::latency];
    const Term filling = longest(t, {Term::compute, Term::issue, Term::shared});
    const Term busy = t[filling] > kFilled * t[Term::latency] ? filling : Term::latency;
    around = std::min(around, p.time - exposed[Term::launch]);
    exposed[Term::latency] += std::min(waiting, around);
    exposed[Term::dram] += around - std::min(waiting, around);
    exposed[by_memory ? memory : busy] += p.time - exposed[Term::launch] - around;
    return exposed;
}

double data_share(const ModelInputs& gpu) { return std::max(0.1, 1 - gpu.calibration->ecc_refetch * gpu.check_bits); }

void bound_rereads(Seconds kernel, Bandwidth dram, Traffic& t) {
    const Bytes excess = t.dram.total() - kernel * dram;
    const Bytes uneven = t.dram_uneven.total();
    if (excess <= Bytes{} || uneven <= Bytes{}) return;
    const double dropped = std::min(1.0, excess / uneven);
    t.dram.a -= t.dram_uneven.a * dropped;
    t.dram.b -= t.dram_uneven.b * dropped;
    t.dram_uneven *= 1 - dropped;
}

CtaWork work_of(const TiledLaunch& c) {
    Traffic traffic;
    traffic.l1 = c.layer.l1;
    return cta_work(launch_counts(c, traffic), c.gpu);
}

Seconds transform_time(const TiledLaunch& c) {
    LaunchCounts n;
    count_beside(c, n);
    return beside_time(n, c.gpu);
}

Regime regime_of(const TiledLaunch& c, double waves) {
    const bool product = c.layer.gemm;
    if (c.layer.groups > 1) return Regime::groups_in_turn;
    switch (c.mapping.transform) {
        case Transform::winograd_fused:
            return Regime::winograd;
        case Transform::winograd_separate:
            return Regime::winograd_separate;
        case Transform::fft:
        case Transform::fft_tiled:
            return Regime::fourier;
        case Transform::none:
            break;
    }
    if (is_tensor(c.mapping.pipe) && !product) return Regime::tensor_core;
    if (is_tensor(c.mapping.pipe)) return c.geometry.element < Bytes{2} ? Regime::narrow_gemm : Regime::tensor_gemm;
    if (c.grid.k_steps * c.mapping.cta.k < 128)
        return product ? Regime::product_short_reduction : Regime::short_reduction;
    if (waves <= 1) return product ? Regime::product_one_wave : Regime::one_wave;
    if (waves < 4) return product ? Regime::product_few_waves : Regime::few_waves;
    return product ? Regime::product_many_waves : Regime::many_waves;
}

Seconds time_of(const TiledLaunch& c, Traffic& traffic, TimeTerms& t) {
    const LaunchCounts n = launch_counts(c, traffic);
    const Seconds kernel = kernel_time(n, c.gpu, t);
    bound_rereads(kernel, c.gpu.dram_bandwidth, traffic);
    return call_time(n, c.gpu, t, kernel);
}

Seconds time_of(const LaunchCounts& n, const ModelInputs& h) {
    TimeTerms t;
    const Seconds kernel = kernel_time(n, h, t);
    return call_time(n, h, t, kernel);
}

void time_tiled(const TiledLaunch& c, TimedTraffic& p) {
    const double groups = c.layer.groups;
    TimeTerms& t = p.terms;
    p.time = by_matrix_units(c) ? matrix_time_of(c, p.traffic, t) : time_of(c, p.traffic, t);
    const Seconds busy = t[Term::latency];
    if (groups > 1) {
        for (Seconds& seconds : t.seconds) seconds *= groups;
        t.prologue *= groups;
        t.epilogue *= groups;
    }
    t[Term::launch] += call_overhead(c);
    TimeTerms named = t;
    if (groups == 1) named[Term::launch] = Seconds{};
    const Seconds filled = std::max({t[Term::compute], t[Term::issue], t[Term::shared]});
    if (filled > kFilled * busy) named[Term::latency] = Seconds{};
    p.bound = longest(
        named, {Term::compute, Term::issue, Term::latency, Term::shared, Term::l1, Term::l2, Term::dram, Term::launch});
}

}  // namespace gambrel::delta_detail
