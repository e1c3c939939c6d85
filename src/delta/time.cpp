#include <algorithm>
#include <cmath>

#include "delta/levels.hpp"

namespace gambrel::delta_detail {
namespace {

// A warp issues at most every other cycle, so one alone on its scheduler leaves half of the slots free.
constexpr double kWarpInterval = 2;

// From one library call to the next where each is timed by itself, beside its kernels. Fitted on V100 (docs/model.md).
constexpr double kCall = 18e-6;
// s after which a slot-powered board has lost half of the way to its lower clock.
constexpr double kPowerWindow = 1.4e-3;
constexpr double kTapOffsets = 1.04;
// GP100's two schedulers issue a load or store beside a multiplication.
constexpr double kPairs = 0.89;
// Multiplier slots that an element of a tile costs whose rows are not aligned: it is loaded, checked and stored alone.
constexpr double kScalarLoad = 5;
// Kepler's FFMA reads three operands from four register banks, and conflicts cost issue slots.
constexpr double kKeplerBanks = 1.45;
// Of the peak of Volta's and Turing's HMMA.884 and .1688: fragments for it are read from the register file twice.
constexpr double kVoltaMatrix = 0.82;

struct Work {  // of one CTA from its start to its end, cycles of its SM
    double compute, issue, latency, shared;
    [[nodiscard]] double of(double ctas) const {
        return ctas > 0 ? std::max({compute * ctas, issue * ctas, shared * ctas, latency}) : 0;
    }
};

// Instructions of a warp outside of the loop: offsets of the rows, then scaling, bounds and address of each output.
// They take issue slots, and no multiplier: hidden where a multiplication occupies its lanes for more than one slot.
constexpr double kAround = 400, kPerOutput = 22;
// And of a k-step: counting, comparing, the barrier. On Tensor Cores cycles, where nothing else is issued meanwhile.
constexpr double kLoop = 24, kMatrixBarrier = 60;

// Instructions of one warp in a k-step: multiplications, fragments from shared memory (16 bytes a thread), loads and
// stores of the next tile, and the loop.
double instructions(const Case& c) {
    const Mapping& m = c.mapping;
    const double slices = m.warp.k > 0 ? static_cast<double>(m.cta.k) / m.warp.k : 1;
    const double outputs = static_cast<double>(m.cta.m) * m.cta.n * slices / m.threads;
    const double k = m.cta.k / slices, side = std::sqrt(outputs);
    const double loads = 2.0 * (m.cta.m + m.cta.n) * m.cta.k / (m.threads * std::max(1, std::min(m.a.vector, 4)));
    return k * (outputs + 2 * side * 4 / 16) + loads + kLoop;
}

Work work_of(const Case& c) {
    const Mapping& m = c.mapping;
    const Hardware& h = c.hardware;
    const double macs = static_cast<double>(m.cta.m) * m.cta.n * m.cta.k;
    const double warps = m.threads / 32.0;
    Work s{};
    const auto steps = static_cast<double>(c.grid.k_steps);
    const double rate = std::max(1.0, h.flop_per_cycle[m.pipe]);
    s.compute = steps * 2 * macs / rate;
    if (!is_tensor(m.pipe) && c.geometry.scalar_loads)
        s.compute += steps * 2 * kScalarLoad * (m.cta.m + m.cta.n) * m.cta.k / rate;
    // Offsets and bounds of taps are integer multiply-adds, which share the multipliers.
    if (!is_tensor(m.pipe) && c.geometry.taps > 1) s.compute *= kTapOffsets;
    if (is_tensor(m.pipe) && h.cc.major == 7) s.compute /= kVoltaMatrix;
    if (!is_tensor(m.pipe)) {
        const double packed = m.pipe == Pipe::fp16 || m.pipe == Pipe::bf16 ? 0.5 : 1;
        const double outputs = static_cast<double>(m.cta.m) * m.cta.n / m.threads;
        const double instr = steps * instructions(c) * packed + kAround + kPerOutput * outputs;
        s.issue = instr * warps / h.schedulers *
                  (h.cc.major < 5                    ? kKeplerBanks
                   : h.cc == ComputeCapability{6, 0} ? kPairs
                                                     : 1);
        s.latency = instr * kWarpInterval * std::max(1.0, warps / h.schedulers / 2);
    } else {
        // Loads of the next stages are under way while one is multiplied; what remains is a barrier and a fragment
        // load.
        s.latency = s.compute + kMatrixBarrier * steps;
    }
    const double total = c.geometry.element * m.cta.k;
    const double slices = m.warp.k > 0 ? static_cast<double>(m.cta.k) / m.warp.k : 1;
    s.shared = steps * total * (m.cta.m + m.cta.n + (m.warp.m + m.warp.n) * warps / slices) / h.shared_width;
    if (c.mapping.a.asynchronous && h.cc.major >= 9) s.shared = steps * total * (m.cta.m + m.cta.n) / h.shared_width;
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

// A table that counts the kernels of a call timed a framework's call, host work included (docs/model.md).
double framework_call(const Layer& layer, const Hardware& h) {
    if (std::holds_alternative<Gemm>(layer.op)) return h.cc.major == 7 ? 40e-6 : 25e-6;
    return h.cc.major >= 7 ? 170e-6 : 300e-6;
}

}  // namespace

Regime regime_of(const Case& c, const Layer& layer, double waves) {
    if (is_tensor(c.mapping.pipe))
        return std::holds_alternative<Gemm>(layer.op) ? Regime::tensor_gemm : Regime::tensor_core;
    if (c.grid.k_steps * c.mapping.cta.k < 128) return Regime::short_reduction;
    if (waves <= 1) return Regime::one_wave;
    return waves < 4 ? Regime::few_waves : Regime::many_waves;
}

void time(const Case& c, const Layer& layer, Prediction& p) {
    const Hardware& h = c.hardware;
    const Work work = work_of(c);
    const Waves w = waves_of(c);
    const double per_sm = std::max(1, c.occupancy.ctas_per_sm);
    const auto run = [&](auto&& of) { return w.full * of(per_sm) + of(w.gathered); };
    const double hz = h.clock;
    TimeTerms& t = p.terms;
    t[Term::compute] = run([&](double n) { return work.compute * n; }) / hz;
    t[Term::issue] = run([&](double n) { return work.issue * n; }) / hz;
    t[Term::shared] = run([&](double n) { return work.shared * n; }) / hz;
    t[Term::latency] = run([&](double n) { return work.of(n); }) / hz;
    t[Term::l1] = p.traffic.l1.total() / (h.l1_width * h.sms) / hz;
    t[Term::l2] = p.traffic.l2.total() / h.l2_bandwidth;
    t[Term::dram] = (p.traffic.dram.total() - p.traffic.dram_uneven) / h.dram_bandwidth;
    const bool call = layer.hints.kernel.empty() && !layer.hints.algorithm.empty();
    t[Term::launch] = h.launch * c.mapping.launches;
    const double call_overhead = call ? kCall : layer.hints.kernels > 0 ? framework_call(layer, h) : 0;
    // The first tile must come before anything is multiplied, and the outputs leave after all is: with one CTA on an SM
    // nothing overlaps with that, with several the others work meanwhile.
    const double loaded = p.traffic.dram.a + p.traffic.dram.b - p.traffic.dram_uneven;
    const double first = loaded / h.dram_bandwidth / static_cast<double>(c.grid.k_steps);
    const double rounds = std::ceil(static_cast<double>(c.grid.ctas()) / (per_sm * h.sms));
    t.prologue = (first + rounds * (h.dram_latency + h.l2_latency) / hz) / per_sm;
    t.epilogue = (p.traffic.dram.c / h.dram_bandwidth + rounds * h.dram_latency / hz) / per_sm;
    t.waves = static_cast<double>(c.grid.ctas()) / (per_sm * h.sms);
    // Power is averaged over about a millisecond: a longer kernel that keeps all multipliers busy runs at the lower
    // clock. Convolutions of the same board, with a tenth of their slots spent on offsets, were not seen to fall.
    if (h.clock_long > 0 && std::holds_alternative<Gemm>(layer.op)) {
        const double length = t[Term::latency] / kPowerWindow;
        const double held = h.clock_long + (h.clock - h.clock_long) / (1 + length * length);
        for (const Term term : {Term::compute, Term::issue, Term::shared, Term::latency}) t[term] *= h.clock / held;
    }
    const double busy = t[Term::latency];
    const double even = work.of(per_sm) / per_sm * static_cast<double>(c.grid.ctas()) / h.sms / hz;
    t.tail = even > 0 ? busy / even : 1;
    const double exposed = t.prologue + t.epilogue, memory = std::max({t[Term::l1], t[Term::l2], t[Term::dram]});
    // Copies that need no registers are queued while the tile before them is multiplied, so the first tile and the
    // outputs of one CTA pass under the memory's time for the others; else the memory rests meanwhile.
    const double kernel = c.mapping.a.asynchronous
                              ? std::max(busy + exposed, memory + (h.dram_latency + h.l2_latency) / hz)
                              : std::max(busy, memory) + exposed;
    p.time = call_overhead + (c.groups > 1 ? c.groups * std::max(kernel, t[Term::launch]) : kernel + t[Term::launch]);
    if (c.groups > 1) {
        for (double& seconds : t.seconds) seconds *= c.groups;
        t.prologue *= c.groups;
        t.epilogue *= c.groups;
    }
    t[Term::launch] += call_overhead;
    p.regime = regime_of(c, layer, t.waves);
    // The busy time is named by what fills it; latency only where nothing else does.
    TimeTerms named = t;
    if (c.groups == 1) named[Term::launch] = 0;
    const double filled = std::max({t[Term::compute], t[Term::issue], t[Term::shared]});
    if (filled > 0.9 * busy) named[Term::latency] = 0;
    p.bound = longest(named);
}

}  // namespace gambrel::delta_detail
