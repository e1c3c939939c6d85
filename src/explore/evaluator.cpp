#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "explore/candidates.hpp"
#include "explore/placements.hpp"

namespace gambrel {

using namespace explore_detail;

struct DesignEvaluator::Impl {
    Machine machine;
    ModelInputs hardware;
    Workload workload;
    SmLimits limits;
    CandidatePool pool;

    Impl(const Machine& m, const ModelInputs& h, Workload w, Tiles tiles)
        : machine(m),
          hardware(h),
          workload(std::move(w)),
          limits(sm_limits(m)),
          pool(machine, hardware, workload, tiles) {}
};

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

// One design as the layers see it.
struct DesignEvaluator::Scratch::State {
    SmLimits limits;
    ModelInputs inputs;
    UnitTimes units;
    std::vector<Occupancy> occupancies;  // by footprint
    std::map<int, Placements> known;     // by number of SMs
    Placements* placements = nullptr;
    const Prepared* prepared = nullptr;
    int sms = -1;
    std::vector<const Choice*> chosen;  // by layer; null: nothing fits
    std::vector<double> bounds;         // by choice of the layer at work

    void begin(Impl& impl, const Factors& f);
    double fastest(std::size_t layer);

private:
    void begin_sms(CandidatePool& pool);
    [[nodiscard]] bool fits(const Choice& choice) const { return occupancies[choice.footprint].ctas_per_sm > 0; }
    double time_of(const Choice& choice);
};

DesignEvaluator::Scratch::Scratch(std::unique_ptr<State> state) : state_(std::move(state)) {}
DesignEvaluator::Scratch::~Scratch() = default;
DesignEvaluator::Scratch::Scratch(Scratch&&) noexcept = default;

DesignEvaluator::DesignEvaluator(const Machine& machine, const ModelInputs& hardware, Workload workload, Tiles tiles)
    : impl_(std::make_unique<Impl>(machine, hardware, std::move(workload), tiles)) {}
DesignEvaluator::~DesignEvaluator() = default;
DesignEvaluator::DesignEvaluator(DesignEvaluator&&) noexcept = default;

const Workload& DesignEvaluator::workload() const { return impl_->workload; }
const Machine& DesignEvaluator::machine() const { return impl_->machine; }
const ModelInputs& DesignEvaluator::hardware() const { return impl_->hardware; }

DesignEvaluator::Scratch DesignEvaluator::scratch() const {
    auto state = std::make_unique<Scratch::State>();
    state->limits = impl_->limits;
    state->chosen.resize(impl_->workload.items.size());
    return Scratch(std::move(state));
}

void DesignEvaluator::Scratch::State::begin_sms(CandidatePool& pool) {
    sms = static_cast<int>(inputs.sms);
    prepared = &pool.prepared(sms);
    occupancies.resize(prepared->footprints.size());
    constexpr std::size_t kMostKnown = 8;
    if (known.size() == kMostKnown && !known.contains(sms)) known.clear();
    placements = &known.try_emplace(sms, *prepared).first->second;
}

void DesignEvaluator::Scratch::State::begin(Impl& impl, const Factors& f) {
    inputs = scaled(impl.hardware, f);
    units = UnitTimes(inputs);
    if (static_cast<int>(inputs.sms) != sms) begin_sms(impl.pool);
    const Bytes more_shared = impl.limits.shared_memory * (f[Resource::shared] - 1);
    const bool unified = impl.limits.architecture->l1_holds_shared_memory;
    limits.registers = impl.limits.registers * f[Resource::registers];
    limits.shared_memory = impl.limits.shared_memory + more_shared;
    limits.shared_memory_per_cta = impl.limits.shared_memory_per_cta * f[Resource::shared];
    limits.l1 = unified ? impl.limits.l1 + more_shared : impl.limits.l1;
    for (std::size_t i = 0; i < occupancies.size(); ++i) {
        Occupancy& o = occupancies[i] = occupancy(limits, prepared->footprints[i]);
        if (unified && more_shared != Bytes{}) {
            // The steps of the carve-out end at what was built; beyond them L1 has what the CTAs leave.
            const Bytes used = o.ctas_per_sm * prepared->footprints[i].shared_memory;
            o.l1 = std::clamp(limits.l1 - used, Bytes{}, std::min(o.l1, impl.limits.l1));
        }
        placements->set(i, o, inputs.l2_capacity);
    }
}

double DesignEvaluator::Scratch::State::time_of(const Choice& choice) {
    const Occupancy& o = occupancies[choice.footprint];
    const PreparedLayer& layer = choice.candidate->layer;
    if (layer.mapping.family != KernelFamily::tiled) return predicted_time(layer, o, inputs).value();
    return predicted_time(layer, o, inputs, placements->basis(choice, o, inputs)).value();
}

// The choice with the least bound goes first: it is nearly always the fastest, and then no other needs a prediction. Of
// equals the first in order wins, whatever was evaluated before.
double DesignEvaluator::Scratch::State::fastest(std::size_t layer) {
    const std::vector<Choice>& choices = prepared->choices[layer];
    const Choice* likely = nullptr;
    if (bounds.size() < choices.size()) bounds.resize(choices.size());
    double least = kNever;
    for (std::size_t i = 0; i < choices.size(); ++i) {
        if (!fits(choices[i])) continue;
        bounds[i] = choices.size() > 1 ? units.least(placements->least(choices[i])).value() : 0;
        if (bounds[i] < least) least = bounds[i], likely = &choices[i];
    }
    chosen[layer] = likely;
    if (likely == nullptr) return kNever;
    double best = time_of(*likely);
    for (std::size_t i = 0; i < choices.size(); ++i) {
        const Choice* const other = &choices[i];
        if (other == likely || !fits(*other) || bounds[i] > best) continue;
        const double t = time_of(*other);
        if (t < best || (t == best && other < chosen[layer])) best = t, chosen[layer] = other;
    }
    return best;
}

double DesignEvaluator::time(const Factors& f, Scratch& scratch) const {
    Scratch::State& s = *scratch.state_;
    s.begin(*impl_, f);
    double total = 0;
    for (std::size_t i = 0; i < impl_->workload.items.size(); ++i)
        total += impl_->workload.items[i].weight * s.fastest(i);
    return total;
}

WorkloadTime DesignEvaluator::evaluate(const Factors& f) const {
    Scratch own = scratch();
    WorkloadTime a;
    a.time = time(f, own);
    a.network_time.resize(impl_->workload.networks.size());
    const Scratch::State& s = *own.state_;
    for (std::size_t i = 0; i < impl_->workload.items.size(); ++i) {
        const Workload::Item& item = impl_->workload.items[i];
        LayerTime layer;
        layer.time = kNever;
        if (const Choice* choice = s.chosen[i]) {
            const Occupancy& o = s.occupancies[choice->footprint];
            const Prediction p = predict(choice->candidate->layer, o, s.inputs);
            layer.time = p.time.value();
            layer.bound = p.bound;
            for (std::size_t t = 0; t < kTerms; ++t) layer.exposed[t] = p.exposed[t].value();
            layer.tile = p.mapping.cta;
            layer.ctas_per_sm = o.ctas_per_sm;
            layer.l1_bytes = p.traffic.l1.total().value();
            layer.l2_bytes = p.traffic.l2.total().value();
            layer.dram_bytes = p.traffic.dram.total().value();
        }
        for (std::size_t t = 0; t < kTerms; ++t) a.exposed[t] += item.weight * layer.exposed[t];
        a.network_time[item.network] += item.layer.repeat * layer.time;
        a.layers.push_back(layer);
    }
    return a;
}

void Workload::add(const LayerSet& layers, double weight, bool convolutions_only) {
    if (layers.network) return add(*layers.network, weight, convolutions_only);
    Network rows;
    rows.name = layers.title;
    for (const LayerRow& row : layers.table->rows)
        rows.layers.insert(rows.layers.end(), row.layers.begin(), row.layers.end());
    add(rows, weight, convolutions_only);
}

void Workload::add(const Network& network, double weight, bool convolutions_only) {
    const std::size_t number = networks.size();
    networks.push_back(network.name);
    for (const Layer& layer : merged(network.layers))
        if (!convolutions_only || std::holds_alternative<Convolution>(layer.op))
            items.push_back({layer, weight * layer.repeat, number});
}

}  // namespace gambrel
