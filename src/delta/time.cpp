#include <algorithm>
#include <cmath>

#include "delta/levels.hpp"

namespace gambrel::delta_detail {
namespace {

double slices_of(const Mapping& m) { return m.warp.k > 0 ? static_cast<double>(m.cta.k) / m.warp.k : 1; }

// Instructions of one warp in a k-step: multiplications, fragments from shared memory (16 bytes a thread), loads and
// stores of the next tile, and the loop.
double instructions_of_step(const TiledLaunch& c) {
    const Mapping& m = c.mapping;
    const double slices = slices_of(m);
    const double outputs = static_cast<double>(m.cta.m) * m.cta.n * slices / m.threads;
    const double k = m.cta.k / slices, side = std::sqrt(outputs);
    const double loads = 2.0 * (m.cta.m + m.cta.n) * m.cta.k / (m.threads * std::max(1, std::min(m.a.vector, 4)));
    return k * (outputs + 2 * side * 4 / 16) + loads + c.gpu.calibration->instructions_per_step;
}

// Whether the rows of both operands of a product begin at 16 bytes.
bool aligned(const TiledLaunch& c) {
    const Geometry& g = c.geometry;
    const auto vectors = [&](double pitch) { return std::fmod(pitch * g.element.value(), 16) == 0; };
    return vectors(c.mapping.a.k_major ? g.k : g.m) && vectors(c.mapping.b.k_major ? g.k : g.n);
}

// cuDNN's direct kernels: no tile is shared, each thread loops over the channels and taps of its output.
bool is_direct(const Mapping& m) { return m.cta.n == 1 && m.cta.k == 1; }
double instructions_of_direct(const TiledLaunch& c, double steps) {
    const Calibration& fit = *c.gpu.calibration;
    const double channels = steps / std::max<double>(1, static_cast<double>(c.geometry.taps));
    return fit.direct_start + fit.direct_channel * channels + fit.direct_tap * steps;
}

// On CUDA cores: what the schedulers issue, and how long a single CTA takes however free its SM is.
void add_instructions(const TiledLaunch& c, double steps, CtaWork& w) {
    const Mapping& m = c.mapping;
    const Calibration& fit = *c.gpu.calibration;
    const double warps = m.threads / 32.0;
    const double packed = m.pipe == Pipe::fp16 || m.pipe == Pipe::bf16 ? 0.5 : 1;
    const double outputs = static_cast<double>(m.cta.m) * m.cta.n / m.threads;
    const double instructions = is_direct(m)
                                    ? instructions_of_direct(c, steps)
                                    : steps * instructions_of_step(c) * packed + fit.instructions_outside_loop +
                                          fit.instructions_per_output * outputs;
    w.issue = Cycles{instructions * warps / c.gpu.schedulers * c.gpu.architecture->issue_slots};
    w.latency = instructions * fit.issue_interval * std::max(1.0, warps / c.gpu.schedulers / 2);
    if (const Cycles unfilled = c.gpu.architecture->issue_interval; unfilled > Cycles{}) {
        w.latency = w.issue;
        w.unfilled = instructions * unfilled;
    }
}

// Power is averaged over about a millisecond: a longer kernel that keeps all multipliers busy runs at the lower clock.
// Convolutions on CUDA cores, which spend a tenth of their slots on offsets, were not seen to fall; on Tensor Cores all
// of them run at the lower clock.
void slow_down(const TiledLaunch& c, TimeTerms& t) {
    const double length = t[Term::latency] / c.gpu.calibration->power_window;
    const double above = c.layer.gemm ? 1 / (1 + length * length) : 0;
    const Frequency least = is_tensor(c.mapping.pipe) ? c.gpu.clock * c.gpu.matrix_clock_long : c.gpu.clock_long;
    const Frequency held = least + above * (c.gpu.clock - least);
    for (const Term term : {Term::compute, Term::issue, Term::shared, Term::latency}) t[term] *= c.gpu.clock / held;
}

// Parts of a split that add up in order. CTAs that came first run first, so the parts of a tile end in as many rounds
// as an SM has CTAs; what the chain of sums takes beyond the rounds is not hidden.
Seconds sums_in_order(const TiledLaunch& c, Seconds busy) {
    const double parts = static_cast<double>(c.grid.split_k);
    if (c.mapping.sums != SplitSums::in_order || parts <= 1) return {};
    const double ctas = static_cast<double>(c.grid.ctas()), tiles = ctas / parts, sms = c.gpu.sms;
    // Sums of slices have passed through shared memory and are stored by 16 bytes: half of the requests.
    const double share = slices_of(c.mapping) > 1 ? 0.5 : 1;
    const Seconds link = share * c.gpu.calibration->ordered_sum / c.gpu.clock;
    const double rounds = std::max(1.0, ctas / sms), together = std::min(parts, std::max(1.0, sms / tiles));
    return std::max((together - 1) * link, (parts - 1) * link - busy * (1 - 1 / rounds));
}

// Of kernels that are profiled one by one; a second kernel of a call is a transform or a table.
Seconds cold_start(const TiledLaunch& c) {
    if (!c.layer.cold) return {};
    const Calibration& fit = *c.gpu.calibration;
    const bool is_short = c.mapping.engine || is_direct(c.mapping);
    const Cycles borders = c.mapping.border_sides * c.geometry.k * c.gpu.architecture->engines.border_step;
    return (is_short ? fit.cold_start_short : fit.cold_start) + (c.mapping.launches - 1) * fit.cold_start_short +
           borders / c.gpu.clock;
}

Seconds dram_time(const TiledLaunch& c, const Traffic& t) {
    const Bytes read = t.dram.a + t.dram.b - t.dram_uneven.total();
    const double pitch = c.geometry.k * c.geometry.element / Bytes{1};
    const double decline = reads_single_sectors(c) ? std::pow(pitch, c.gpu.architecture->single_sector_decline) : 1;
    return (read * decline + t.dram.c) / data_bandwidth(c.gpu);
}

// The time of one CTA's SM and of every level, each alone.
void fill_terms(const TiledLaunch& c, const Traffic& traffic, TimeTerms& t) {
    const ModelInputs& h = c.gpu;
    const CtaWork work = work_of(c);
    const Waves w = waves_of(c);
    const auto run = [&](auto&& of) { return (w.full * of(w.per_sm) + of(w.gathered)) / h.clock; };
    t[Term::compute] = run([&](double n) { return work.compute * n; });
    t[Term::issue] = run([&](double n) { return work.issue * n; });
    t[Term::shared] = run([&](double n) { return work.shared * n; });
    t[Term::latency] = run([&](double n) { return work.of(n); });
    t[Term::l1] = traffic.l1.total() / h.l1_width_of_all() / h.clock;
    t[Term::l2] = traffic.l2.total() / h.l2_bandwidth;
    t[Term::dram] = dram_time(c, traffic);
    t[Term::launch] = kernels_alone(c.layer) ? cold_start(c) : h.launch * c.mapping.launches;
    // The first tile must come before anything is multiplied, and the outputs leave after all is: with one CTA on an SM
    // nothing overlaps with that, with several the others work meanwhile.
    const auto ctas = static_cast<double>(c.grid.ctas());
    const Bytes loaded = traffic.dram.a + traffic.dram.b - traffic.dram_uneven.total();
    const Seconds first = loaded / h.dram_bandwidth / static_cast<double>(c.grid.k_steps);
    const double rounds = std::ceil(ctas / (w.per_sm * h.sms));
    t.prologue = (first + rounds * (h.dram_latency + h.l2_latency) / h.clock) / w.per_sm;
    t.epilogue = (traffic.dram.c / h.dram_bandwidth + rounds * h.dram_latency / h.clock) / w.per_sm;
    t.waves = ctas / (w.per_sm * h.sms);
    if (h.clock_long > Frequency{} && (c.layer.gemm || is_tensor(c.mapping.pipe))) slow_down(c, t);
    const Seconds even = work.of(w.per_sm) / w.per_sm * ctas / h.sms / h.clock;
    t.tail = even > Seconds{} ? t[Term::latency] / even : 1;
}

// What the time waits for, second by second: launch and call, then what nothing hides, then the longest term.
PerTerm exposed_time(const TiledLaunch& c, const Prediction& p) {
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

}  // namespace

Bandwidth data_bandwidth(const ModelInputs& gpu) {
    return std::max(0.1, 1 - gpu.calibration->ecc_refetch * gpu.check_bits) * gpu.dram_bandwidth;
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
    const Mapping& m = c.mapping;
    const Calibration& fit = *c.gpu.calibration;
    const bool tensor = is_tensor(m.pipe);
    auto steps = static_cast<double>(c.grid.k_steps);
    if (m.padded_k > 0) steps = std::max(steps, static_cast<double>(m.padded_k) / m.split_k / m.cta.k);
    const FlopPerCycle rate = std::max(FlopPerCycle{1}, c.gpu.flop_per_cycle[m.pipe]);
    CtaWork w;
    w.compute = Flops{steps * 2 * (static_cast<double>(m.cta.m) * m.cta.n * m.cta.k)} / rate;
    if (!tensor) {
        if (c.layer.gemm && (!c.layer.cold || !aligned(c)))
            w.compute += Flops{steps * 2 * fit.scalar_load_slots * (m.cta.m + m.cta.n) * m.cta.k} / rate;
        if (c.geometry.taps > 1 || (m.computes_offsets && !m.engine)) w.compute *= fit.tap_offsets;
        if (slices_of(m) > 1) w.compute *= fit.sliced_step;
        add_instructions(c, steps, w);
        if (m.engine) add_engine_work(c, steps, w);
        if (m.transform != Transform::none) add_transform_work(c, steps, w);
        if (m.engine) add_engine_wait(c, steps, w);
    } else {
        if (const auto& matrix = c.gpu.architecture->matrix) w.compute = w.compute / matrix->reach;
        // Loads of the next stages are under way while one is multiplied; what remains is a barrier and a fragment
        // load.
        w.latency = w.compute + fit.matrix_barrier * steps;
    }
    const Bytes of_step = c.geometry.element * m.cta.k;
    const bool direct =
        m.a.asynchronous && c.gpu.architecture->matrix && c.gpu.architecture->matrix->operands_from_shared_memory;
    const double fragments = direct     ? 0
                             : m.engine ? engine_fragments(c)
                                        : (m.warp.m + m.warp.n) * (m.threads / 32.0) / slices_of(m);
    w.shared = steps * of_step * (m.cta.m + m.cta.n + fragments) / c.gpu.shared_width;
    return w;
}

Waves waves_of(const TiledLaunch& c) {
    const double ctas = static_cast<double>(c.grid.ctas()), per_sm = std::max(1, c.occupancy.ctas_per_sm);
    const double full = std::floor(ctas / (per_sm * c.gpu.sms)), rest = ctas - full * per_sm * c.gpu.sms;
    const double even = std::ceil(rest / c.gpu.sms);  // if the last wave were balanced
    const double more = full > 0 && rest > 0 ? c.gpu.calibration->last_wave_gathering * (per_sm - even) : 0;
    return {per_sm, full, even + more};
}

bool kernels_alone(const PreparedLayer& layer) {
    return layer.timing == Timing::kernel || layer.timing == Timing::graph;
}

Seconds call_overhead(const TiledLaunch& c) {
    if (!c.layer.timing || kernels_alone(c.layer)) return {};
    if (*c.layer.timing == Timing::call) return c.gpu.architecture->library_call + offsets_time(c);
    return c.layer.gemm ? c.gpu.architecture->gemm_call : c.gpu.architecture->convolution_call;
}

Term longest(const TimeTerms& terms, std::initializer_list<Term> of) {
    Term found = *of.begin();
    for (const Term t : of)
        if (terms[t] > terms[found]) found = t;
    return found;
}

Regime regime_of(const TiledLaunch& c, double waves) {
    if (is_tensor(c.mapping.pipe)) return c.layer.gemm ? Regime::tensor_gemm : Regime::tensor_core;
    if (c.grid.k_steps * c.mapping.cta.k < 128) return Regime::short_reduction;
    if (waves <= 1) return Regime::one_wave;
    return waves < 4 ? Regime::few_waves : Regime::many_waves;
}

Seconds time_of(const TiledLaunch& c, Traffic& traffic, TimeTerms& t) {
    const ModelInputs& h = c.gpu;
    const double groups = c.layer.groups;
    fill_terms(c, traffic, t);
    t[Term::latency] += sums_in_order(c, t[Term::latency]);
    const Seconds busy = t[Term::latency], around = t.prologue + t.epilogue;
    const Seconds memory = std::max({t[Term::l1], t[Term::l2], t[Term::dram]});
    // Copies that need no registers are queued while the tile before them is multiplied, so the first tile and the
    // outputs of one CTA pass under the memory's time for the others; else the memory rests meanwhile.
    const Seconds kernel = c.mapping.a.asynchronous
                               ? std::max(busy + around, memory + (h.dram_latency + h.l2_latency) / h.clock)
                               : std::max(busy, memory) + around;
    bound_rereads(kernel, h.dram_bandwidth, traffic);
    const Seconds all = kernel + transform_time(c);
    return call_overhead(c) + (groups > 1 ? groups * std::max(all, t[Term::launch]) : all + t[Term::launch]);
}

void predict_time(const TiledLaunch& c, Prediction& p) {
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
    p.regime = regime_of(c, t.waves);
    TimeTerms named = t;
    if (groups == 1) named[Term::launch] = Seconds{};
    const Seconds filled = std::max({t[Term::compute], t[Term::issue], t[Term::shared]});
    if (filled > kFilled * busy) named[Term::latency] = Seconds{};
    p.bound = longest(
        named, {Term::compute, Term::issue, Term::latency, Term::shared, Term::l1, Term::l2, Term::dram, Term::launch});
    p.exposed = by_matrix_units(c) ? matrix_exposed(p) : exposed_time(c, p);
}

}  // namespace gambrel::delta_detail
