#include <algorithm>
#include <cmath>

#include <gambrel/inpage.hpp>

namespace gambrel {
namespace {

double whole_sms(double sms, double factor) { return std::max(1.0, std::round(sms * factor)); }

bool fits_memory(const Layer& layer, const Machine& machine) {
    const MemoryLevel* dram = machine.find(Level::dram);
    if (!dram || !dram->capacity) return true;
    const OperandBytes operands = compulsory_bytes(layer);
    return operands.input + operands.filter + operands.output + operands.bias <= dram->capacity->value;
}

void judge(LiveLayer& l, const RoofSet& roofs) {
    const auto longer = [&](Seconds shortest, Bound bound) {
        if (shortest > l.shortest) l.shortest = shortest, l.bound = bound;
    };
    if (const FlopRate roof = roofs.pipes[l.pipe]; roof > FlopRate{}) longer(l.work / roof, l.pipe);
    const std::pair<Level, Bytes> levels[] = {{Level::l1, l.l1}, {Level::l2, l.l2}, {Level::dram, l.dram}};
    for (const auto& [level, bytes] : levels)
        if (const Bandwidth roof = roofs.levels[level]; roof > Bandwidth{}) longer(bytes / roof, level);
}

}  // namespace

// As an exploration scales its designs: what an SM has stays, L2 follows the clock of the SMs, DRAM has its own.
ModelInputs scaled_inputs(ModelInputs in, const DesignFactors& f) {
    in.sms = whole_sms(in.sms, f.sms);
    for (const Pipe pipe : all_pipes())
        if (is_tensor(pipe)) in.flop_per_cycle[pipe] *= f.tensor;
    in.clock *= f.clock;
    in.clock_long *= f.clock;
    in.l2_bandwidth *= f.l2_bandwidth * f.clock;
    in.l2_capacity *= f.l2_capacity;
    in.dram_bandwidth *= f.dram_bandwidth;
    return in;
}

RoofSet scaled_roofs(const Machine& machine, std::optional<Frequency> clock, Roofs roofs, const DesignFactors& f) {
    const double sms = needed(machine, Needed::sms);
    const double on_sms = sms > 0 ? whole_sms(sms, f.sms) / sms * f.clock : f.clock;
    RoofSet out;
    for (const Pipe pipe : all_pipes())
        if (const auto ceiling = compute_ceiling(machine, pipe, clock, roofs))
            out.pipes[pipe] = ceiling->value * (on_sms * (is_tensor(pipe) ? f.tensor : 1));
    for (const Level level : all_levels()) {
        const auto ceiling = counter_ceiling(machine, level, clock, roofs);
        if (!ceiling) continue;
        const double factor = level == Level::dram ? f.dram_bandwidth
                              : level == Level::l2 ? f.l2_bandwidth * f.clock
                                                   : on_sms;
        out.levels[level] = ceiling->value * factor;
    }
    return out;
}

std::optional<Layer> with_batch(const Layer& layer, double factor) {
    Layer out = layer;
    bool whole = true;
    const auto grow = [&](std::int64_t& count) {
        const double grown = static_cast<double>(count) * factor;
        whole = whole && grown >= 1 && grown == std::floor(grown) && grown < 1e15;
        if (whole) count = static_cast<std::int64_t>(grown);
    };
    if (auto* v = std::get_if<Convolution>(&out.op)) {
        grow(v->n);
    } else if (auto* g = std::get_if<Gemm>(&out.op)) {
        // The rows of an activation that a filter is applied to; products of two activations are one for each sample.
        grow(out.has_filter ? g->m : g->batch);
    } else if (auto* s = std::get_if<Streaming>(&out.op)) {
        if (s->kind == StreamingKind::optimizer) return out;
        for (double& read : s->read) read *= factor;
        s->written *= factor, s->rows *= factor;
    } else if (auto* a = std::get_if<Attention>(&out.op)) {
        grow(a->batch);
    } else {
        return std::nullopt;
    }
    if (!whole) return std::nullopt;
    return out;
}

void LiveModel::add_layer(Layer layer, std::size_t machine, std::optional<Frequency> clock) {
    layers_.push_back({std::move(layer), machine, clock ? clock->value() : 0});
    batched_.clear();
}

LiveModel::Target& LiveModel::known(std::size_t machine, double clock) {
    const auto same = [&](const Target& t) { return t.machine == machine && t.clock == clock; };
    if (const auto at = std::find_if(targets_.begin(), targets_.end(), same); at != targets_.end()) return *at;
    Target& t = targets_.emplace_back();
    t.machine = machine, t.clock = clock;
    const std::optional<Frequency> given = clock > 0 ? std::optional(Frequency{clock}) : std::nullopt;
    if (auto inputs = model_inputs(machines_[machine], given, roofs_)) t.inputs = *inputs;
    return t;
}

const LiveModel::Target& LiveModel::target(std::size_t machine, double clock, const DesignFactors& factors) {
    Target& t = known(machine, clock);
    if (!t.inputs || t.evaluation == evaluation_) return t;
    t.evaluation = evaluation_;
    t.scaled = scaled_inputs(*t.inputs, factors);
    t.mapped = machines_[machine];
    t.mapped.sm.sms = Sourced<double>{t.scaled.sms, Origin::assumed, {}};
    t.roofs = scaled_roofs(machines_[machine], t.inputs->clock, roofs_, factors);
    return t;
}

LiveLayer LiveModel::evaluated(const Layer& layer, const Target& on) {
    LiveLayer l;
    const auto refused = [&](Refusal why) { return l.refusal = why, l; };
    if (!on.inputs) return refused(Refusal::machine);
    if (!fits_memory(layer, on.mapped)) return refused(Refusal::memory);
    if (!pipe_for(layer, on.mapped)) return refused(Refusal::no_arithmetic);
    const ModelInputs& in = on.scaled;
    const Mapping mapping = mapping_for(layer, on.mapped, in.limits);
    const Occupancy resident = occupancy(in.limits, mapping);
    if (mapping.family == KernelFamily::tiled && resident.ctas_per_sm == 0) return refused(Refusal::launch);
    const Prediction p = predict(prepare(layer, mapping), resident, in);
    const double runs = layer.repeat;
    l.time = p.time * runs, l.time_low = p.time_low * runs, l.time_high = p.time_high * runs;
    l.work = kernel_flop(layer) * runs;
    l.l1 = p.traffic.l1.total() * runs;
    l.l2 = p.traffic.counted_l2() * runs;
    l.dram = (layer.hints.cold ? p.traffic.counted_dram() : p.traffic.dram.total()) * runs;
    l.waits_for = p.bound;
    l.pipe = p.mapping.pipe;
    l.clock = in.clock;
    judge(l, on.roofs);
    return l;
}

const std::vector<LiveLayer>& LiveModel::evaluate(const DesignFactors& factors, double batch,
                                                  std::optional<std::size_t> machine) {
    ++evaluation_;
    if (batched_.size() != layers_.size() || batch != batch_) {
        batched_.clear();
        for (const PlacedLayer& l : layers_)
            batched_.push_back(batch == 1 ? std::optional(l.layer) : with_batch(l.layer, batch));
        batch_ = batch;
    }
    out_.resize(layers_.size());
    for (std::size_t i = 0; i < layers_.size(); ++i) {
        // A clock that was given holds on the machine that it was given for.
        const Target& on = machine ? target(*machine, *machine == layers_[i].machine ? layers_[i].clock : 0, factors)
                                   : target(layers_[i].machine, layers_[i].clock, factors);
        out_[i] = batched_[i] ? evaluated(*batched_[i], on) : LiveLayer{};
        if (!batched_[i]) out_[i].refusal = Refusal::batch;
    }
    return out_;
}

const LiveModel::Target& LiveModel::as_placed(std::size_t machine) {
    const auto given = [&](const PlacedLayer& l) { return l.machine == machine && l.clock > 0; };
    const auto at = std::find_if(layers_.begin(), layers_.end(), given);
    return known(machine, at == layers_.end() ? 0 : at->clock);
}

RoofSet LiveModel::roofs(std::size_t machine, Roofs roofs, const DesignFactors& factors) {
    const Target& t = as_placed(machine);
    if (!t.inputs) return {};
    return scaled_roofs(machines_[machine], t.inputs->clock, roofs, factors);
}

const ModelInputs* LiveModel::inputs(std::size_t machine) {
    const Target& t = as_placed(machine);
    return t.inputs ? &*t.inputs : nullptr;
}

}  // namespace gambrel
