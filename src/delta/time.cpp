#include <algorithm>
#include <cmath>

#include "delta/levels.hpp"

namespace gambrel::delta_detail {
namespace {

// A warp issues at most every other cycle, so one alone on its scheduler leaves half of the slots free.
constexpr double kWarpInterval = 2;

struct Step {  // of one CTA, cycles of its SM
    double compute, issue, latency, shared;
    [[nodiscard]] double of(double ctas) const {
        return std::max({compute * ctas, issue * ctas, shared * ctas, latency});
    }
};

// Instructions of one warp in a k-step: multiplications, fragments from shared memory (16 bytes a thread), loads and
// stores of the next tile, and the loop.
double instructions(const Case& c) {
    const Mapping& m = c.mapping;
    const double warps = m.threads / 32.0, slices = m.warp.k > 0 ? static_cast<double>(m.cta.k) / m.warp.k : 1;
    const double outputs = static_cast<double>(m.cta.m) * m.cta.n * slices / m.threads;
    const double k = m.cta.k / slices, side = std::sqrt(outputs);
    const double loads = 2.0 * (m.cta.m + m.cta.n) * m.cta.k / (m.threads * std::max(1, std::min(m.a.vector, 4)));
    static_cast<void>(warps);
    return k * (outputs + 2 * side * 4 / 16) + loads + 24;
}

Step step_of(const Case& c) {
    const Mapping& m = c.mapping;
    const Hardware& h = c.hardware;
    const double macs = static_cast<double>(m.cta.m) * m.cta.n * m.cta.k;
    const double warps = m.threads / 32.0;
    Step s{};
    const double rate = std::max(1.0, h.flop_per_cycle[m.pipe]);
    s.compute = 2 * macs / rate;
    if (!is_tensor(m.pipe)) {
        const double packed = m.pipe == Pipe::fp16 || m.pipe == Pipe::bf16 ? 0.5 : 1;
        const double instr = instructions(c) * packed;
        s.issue = instr * warps / h.schedulers;
        s.latency = instr * kWarpInterval * std::max(1.0, warps / h.schedulers / 2);
    } else {
        // Loads of the next stages are under way while one is multiplied; what remains is a barrier and a fragment load.
        s.latency = s.compute + 60;
    }
    const double total = c.geometry.element * m.cta.k;
    const double slices = m.warp.k > 0 ? static_cast<double>(m.cta.k) / m.warp.k : 1;
    s.shared = total * (m.cta.m + m.cta.n + (m.warp.m + m.warp.n) * warps / slices) / h.shared_width;
    if (c.mapping.a.asynchronous && h.cc.major >= 9) s.shared = total * (m.cta.m + m.cta.n) / h.shared_width;
    return s;
}

// CTAs in waves. The first is dealt evenly; where waves end together, the SM that is first takes as many of the rest as
// fit, so a last wave costs more than an even share of it.
struct Waves {
    double full, rest;      // whole waves, CTAs beyond
    double even, gathered;  // CTAs of the busiest SM in the last one: dealt evenly, or as they came
};
constexpr double kGathering = 0.3;

Waves waves_of(const Case& c) {
    const double ctas = static_cast<double>(c.grid.ctas()), per_sm = std::max(1, c.occupancy.ctas_per_sm);
    Waves w{};
    w.full = std::floor(ctas / (per_sm * c.hardware.sms));
    w.rest = ctas - w.full * per_sm * c.hardware.sms;
    w.even = std::ceil(w.rest / c.hardware.sms);
    w.gathered = w.full > 0 && w.rest > 0 ? w.even + kGathering * (per_sm - w.even) : w.even;
    return w;
}

Term longest(const TimeTerms& t) {
    std::size_t at = 0;
    for (std::size_t i = 1; i < kTerms; ++i)
        if (t.seconds[i] > t.seconds[at]) at = i;
    return static_cast<Term>(at);
}

Regime regime_of(const Case& c, double waves) {
    if (is_tensor(c.mapping.pipe)) return Regime::tensor_core;
    if (c.grid.k_steps * c.mapping.cta.k < 128) return Regime::short_reduction;
    if (waves <= 1) return Regime::one_wave;
    return waves < 4 ? Regime::few_waves : Regime::many_waves;
}

}  // namespace

void time(const Case& c, const Layer& layer, Prediction& p) {
    const Hardware& h = c.hardware;
    const Step step = step_of(c);
    const Waves w = waves_of(c);
    const double per_sm = std::max(1, c.occupancy.ctas_per_sm);
    const double useful = c.geometry.work;
    // The first tile must come from memory, and the outputs leave; both overlap with other CTAs of the SM.
    const double steps = static_cast<double>(c.grid.k_steps) * useful + 1.5;
    const auto run = [&](auto&& of) { return steps * (w.full * of(per_sm) + of(w.gathered)); };
    const double hz = h.clock;
    TimeTerms& t = p.terms;
    t[Term::compute] = run([&](double n) { return step.compute * n; }) / hz;
    t[Term::issue] = run([&](double n) { return step.issue * n; }) / hz;
    t[Term::shared] = run([&](double n) { return step.shared * n; }) / hz;
    t[Term::latency] = run([&](double n) { return n > 0 ? step.of(n) : 0; }) / hz;
    t[Term::l1] = p.traffic.l1.total() / (h.l1_width * h.sms) / hz;
    t[Term::l2] = p.traffic.l2.total() / h.l2_bandwidth;
    t[Term::dram] = p.traffic.dram.total() / h.dram_bandwidth;
    const bool call = layer.hints.kernel.empty() && !layer.hints.algorithm.empty();
    t[Term::launch] = h.launch * c.mapping.launches + (call ? 16e-6 : 0);
    t.prologue = (h.dram_latency + h.l2_latency) / hz;
    t.epilogue = h.dram_latency / hz;
    t.waves = static_cast<double>(c.grid.ctas()) / (per_sm * h.sms);
    const double busy = t[Term::latency];
    const double even = steps * step.of(per_sm) / per_sm * static_cast<double>(c.grid.ctas()) / h.sms / hz;
    t.tail = even > 0 ? busy / even : 1;
    const double longest_time = std::max({busy, t[Term::l1], t[Term::l2], t[Term::dram]});
    p.time = longest_time + t.prologue + t.epilogue + t[Term::launch];
    p.regime = regime_of(c, t.waves);
    // The busy time is named by what fills it; latency only where nothing else does.
    TimeTerms named = t;
    const double filled = std::max({t[Term::compute], t[Term::issue], t[Term::shared]});
    if (filled > 0.9 * busy) named[Term::latency] = 0;
    p.bound = longest(named);
}

}  // namespace gambrel::delta_detail
