// Random layers on the GPUs of the catalogue, and what must hold for every prediction whatever the constants are.
// Shared by the test, which takes a sample, and by bench/model_sweep.cpp (`make sweep`), which takes hundreds of
// thousands.
#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gambrel/delta.hpp>

namespace gambrel::test {

class RandomLayers {
public:
    explicit RandomLayers(std::uint64_t seed) : random_(seed) {}
    Layer next() {
        Layer layer = chance(0.4) ? gemm() : convolution();
        layer.pass = static_cast<Pass>(pick(0, 2));
        layer.precision = static_cast<Precision>(pick(0, 6));
        layer.layout = chance(0.5) ? Layout::nchw : Layout::nhwc;
        layer.bias = layer.pass == Pass::fwd && chance(0.3);
        return layer;
    }

private:
    std::int64_t pick(std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
    }
    bool chance(double p) { return std::bernoulli_distribution(p)(random_); }
    // Spread evenly over orders of magnitude, half of them multiples of eight.
    std::int64_t size(double low, double high) {
        const double at = std::uniform_real_distribution<double>(std::log(low), std::log(high))(random_);
        const auto n = static_cast<std::int64_t>(std::exp(at));
        return chance(0.5) && n > 8 ? n / 8 * 8 : std::max<std::int64_t>(1, n);
    }
    Layer gemm() {
        Gemm g;
        g.m = size(1, 2e4), g.n = size(1, 2e4), g.k = size(1, 3e5), g.batch = chance(0.2) ? size(1, 64) : 1;
        g.a_transposed = chance(0.3), g.b_transposed = chance(0.5);
        return {"gemm", g};
    }
    Layer convolution() {
        for (;;) {
            Convolution v;
            const bool deep = chance(0.1);  // a long reduction of few pixels
            v.n = size(1, deep ? 8 : 256), v.c = size(1, deep ? 3e5 : 1024), v.k = size(1, 1024);
            v.h = size(1, deep ? 8 : 300), v.w = chance(0.7) ? v.h : size(1, deep ? 8 : 300);
            v.r = pick(1, 7), v.s = chance(0.8) ? v.r : pick(1, 7);
            v.pad_top = v.pad_bottom = pick(0, v.r + 1), v.pad_left = v.pad_right = pick(0, v.s + 1);
            v.stride_h = v.stride_w = chance(0.6) ? 1 : pick(1, 4);
            v.dilation_h = v.dilation_w = chance(0.8) ? 1 : pick(1, 12);
            if (chance(0.15)) {
                v.groups = chance(0.5) ? 8 : v.c;
                v.c = v.groups * std::max<std::int64_t>(1, v.c / v.groups);
                v.k = v.groups * std::max<std::int64_t>(1, v.k / v.groups);
            }
            if (faults(v).empty()) return {"convolution", v};
        }
    }
    std::mt19937_64 random_;
};

inline std::string text_of(const Layer& layer) {
    std::string shape;
    if (const auto* g = std::get_if<Gemm>(&layer.op))
        shape = fmt::format("GEMM M{} N{} K{} batch {} {}{}", g->m, g->n, g->k, g->batch, g->a_transposed ? 't' : 'n',
                            g->b_transposed ? 't' : 'n');
    if (const auto* v = std::get_if<Convolution>(&layer.op))
        shape = fmt::format("conv N{} C{} H{} W{} K{} R{} S{} pad {},{} stride {} dilation {} groups {} {}", v->n, v->c,
                            v->h, v->w, v->k, v->r, v->s, v->pad_top, v->pad_left, v->stride_h, v->dilation_h,
                            v->groups, layer.layout == Layout::nhwc ? "nhwc" : "nchw");
    return fmt::format("{} {} {}{}", shape, name(layer.pass), name(layer.precision), layer.bias ? " bias" : "");
}

// A GPU, what the model takes from it, and the roofs that its predictions are judged by.
struct SweptGpu {
    explicit SweptGpu(const Machine& m) : machine(m), inputs(*model_inputs(m)) {
        for (const Pipe p : all_pipes())
            if (const auto c = compute_ceiling(m, p, inputs.clock, Roofs::measured)) peaks[p] = c->value;
        for (const Level l : {Level::l1, Level::l2, Level::dram})
            if (const auto c = memory_ceiling(m, l, inputs.clock, Roofs::measured)) rates[l] = c->value;
        counted_l2 = counter_ceiling(m, Level::l2, inputs.clock, Roofs::measured)->value;
    }
    const Machine& machine;
    ModelInputs inputs;
    PerPipe<FlopRate> peaks{};
    PerLevel<Bandwidth> rates{};
    Bandwidth counted_l2;
};

// What of a prediction is wrong, as sentences; empty if nothing is.
inline std::vector<std::string> broken_invariants(const Layer& layer, const SweptGpu& gpu) {
    std::vector<std::string> wrong;
    const auto expect = [&](bool holds, const char* text, const auto&... values) {
        if (!holds) wrong.push_back(fmt::format(fmt::runtime(text), values...));
    };
    constexpr double kRounding = 1 + 1e-9;
    const Mapping mapping = mapping_for(layer, gpu.machine);
    const Occupancy fits = occupancy(gpu.machine, mapping);
    const PreparedLayer prepared = prepare(layer, mapping);
    const Prediction p = predict(prepared, fits, gpu.inputs);
    const bool tiled = mapping.family == KernelFamily::tiled;
    expect(!tiled || fits.ctas_per_sm > 0, "the mapping does not fit on an SM");
    expect(std::isfinite(p.time.value()) && p.time > Seconds{}, "time is {} s", p.time.value());
    for (const OperandTraffic& t : {p.traffic.shared, p.traffic.l1, p.traffic.l2, p.traffic.dram})
        for (const Bytes b : {t.a, t.b, t.c})
            expect(std::isfinite(b.value()) && b >= Bytes{}, "an operand has {} bytes", b.value());
    for (const Seconds s : p.terms.seconds)
        expect(std::isfinite(s.value()) && s >= Seconds{}, "a term is {} s", s.value());
    // Roofs: no prediction is faster than its own bytes and work allow, as `roofline` judges it.
    Seconds shortest;
    const auto judge = [&](const char* roof, Seconds least) {
        expect(least <= p.time * kRounding, "{:.3f} of the {} roof", least / p.time, roof);
        shortest = std::max(shortest, least);
    };
    if (gpu.peaks[mapping.pipe] > FlopRate{}) judge("compute", p.flop / gpu.peaks[mapping.pipe]);
    judge("L1", p.traffic.l1.total() / gpu.rates[Level::l1]);
    judge("L2", p.traffic.l2.total() / gpu.rates[Level::l2]);
    judge("counted L2", p.traffic.counted_l2() / gpu.counted_l2);
    judge("DRAM", p.traffic.dram.total() / gpu.rates[Level::dram]);
    // Levels: L1 is asked for everything that L2 gives, and every operand moves at least once.
    const OperandBytes once = compulsory_bytes(layer);
    const Bytes least = once.read + once.written;
    expect(p.traffic.l2.total() <= p.traffic.l1.total() * kRounding, "L2 moves {:.3f} of L1's bytes",
           p.traffic.l2.total() / p.traffic.l1.total());
    expect(p.traffic.dram.total() - p.traffic.filled - p.traffic.beside <= p.traffic.l2.total() * kRounding,
           "DRAM moves {:.3f} of L2's bytes", p.traffic.dram.total() / p.traffic.l2.total());
    expect(p.traffic.dram.total() * kRounding >= least, "DRAM moves {:.3f} of the compulsory bytes",
           p.traffic.dram.total() / least);
    // Time by what it waits for sums up to the time.
    Seconds sum;
    for (const Seconds s : p.exposed) sum += s;
    expect(std::abs(sum / p.time - 1) < 1e-9, "exposed times sum up to {:.6f} of the time", sum / p.time);
    // More hardware is never slower with the mapping held, but more SMs may be: fewer CTAs on one share what L1 has,
    // which thin products without a name lose most by, and all SMs together have more in flight, which L2 may not hold.
    // The worst of 750,000 pairs, filter gradients of dilated layers, take 1.24 (P100) and 1.33 times as long (GTX
    // 1660).
    const auto with = [&](const char* what, double slack, auto&& change) {
        ModelInputs more = gpu.inputs;
        change(more);
        const Seconds t = predict(prepared, fits, more).time;
        expect(t <= p.time * (1 + slack), "{:.4f} times as long with more {}", t / p.time, what);
    };
    with("DRAM bandwidth", 1e-9, [](ModelInputs& h) { h.dram_bandwidth *= 2; });
    with("L2 bandwidth", 1e-9, [](ModelInputs& h) { h.l2_bandwidth *= 2; });
    with("L2 capacity", 1e-9, [](ModelInputs& h) { h.l2_capacity *= 2; });
    with("L1 bandwidth", 1e-9, [](ModelInputs& h) { h.l1_width *= 2; });
    with("clock", 1e-9, [](ModelInputs& h) { h.clock *= 1.1; });
    with("SMs", 0.35, [](ModelInputs& h) { h.sms = std::floor(h.sms * 1.3) + 1; });
    // Not absurdly slow either. Whole tiles are multiplied, on the SMs that have one: beside launch and latencies that
    // takes at most kMostOverRoof times what bytes and multiplications allow.
    constexpr double kMostOverRoof = 100;
    if (tiled) {
        const auto ctas = static_cast<double>(prepared.grid.ctas()) * prepared.groups;
        const Tile& t = mapping.cta;
        const Flops padded{2.0 * t.m * t.n * t.k * ctas * static_cast<double>(prepared.grid.k_steps)};
        const double filled = std::min(1.0, static_cast<double>(prepared.grid.ctas()) / gpu.inputs.sms);
        const Seconds multiplied = padded / (gpu.peaks[mapping.pipe] * filled);
        const Seconds most = kMostOverRoof * std::max(shortest, multiplied) + p.terms[Term::launch] + Seconds{20e-6};
        expect(p.time <= most, "{:.0f} times the roofline of whole tiles", p.time / std::max(shortest, multiplied));
        // A reduction of fifty thousand does not run on a few SMs while the others wait: it is split.
        const auto view = kernel_view(layer);
        if (view->k >= 50000) expect(filled >= 0.25, "k of {} on {:.3f} of the SMs", view->k, filled);
    }
    return wrong;
}

}  // namespace gambrel::test
