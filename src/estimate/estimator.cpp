#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <gambrel/estimate.hpp>
#include <gambrel/roofline.hpp>

namespace gambrel {
namespace {

Symbol work_rule() {
    static const Symbol rule("network: FLOP of the layer");
    return rule;
}

std::uint32_t whole(std::int64_t n) { return static_cast<std::uint32_t>(std::clamp<std::int64_t>(n, 1, 0x7fffffff)); }

// What does not depend on the method: identity, work and launch shape of one run.
Kernel kernel_of(const Layer& layer, const Mapping& mapping, const Machine& machine) {
    Kernel k;
    k.name = Symbol(layer.name);
    k.phase = Symbol(name(layer.pass));
    k.device = Symbol(machine.name);
    const Flops work = kernel_flop(layer);
    // A layer's work is known in full: what its own pipe does not do, no other does.
    for (const Pipe pipe : {Pipe::fp32, Pipe::fp16, Pipe::tensor_fp16})
        k.work[pipe] = {Flops{}, Origin::derived, work_rule()};
    k.work[mapping.pipe] = {work, Origin::derived, work_rule()};
    if (work <= Flops{}) k.zero_flop_launches = 1;
    if (mapping.family == KernelFamily::tiled) {
        const Grid g = grid(*kernel_view(layer), mapping);
        k.shape =
            LaunchShape{{whole(g.rows), whole(g.columns), whole(g.batch * g.split_k)}, {whole(mapping.threads), 1, 1}};
    }
    if (const std::string reason = not_modelled(layer); !reason.empty()) k.reasons.emplace_back(reason);
    return k;
}

template <class Q>
Amount<Q> modelled(Q value, std::string_view rule) {
    return {value, Origin::modelled, Symbol(rule)};
}

void add_prediction(const Prediction& p, const ModelInputs& inputs, Estimate& e) {
    Kernel& k = e.kernel;
    k.time = modelled(p.time, "delta.time");
    k.bytes[Level::l1] = modelled(p.traffic.l1.total(), "delta.l1");
    // L2 as its counter counts, so that predicted and measured points can be laid over each other (docs/model.md, "What
    // a counter counts"). What a kernel that ran alone left in L2 did not reach DRAM while it was watched; in a stream
    // of kernels it does.
    k.bytes[Level::l2] = modelled(p.traffic.counted_l2(), "delta.l2");
    const bool alone = e.layer->hints.cold;
    k.bytes[Level::dram] = modelled(alone ? p.traffic.counted_dram() : p.traffic.dram.total(), "delta.dram");
    k.clock = modelled(inputs.clock, "machine.clock");
    e.interval = Interval{p.time_low, p.time_high};
    e.bound = name(p.bound);
    e.mapping = p.mapping;
    e.detail = p;
}

void add_simulation(const Simulation& s, const EstimatorOptions& options, const std::optional<Frequency>& clock,
                    Estimate& e) {
    Kernel& k = e.kernel;
    const auto bytes = [](Bytes amount) {
        return Amount<Bytes>{amount, Origin::simulated, Symbol("sim: every address")};
    };
    const SimulatedTraffic total = s.total();
    k.bytes[Level::shared] = bytes(s.shared_memory);
    k.bytes[Level::l1] = bytes(total.l1());
    k.bytes[Level::l2] = bytes(total.l2());
    k.bytes[Level::dram] = bytes(total.dram());
    if (!k.shape) k.shape = LaunchShape{{whole(s.ctas), 1, 1}, {whole(e.mapping.threads), 1, 1}};
    RooflineOptions roofs;
    roofs.clock = clock;
    roofs.roofs = options.roofs;
    if (clock) k.clock = {*clock, Origin::assumed, Symbol("given")};
    // Bytes were simulated, cycles were not: the time is the shortest that these bytes and this work allow.
    const Roofline verdict = roofline(e.on->machine, k, roofs);
    if (verdict.shortest > Seconds{}) k.time = {verdict.shortest, Origin::derived, Symbol("lower bound by the roofs")};
    e.bound = to_text(verdict.bound);
    // As a profiler counts: docs/model.md, "What a counter counts".
    const Architecture& a = architecture_of(e.on->machine);
    k.bytes[Level::l2] =
        bytes(total.l2() + a.l2_counts_read_crossing * total.l2_fabric + a.l2_counts_launch * e.mapping.launches);
    if (a.l2_keeps_written)
        k.bytes[Level::dram] = bytes(total.dram() - std::min(total.dram_written, e.on->inputs.usable_l2()));
    if (s.partial)
        k.reasons.emplace_back(fmt::format("simulation stopped after {} of {} CTAs: the bytes are of those only",
                                           s.ctas_simulated, s.ctas));
    else if (s.ctas_simulated < s.ctas)
        k.reasons.emplace_back(
            fmt::format("sampled {} of {} CTAs: L1 +-{:.1f} %, L2 +-{:.1f} %, DRAM +-{:.1f} % (99 %)", s.ctas_simulated,
                        s.ctas, 100 * s.error.l1, 100 * s.error.l2, 100 * s.error.dram));
    e.detail = s;
}

Errors too_large(const Layer& layer, const Machine& machine) {
    const MemoryLevel* dram = machine.find(Level::dram);
    if (!dram || !dram->capacity) return {};
    const OperandBytes operands = compulsory_bytes(layer);
    const Bytes needed = operands.input + operands.filter + operands.output + operands.bias;
    if (needed <= dram->capacity->value) return {};
    return {{layer.name, fmt::format("its tensors take {}, more than the {} of {}", to_text(needed, 3),
                                     binary_text(dram->capacity->value), machine.name)}};
}

Errors not_launchable(const Layer& layer, const Mapping& m, const Machine& machine) {
    return {{layer.name,
             fmt::format("a tile of {}x{}x{} cannot be launched on {}: {} threads of {} registers and {} of "
                         "shared memory are more than an SM has; give a smaller tile",
                         m.cta.m, m.cta.n, m.cta.k, machine.id, m.threads, m.registers, binary_text(m.shared_memory))}};
}

}  // namespace

std::string_view name(Method method) {
    static constexpr std::array<std::string_view, 3> kNames = {"gambrel", "paper", "simulation"};
    return kNames[static_cast<std::size_t>(method)];
}

Origin origin(Method method) { return method == Method::simulation ? Origin::simulated : Origin::modelled; }

double Estimate::waves() const {
    const auto* prediction = std::get_if<Prediction>(&detail);
    return prediction ? prediction->terms.waves : 0;
}

std::string not_modelled(const Layer& layer) {
    static constexpr std::array<std::string_view, 4> kOthers = {"WINOGRAD", "FFT", "DIRECT", "winograd"};
    const bool direct = parse_kernel_name(layer.hints.kernel).family == KernelName::Family::direct;
    if (direct || transform_of(layer) != Transform::none) return {};
    for (const std::string_view other : kOthers)
        if (layer.hints.algorithm.find(other) != std::string::npos ||
            layer.hints.kernel.find(other) != std::string::npos)
            return std::string(other) + " is not modelled: predicted as implicit GEMM";
    if (const auto* a = std::get_if<Attention>(&layer.op); a && a->head_dim > 256 && a->q_len == 1 && !a->latent)
        return "decode with head dimensions above 256 was seen on H100 alone, where the model is 20 % off in the mean";
    return {};
}

Result<std::shared_ptr<const EstimatedMachine>> Estimator::machine_for(const Layer& layer) {
    const std::optional<Frequency> clock = layer.hints.sm_clock ? layer.hints.sm_clock : options_.clock;
    std::pair<std::string, double> key{layer.hints.gpu, clock ? clock->value() : 0};
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    const Machine* machine = nullptr;
    if (layer.hints.gpu.empty()) {
        if (!options_.machine) return failure(layer.name, "no GPU is given: use --machine, or a column gpu");
        machine = &*options_.machine;
    } else {
        machine = find_in_catalogue(layer.hints.gpu);
        if (!machine)
            return failure(layer.name, fmt::format("gpu \"{}\" is not in the catalogue, which `gambrel machines` lists",
                                                   layer.hints.gpu));
    }
    const auto inputs = model_inputs(*machine, clock, options_.roofs);
    if (!inputs) return tl::unexpected(inputs.error());
    auto known = std::make_shared<const EstimatedMachine>(EstimatedMachine{*machine, *inputs});
    return known_.emplace(std::move(key), std::move(known)).first->second;
}

Result<Estimate> Estimator::operator()(const Layer& layer) {
    auto known = machine_for(layer);
    if (!known) return tl::unexpected(known.error());
    const Machine& machine = (*known)->machine;
    const ModelInputs& inputs = (*known)->inputs;
    if (Errors wrong = too_large(layer, machine); !wrong.empty()) return tl::unexpected(std::move(wrong));
    const auto pipe = pipe_for(layer, machine);
    if (!pipe) return tl::unexpected(pipe.error());
    Estimate e;
    e.layer = &layer;
    e.on = *known;
    const bool search = options_.search && !options_.tile && options_.method != Method::simulation;
    if (!search) e.mapping = mapping_for(layer, machine, inputs.limits);
    if (options_.tile) {
        e.mapping = with_tile(e.mapping, layer, machine, *options_.tile);
        e.mapping.source = Mapping::Source::given;
    }
    if (options_.method == Method::simulation) {
        const auto simulation = simulate(layer, machine, e.mapping, options_.simulation);
        if (!simulation) return tl::unexpected(simulation.error());
        e.kernel = kernel_of(layer, e.mapping, machine);
        add_simulation(*simulation, options_, layer.hints.sm_clock ? layer.hints.sm_clock : options_.clock, e);
        return e;
    }
    const Model model = options_.method == Method::paper ? Model::paper : Model::gambrel;
    const Prediction p = search ? predict(layer, machine, inputs, model, true)
                                : predict(layer, e.mapping, occupancy(inputs.limits, e.mapping), inputs, model);
    if (p.mapping.family == KernelFamily::tiled && p.occupancy.ctas_per_sm == 0)
        return tl::unexpected(not_launchable(layer, p.mapping, machine));
    e.kernel = kernel_of(layer, p.mapping, machine);
    if (!pipe->note.empty()) e.kernel.reasons.emplace_back(pipe->note);
    add_prediction(p, inputs, e);
    return e;
}

}  // namespace gambrel
