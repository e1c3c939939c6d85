// Analyses made by hand, so that the tests of the report depend on no file and on no verdict but these.
// Machines: a toy of 100 GFLOP/s and 10 GB/s, and one like a V100 with round numbers. Kernels are invented.
#pragma once

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <gambrel/roofline.hpp>

namespace gambrel::sample {

inline Machine toy_machine() {
    Machine m;
    m.id = "toy", m.name = "Toy 100", m.architecture = "Toy", m.source = "test";
    m.clocks.boost = Sourced<Frequency>{Frequency{1e9}, Origin::assumed, "round"};
    m.sm.sms = Sourced<double>{1, Origin::assumed, "one"};
    m.pipes[Pipe::fp32].dense = Sourced<FlopPerCycle>{FlopPerCycle{100}, Origin::assumed, "100 GFLOP/s at 1 GHz"};
    m.levels.push_back({});
    m.levels.back().level = Level::dram;
    m.levels.back().bandwidth = Sourced<Bandwidth>{Bandwidth{10e9}, Origin::datasheet, "round"};
    return m;
}

inline Machine v100_like() {
    Machine m;
    m.id = "v100-like", m.name = "Tesla V100-SXM2-16GB", m.architecture = "Volta", m.chip = "GV100", m.source = "test";
    m.compute_capability = ComputeCapability{7, 0};
    m.clocks.boost = Sourced<Frequency>{Frequency{1.53e9}, Origin::datasheet, "data sheet"};
    m.sm.sms = Sourced<double>{80, Origin::datasheet, "data sheet, page 3"};
    const auto pipe = [&](Pipe p, double flop_per_cycle) {
        m.pipes[p].dense = Sourced<FlopPerCycle>{FlopPerCycle{flop_per_cycle}, Origin::datasheet, "white paper"};
    };
    pipe(Pipe::fp64, 64), pipe(Pipe::fp32, 128), pipe(Pipe::fp16, 256), pipe(Pipe::tensor_fp16, 1024);
    const auto level = [&](Level l, bool per_sm) -> MemoryLevel& {
        m.levels.push_back({});
        m.levels.back().level = l, m.levels.back().per_sm = per_sm;
        return m.levels.back();
    };
    level(Level::l1, true).width = Sourced<BytesPerCycle>{BytesPerCycle{128}, Origin::datasheet, "white paper"};
    m.levels.back().capacity = Sourced<Bytes>{Bytes{131072}, Origin::datasheet, "white paper"};
    level(Level::l2, false).width = Sourced<BytesPerCycle>{BytesPerCycle{2048}, Origin::derived, "64 slices of 32 B"};
    m.levels.back().capacity = Sourced<Bytes>{Bytes{6291456}, Origin::datasheet, "white paper"};
    level(Level::dram, false).bandwidth = Sourced<Bandwidth>{Bandwidth{897e9}, Origin::datasheet, "data sheet"};
    return m;
}

struct Spec {
    std::string name;
    std::uint64_t launches = 1;
    double time = 1e-3, fp32 = 0, tensor = 0, l1 = 0, l2 = 0, dram = 0;
    double clock = 1.31e9;
    std::string phase = {};
};

inline Kernel kernel(const Spec& s) {
    Kernel k;
    k.name = Symbol(s.name), k.phase = Symbol(s.phase), k.source = Symbol("made by hand"), k.launches = s.launches;
    k.time = Amount<Seconds>{Seconds{s.time}, Origin::measured, Symbol("gpu_time")};
    k.work[Pipe::fp32] = Amount<Flops>{Flops{s.fp32}, Origin::measured, Symbol("sass_fp32")};
    k.work[Pipe::fp16] = Amount<Flops>{Flops{0}, Origin::measured, Symbol("sass_fp16")};
    k.work[Pipe::tensor_fp16] = Amount<Flops>{Flops{s.tensor}, Origin::measured, Symbol("tensor_ops")};
    if (s.l1 > 0) k.bytes[Level::l1] = Amount<Bytes>{Bytes{s.l1}, Origin::measured, Symbol("l1tex_bytes")};
    if (s.l2 > 0) k.bytes[Level::l2] = Amount<Bytes>{Bytes{s.l2}, Origin::measured, Symbol("lts_bytes")};
    if (s.dram > 0) k.bytes[Level::dram] = Amount<Bytes>{Bytes{s.dram}, Origin::measured, Symbol("dram_bytes")};
    if (s.clock > 0) k.clock = Amount<Frequency>{Frequency{s.clock}, Origin::measured, Symbol("sm_clock")};
    if (s.fp32 + s.tensor == 0) k.zero_flop_launches = s.launches;
    return k;
}

// Enough of a verdict to report on.
inline Roofline verdict(const Machine& machine, const Kernel& k) {
    Roofline v;
    if (k.clock) v.clock = k.clock->value;
    if (!k.time) return v;
    const Seconds time = k.time->value;
    v.achieved = flop_rate(k);
    const auto consider = [&](Bound bound, Seconds shortest) {
        if (shortest > v.shortest) v.shortest = shortest, v.bound = bound;
    };
    for (const Pipe p : all_pipes()) {
        const auto c = compute_ceiling(machine, p, v.clock);
        if (!c || !k.work[p] || k.work[p]->value.value() == 0) continue;
        const Flops work = k.work[p]->value;
        v.pipes.push_back({p, c->value, c->origin, c->cite, work / time, work / c->value, (work / time) / c->value});
        consider(p, work / c->value);
    }
    if (const auto f = flop(k); f && v.shortest.value() > 0) v.compute_roof = f->value / v.shortest;
    for (const Level l : all_levels()) {
        const auto c = memory_ceiling(machine, l, v.clock);
        if (!c || !k.bytes[l]) continue;
        const Bytes bytes = k.bytes[l]->value;
        LevelVerdict lv{l,       c->value,         c->origin,
                        c->cite, bytes / time,     intensity(k, l),
                        {},      bytes / c->value, (bytes / time) / c->value};
        if (lv.intensity && v.compute_roof) lv.roof = std::min(*v.compute_roof, *lv.intensity * c->value);
        v.levels.push_back(lv);
        consider(l, bytes / c->value);
    }
    v.nearest = v.bound;
    if (v.shortest.value() > 0) v.of_roof = v.shortest / time, v.headroom = time - v.shortest;
    if (v.of_roof && *v.of_roof > 1)
        v.findings.push_back("above the roof: more bytes or FLOP than the machine can give");
    return v;
}

inline Analysis analysis_of(const std::vector<Kernel>& kernels, Machine machine, std::string title) {
    Analysis a;
    a.title = std::move(title);
    a.machines = {std::move(machine)};
    std::set<std::string> names;
    for (const auto& k : kernels) {
        a.rows.push_back({k, verdict(a.machines[0], k), 0});
        if (!is_zero_flop(k)) continue;
        a.zero_flop_launches += k.launches;
        names.insert(k.name.str());
        if (k.time) a.zero_flop_time += k.time->value;
        for (const Level l : all_levels())
            if (k.bytes[l]) a.zero_flop_bytes[l] += k.bytes[l]->value;
    }
    a.zero_flop_names = names.size();
    std::stable_sort(a.rows.begin(), a.rows.end(), [](const AnalysisRow& x, const AnalysisRow& y) {
        const auto t = [](const AnalysisRow& r) { return r.kernel.time ? r.kernel.time->value.value() : 0; };
        return t(x) > t(y);
    });
    a.total = total(kernels);
    return a;
}

inline Analysis toy() {
    return analysis_of(
        {kernel({"triad", 10, 1.0, 2e9, 0, 0, 0, 8e9, 1e9}), kernel({"gemm", 1, 0.5, 40e9, 0, 0, 0, 1e9, 1e9}),
         kernel({"copy", 4, 0.25, 0, 0, 0, 0, 2e9, 1e9})},
        toy_machine(), "toy");
}

// One step of an invented training run: convolutions on the Tensor Cores, streaming kernels, copies.
inline std::vector<Kernel> training_step() {
    const std::vector<Spec> specs{
        {"volta_fp16_s884cudnn_fp16_256x64_ldg8_relu_f2f_exp_interior_nhwc2nchw_tn_v1", 8, 66.2e-3, 1.95e9, 5.54e12,
         88e9, 65e9, 5.9e9},
        {"volta_s884cudnn_fp16_128x128_ldg8_wgrad_idx_exp_interior_nhwc_nt_v1", 64, 10.7e-3, 0.22e9, 0.637e12, 10.5e9,
         10.4e9, 2.1e9},
        {"void dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>(int, int, int, float const*)", 12, 21.4e-3, 211e9, 0,
         61e9, 12e9, 1.6e9, 1.29e9},
        {"void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, 512, true, 1>(cudnnTensorStruct, float const*)", 90,
         14.1e-3, 8.2e9, 0, 14e9, 12.4e9, 9.8e9},
        {"void at::native::elementwise_kernel<512, 1, at::native::gpu_binary_kernel<at::native::add>>(int, float*)",
         211, 9.4e-3, 0.81e9, 0, 9.8e9, 9.7e9, 7.6e9},
        {"void at::native::(anonymous namespace)::adam_step<float>(float*, float*, float*, float)", 120, 6.3e-3, 2.1e9,
         0, 6.4e9, 6.3e9, 4.9e9},
        {"void nchwToNhwcKernel<float, float, float, true, false>(cudnn::nchw2nhwc_params_t, float const*)", 140,
         17.8e-3, 0, 0, 16e9, 15e9, 12e9},
        {"cudnn::gemm::computeOffsetsKernel(cudnn::gemm::ComputeOffsetsParams)", 72, 0.3e-3, 0, 0, 8.8e6, 9.9e6, 8.9e6},
        {"void softmax_warp_forward<float, float, float, 9, false>(float*, float const*, int, int)", 2, 0.84e-3, 0.31e9,
         0, 0.55e9, 0.53e9, 0.43e9},
        {"void cub::DeviceReduceKernel<cub::Policy600, float*, float*, int, cub::Sum>(float*)", 40, 1.9e-3, 0.12e9, 0,
         1.3e9, 1.25e9, 1.2e9},
        {"volta_sgemm_128x64_nn", 6, 3.1e-3, 35e9, 0, 9.6e9, 2.4e9, 0.31e9, 1.33e9},
        {"void upsample_bilinear2d_out_frame<float, float>(int, float, float, bool)", 2, 1.2e-3, 0.9e9, 0, 2.8e9, 0.3e9,
         0.27e9},
    };
    std::vector<Kernel> kernels;
    for (const auto& s : specs) kernels.push_back(kernel(s));
    return kernels;
}

inline Analysis training() { return analysis_of(training_step(), v100_like(), "Segmentation network, training step"); }

// Any number of kernels, spread over the chart as real ones are; the same for the same number.
inline Analysis many(std::size_t count) {
    std::vector<Kernel> kernels;
    std::uint64_t state = 12345;
    const auto uniform = [&] {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        return static_cast<double>(state >> 11) / 9007199254740992.0;
    };
    for (std::size_t i = 0; i < count; ++i) {
        Spec s;
        s.name = fmt::format("void layer_{}_kernel<float, {}>(float const*, float*)", i, 32 << (i % 5));
        s.time = 30e-3 * std::pow(uniform(), 4) + 2e-6;
        const double intensity = std::pow(10, -1.2 + 3.6 * uniform());
        const bool tensor = uniform() > 0.8 && intensity > 10;
        const double peak = tensor ? 107e12 : 13.4e12;
        const double rate = std::min(peak, intensity * 897e9) * (0.05 + 0.9 * uniform());
        (tensor ? s.tensor : s.fp32) = i % 9 == 8 ? 0 : rate * s.time;
        s.dram = rate * s.time / intensity;
        s.l2 = s.dram * (1 + 3 * uniform() * uniform());
        s.l1 = s.l2 * (1 + 2 * uniform() * uniform());
        s.clock = 1.29e9 + 0.04e9 * uniform();
        kernels.push_back(kernel(s));
    }
    return analysis_of(kernels, v100_like(), fmt::format("{} kernels", count));
}

}  // namespace gambrel::sample
