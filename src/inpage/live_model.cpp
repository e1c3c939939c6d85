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

bool is_tiled(const Mapping& mapping) { return mapping.family == KernelFamily::tiled; }

// As an Estimate has it: the launch of a tiled kernel is known, that of others is not (0).
double ctas_of(const Layer& layer, const Mapping& mapping) {
    if (!is_tiled(mapping)) return 0;
    const Grid g = grid(*kernel_view(layer), mapping);
    const auto side = [](std::int64_t n) { return static_cast<double>(std::clamp<std::int64_t>(n, 1, 0x7fffffff)); };
    return side(g.rows) * side(g.columns) * side(g.batch * g.split_k);
}

}  // namespace

// As an exploration scales its designs: what an SM has stays, L2 follows the clock of the SMs, DRAM has its own.
ModelInputs scaled_inputs(ModelInputs in, const DesignFactors& f) {
    in.sms = in.limits.sms = whole_sms(in.sms, f.sms);
    for (const Pipe pipe : all_pipes())
        if (is_tensor(pipe)) in.flop_per_cycle[pipe] *= f.tensor;
    in.clock *= f.clock;
    in.fed *= f.sms * f.clock;
    in.matrix_power.fed *= f.sms * f.clock * f.tensor;
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

Layer without_kernel(const Layer& layer) {
    Layer out = layer;
    out.hints.timing = timing_of(layer.hints);
    out.hints.kernel.clear();
    out.hints.tile_m = out.hints.tile_n = out.hints.tile_k = 0;
    out.hints.split_k = out.hints.kernels = 0;
    out.hints.fma = 0;
    return out;
}

void LiveModel::add_layer(Layer layer, std::size_t machine, std::optional<Frequency> clock) {
    layers_.push_back({std::move(layer), machine, clock ? clock->value() : 0});
    stale_ = true;
}

bool LiveModel::set_recipe(NetworkRecipe recipe, std::size_t machine, std::optional<Frequency> clock) {
    const auto network = network_by(recipe);
    if (!network) return false;
    layers_.clear();
    for (const Layer& layer : network->layers) add_layer(layer, machine, clock);
    recipe_ = std::move(recipe);
    return true;
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

// As the library settles it (src/roofline/limits.cpp) for what a model knows.
void LiveModel::judge(LiveLayer& l, const Target& on, double ctas) const {
    const RoofSet& roofs = on.roofs;
    const auto longer = [&](Seconds shortest, Bound bound) {
        if (shortest > l.shortest) l.shortest = shortest, l.nearest = bound;
    };
    if (const FlopRate roof = roofs.pipes[l.pipe]; roof > FlopRate{}) longer(l.work / roof, l.pipe);
    const std::pair<Level, Bytes> levels[] = {{Level::l1, l.l1}, {Level::l2, l.l2}, {Level::dram, l.dram}};
    for (const auto& [level, bytes] : levels)
        if (const Bandwidth roof = roofs.levels[level]; roof > Bandwidth{}) longer(bytes / roof, level);
    l.bound = l.nearest;
    const auto has = [&](Level level) { return roofs.levels[level] > Bandwidth{}; };
    const bool judged = !std::holds_alternative<std::monostate>(l.nearest) && l.time > Seconds{};
    if (!judged || l.shortest / l.time >= near_ || !has(Level::dram) || !(has(Level::l2) || has(Level::l1))) return;
    l.bound = ctas > 0 && ctas < on.scaled.sms ? OffRoof::occupancy : OffRoof::latency;
}

LiveLayer LiveModel::evaluated(const Layer& given, const Target& on) const {
    LiveLayer l;
    const auto refused = [&](Refusal why) { return l.refusal = why, l; };
    if (!on.inputs) return refused(Refusal::machine);
    if (!fits_memory(given, on.mapped)) return refused(Refusal::memory);
    if (!pipe_for(given, on.mapped)) return refused(Refusal::no_arithmetic);
    const ModelInputs& in = on.scaled;
    std::optional<Layer> found;
    if (given.hints.algorithm == kFastestAlgorithm) found = by_fastest_algorithm(given, on.mapped, in);
    const Layer& layer = found ? *found : given;
    const Mapping mapping = mapping_for(layer, on.mapped, in.limits);
    const Occupancy resident = occupancy(in.limits, mapping);
    if (is_tiled(mapping) && resident.ctas_per_sm == 0) return refused(Refusal::launch);
    const Prediction p = predict(prepare(layer, mapping), resident, in);
    const double runs = layer.repeat;
    const TimeInterval& interval = time_intervals(*in.architecture)[static_cast<std::size_t>(p.regime)];
    l.time = p.time * runs;
    l.time_low = p.time * interval.low * runs, l.time_high = p.time * interval.high * runs;
    l.work = kernel_flop(layer) * runs;
    l.l1 = p.traffic.l1.total() * runs;
    l.l2 = p.traffic.counted_l2() * runs;
    l.dram = (layer.hints.cold ? p.traffic.counted_dram() : p.traffic.dram.total()) * runs;
    l.waits_for = p.bound;
    l.pipe = p.mapping.pipe;
    l.clock = in.clock;
    l.tile = p.mapping.cta;
    judge(l, on, ctas_of(layer, p.mapping));
    return l;
}

void LiveModel::change(const LiveWork& work) {
    stale_ = false;
    work_ = work;
    current_ = layers_;
    if (recipe_) {
        NetworkRecipe recipe = *recipe_;
        if (work.batch > 0) recipe.batch = work.batch;
        if (work.sequence > 0) recipe.sequence = work.sequence;
        if (work.context > 0) recipe.context = work.context;
        if (work.precision) recipe.precision = work.precision;
        const auto network = network_by(recipe);
        model_run_ = network ? network->model : std::nullopt;
        if (!network) {
            for (PlacedLayer& l : current_) l.refusal = Refusal::network;
            return;
        }
        const PlacedLayer place = layers_.front();
        current_.clear();
        for (const Layer& layer : network->layers) current_.push_back({layer, place.machine, place.clock});
        return;
    }
    for (PlacedLayer& l : current_) {
        if (work.precision && l.layer.precision != Precision::int8) l.layer.precision = *work.precision;
        if (work.batch_factor == 1) continue;
        if (auto grown = with_batch(l.layer, work.batch_factor))
            l.layer = std::move(*grown);
        else
            l.refusal = Refusal::batch;
    }
}

bool LiveModel::is_foreign(const PlacedLayer& layer, std::size_t machine) const {
    return machines_[machine].compute_capability != machines_[layer.machine].compute_capability;
}

const std::vector<LiveLayer>& LiveModel::evaluate(const DesignFactors& factors, const LiveWork& work,
                                                  std::optional<std::size_t> machine) {
    ++evaluation_;
    if (stale_ || work != work_) change(work);
    out_.resize(current_.size());
    for (std::size_t i = 0; i < current_.size(); ++i) {
        const PlacedLayer& l = current_[i];
        out_[i] = LiveLayer{};
        out_[i].refusal = l.refusal;
        if (l.refusal != Refusal::none) continue;
        const std::size_t at = machine.value_or(l.machine);
        // A clock that was given holds on the machine that it was given for, and so does a kernel.
        const Target& on = target(at, at == l.machine ? l.clock : 0, factors);
        out_[i] = evaluated(is_foreign(l, at) && !l.layer.hints.kernel.empty() ? without_kernel(l.layer) : l.layer, on);
    }
    return out_;
}

LiveRun LiveModel::run(std::optional<std::size_t> machine) const {
    LiveRun out;
    if (!recipe_ || current_.empty()) return out;
    if (model_run_) out.tokens = model_run_->tokens, out.memory = model_run_->memory();
    out.samples = static_cast<double>(std::max<std::int64_t>(1, work_.batch > 0 ? work_.batch : recipe_->batch));
    const MemoryLevel* dram = machines_[machine.value_or(current_.front().machine)].find(Level::dram);
    if (dram && dram->capacity) out.capacity = dram->capacity->value;
    return out;
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
