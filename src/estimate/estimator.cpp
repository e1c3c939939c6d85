#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>
#include <gambrel/estimate.hpp>
#include <gambrel/roofline.hpp>

#include "base/arithmetic.hpp"
#include "estimate/parts.hpp"

namespace gambrel {

using namespace estimate_detail;

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
    const ShownBytes bytes = shown_bytes(p.traffic, *e.layer);
    k.time = modelled(p.time, "delta.time");
    k.bytes[Level::l1] = modelled(bytes.l1, "delta.l1");
    k.bytes[Level::l2] = modelled(bytes.l2, "delta.l2");
    k.bytes[Level::dram] = modelled(bytes.dram, "delta.dram");
    k.clock = modelled(inputs.clock, "machine.clock");
    const TimeInterval& interval = time_intervals(*inputs.architecture)[static_cast<std::size_t>(p.regime)];
    e.interval = Interval{p.time * interval.low, p.time * interval.high};
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
    // As a profiler counts: docs/model/traffic.md, "What a profiler counts".
    const Architecture& a = architecture_of(e.on->machine);
    k.bytes[Level::l2] =
        bytes(total.l2() + a.l2_counts_read_crossing * total.l2_fabric + a.l2_counts_launch * e.mapping.launches);
    if (a.l2_keeps_written && e.layer->hints.cold)
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

// Of tensors that a kernel must find in memory together. An optimizer takes one after the other: whether the model fits
// is for its summary to say.
Bytes bytes_of_tensors(const Layer& layer) {
    if (const auto* s = std::get_if<Streaming>(&layer.op); s && s->kind == StreamingKind::optimizer) return {};
    const OperandBytes operands = compulsory_bytes(layer);
    return operands.input + operands.filter + operands.output + operands.bias;
}

// More than bytes_of_tensors and quicker: no element has so many bytes, and every padded pixel counts as an output.
Bytes more_than_tensors(const Layer& layer) {
    constexpr Bytes kElement{9};
    if (const auto* g = std::get_if<Gemm>(&layer.op)) {
        const double m = real(g->m), n = real(g->n), k = real(g->k);
        return real(g->batch) * (m * k + k * n + m * n + n) * kElement;
    }
    if (const auto* v = std::get_if<Convolution>(&layer.op)) {
        const double pixels = real(v->h + v->pad_top + v->pad_bottom) * real(v->w + v->pad_left + v->pad_right);
        const double c = real(v->c), k = real(v->k);
        return ((c + k) * (real(v->n) * pixels + 1) + k * c * real(v->r * v->s)) * kElement;
    }
    return Bytes{std::numeric_limits<double>::infinity()};
}

Errors too_large(const Layer& layer, Bytes needed, const EstimatedMachine& on) {
    return {{layer.name, fmt::format("its tensors take {}, more than the {} of {}", to_text(needed, 3),
                                     binary_text(on.memory), on.machine.name)}};
}

}  // namespace

Errors estimate_detail::not_launchable(const Layer& layer, const Mapping& m, const Occupancy& fits,
                                       const Machine& machine) {
    if (m.family != KernelFamily::tiled || fits.ctas_per_sm > 0) return {};
    return {{layer.name,
             fmt::format("a tile of {}x{}x{} cannot be launched on {}: {} threads of {} registers and {} of "
                         "shared memory are more than an SM has; give a smaller tile",
                         m.cta.m, m.cta.n, m.cta.k, machine.id, m.threads, m.registers, binary_text(m.shared_memory))}};
}

EstimatedMachine::EstimatedMachine(std::size_t n, const Machine& m, const ModelInputs& in)
    : number(n), machine(m), inputs(in) {
    for (std::size_t i = 0; i < kPrecisions; ++i) plain[i] = computes_plainly(machine, static_cast<Precision>(i));
    const MemoryLevel* dram = machine.find(Level::dram);
    if (dram && dram->capacity) memory = dram->capacity->value;
}

std::string_view name(Method method) {
    static constexpr std::array<std::string_view, 3> kNames = {"gambrel", "paper", "simulation"};
    return kNames[static_cast<std::size_t>(method)];
}

Origin origin(Method method) { return method == Method::simulation ? Origin::simulated : Origin::modelled; }

double Estimate::waves() const {
    const auto* prediction = std::get_if<Prediction>(&detail);
    return prediction ? prediction->terms.waves : 0;
}

Result<const Estimator::SharedMachine*> Estimator::machine_for(const Layer& layer) {
    const std::optional<Frequency> clock = layer.hints.sm_clock ? layer.hints.sm_clock : options_.clock;
    const double asked = layer.hints.base_clock ? -1 : 0;
    const double at = clock ? clock->value() : asked;
    for (const KnownMachine& known : known_)
        if (known.clock == at && known.gpu == layer.hints.gpu) return &known.on;
    const Machine* machine = nullptr;
    if (layer.hints.gpu.empty()) {
        if (!options_.machine) return failure(layer.name, "no GPU is given: use --machine, or a column gpu");
        machine = &*options_.machine;
    } else {
        machine = find_in_catalogue(layer.hints.gpu);
        if (!machine) {
            const auto similar = similar_in_catalogue(layer.hints.gpu);
            return failure(layer.name, fmt::format("gpu \"{}\" is not in the catalogue, which `gambrel machines` "
                                                   "lists{}{}",
                                                   layer.hints.gpu,
                                                   similar.empty() ? "" : "; similar: ", fmt::join(similar, ", ")));
        }
    }
    const auto& base = machine->clocks.base;
    const bool at_base = !clock && base && layer.hints.base_clock;
    const auto inputs = model_inputs(*machine, at_base ? std::optional<Frequency>(base->value) : clock, options_.roofs);
    if (!inputs) return tl::unexpected(inputs.error());
    if (known_.size() < kMostKnown) known_.emplace_back();
    KnownMachine& known = known_[met_ % kMostKnown];
    known = {at, layer.hints.gpu, std::make_shared<const EstimatedMachine>(met_++, *machine, *inputs)};
    return &known.on;
}

Errors Estimator::note_of(const Layer& layer, const EstimatedMachine& on, std::string& note) const {
    note.clear();
    if (on.memory > Bytes{} && more_than_tensors(layer) > on.memory)
        if (const Bytes needed = bytes_of_tensors(layer); needed > on.memory) return too_large(layer, needed, on);
    if (!on.plain[static_cast<std::size_t>(layer.hints.math.value_or(layer.precision))]) {
        auto pipe = pipe_for(layer, on.machine);
        if (!pipe) return std::move(pipe.error());
        note = std::move(pipe->note);
    }
    const auto& base = on.machine.clocks.base;
    if (layer.hints.base_clock && !layer.hints.profiled && base && !layer.hints.sm_clock && !options_.clock)
        note += fmt::format("{}at the base clock of {}, at which such rows were timed: --clock gives another",
                            note.empty() ? "" : "; ", to_text(base->value));
    return {};
}

Mapping Estimator::mapping_of(const Layer& layer, const EstimatedMachine& on) const {
    Mapping m = mapping_for(layer, on.machine, on.inputs.limits);
    if (!options_.tile) return m;
    m = with_tile(m, layer, on.machine, *options_.tile);
    m.source = Mapping::Source::given;
    return m;
}

// Nothing where the layer is run as it stands. A tile by hand is one of an implicit GEMM, which is also all that the
// paper describes and the simulator runs.
std::shared_ptr<const Layer> Estimator::layer_by_algorithm(const Layer& layer, const EstimatedMachine& on) const {
    if (layer.hints.algorithm != kFastestAlgorithm) return nullptr;
    if (options_.method == Method::model && !options_.tile)
        return std::make_shared<const Layer>(by_fastest_algorithm(layer, on.machine, on.inputs));
    Layer implicit = layer;
    implicit.hints.algorithm.clear();
    return std::make_shared<const Layer>(std::move(implicit));
}

Result<Prediction> Estimator::predicted(const Layer& layer, const EstimatedMachine& on) const {
    const Model model = options_.method == Method::paper ? Model::paper : Model::gambrel;
    const auto by_mapping = [&] {
        const Mapping m = mapping_of(layer, on);
        return predict(layer, m, occupancy(on.inputs.limits, m), on.inputs, model);
    };
    const Prediction p = searches_tile() ? predict(layer, on.machine, on.inputs, model, true) : by_mapping();
    if (Errors wrong = not_launchable(layer, p.mapping, p.occupancy, on.machine); !wrong.empty())
        return tl::unexpected(std::move(wrong));
    return p;
}

Result<Estimate> Estimator::operator()(const Layer& given) {
    const auto on = machine_for(given);
    if (!on) return tl::unexpected(on.error());
    Estimate e;
    e.on = **on;
    std::string note;
    if (Errors wrong = note_of(given, *e.on, note); !wrong.empty()) return tl::unexpected(std::move(wrong));
    e.found = layer_by_algorithm(given, *e.on);
    e.layer = e.found ? e.found.get() : &given;
    const Layer& layer = *e.layer;
    if (options_.method == Method::simulation) {
        e.mapping = mapping_of(layer, *e.on);
        const auto simulation = simulate(layer, e.on->machine, e.mapping, options_.simulation);
        if (!simulation) return tl::unexpected(simulation.error());
        e.kernel = kernel_of(layer, e.mapping, e.on->machine);
        add_simulation(*simulation, options_, layer.hints.sm_clock ? layer.hints.sm_clock : options_.clock, e);
        const Layer fastest = by_fastest_algorithm(given, e.on->machine, e.on->inputs);
        if (fastest.hints.algorithm_found)
            e.kernel.reasons.emplace_back(
                fmt::format("simulated as implicit GEMM; {} is predicted to be faster", fastest.hints.algorithm));
        return e;
    }
    const auto p = predicted(layer, *e.on);
    if (!p) return tl::unexpected(p.error());
    e.kernel = kernel_of(layer, p->mapping, e.on->machine);
    if (!note.empty()) e.kernel.reasons.emplace_back(note);
    add_prediction(*p, e.on->inputs, e);
    return e;
}

}  // namespace gambrel
