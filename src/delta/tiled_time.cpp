#include <algorithm>
#include <cmath>

#include "delta/time_formula.hpp"

namespace gambrel::delta_detail {

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
    const bool asynchronous = queues_copies(c);
    const bool hidden = asynchronous && t[Term::latency] + around < t[memory] + once;
    if (hidden) around = waiting = once;
    const bool by_memory = asynchronous ? hidden : t[memory] > t[Term::latency];
    const Term filling = longest(t, {Term::compute, Term::issue, Term::shared});
    const Term busy = t[filling] > kFilled * t[Term::latency] ? filling : Term::latency;
    around = std::min(around, p.time - exposed[Term::launch]);
    exposed[Term::latency] += std::min(waiting, around);
    exposed[Term::dram] += around - std::min(waiting, around);
    if (!by_memory) exposed[Term::shared] += t.staged;
    exposed[by_memory ? memory : busy] += p.time - exposed[Term::launch] - around - (by_memory ? Seconds{} : t.staged);
    return exposed;
}

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

Seconds time_of(const LaunchCounts& n, const ModelInputs& h) { return time_of_counts(n, h); }

void time_tiled(const TiledLaunch& c, TimedTraffic& p) {
    const double groups = c.layer.groups;
    TimeTerms& t = p.terms;
    p.time = by_matrix_units(c) ? matrix_time_of(c, p.traffic, t) : time_of(c, p.traffic, t);
    const Seconds busy = t[Term::latency];
    if (groups > 1) {
        for (Seconds& seconds : t.seconds) seconds *= groups;
        t.prologue *= groups;
        t.epilogue *= groups;
        t.staged *= groups;
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
