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

// One design as the layers see it.
struct DesignEvaluator::Scratch::State {
    SmLimits limits;
    ModelInputs inputs;
    std::vector<Occupancy> occupancies;  // by footprint
    std::map<int, Placements> known;     // by number of SMs
    Placements* placements = nullptr;
    const Prepared* prepared = nullptr;
    int sms = -1;
    std::vector<const Choice*> chosen;  // by layer
    std::vector<const Choice*> likely;  // by layer: the fastest of the design before, or null
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
    state->likely.resize(impl_->workload.items.size());
    return Scratch(std::move(state));
}

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

double DesignEvaluator::time(const Factors& f, Scratch& scratch) const {
    const Impl& impl = *impl_;
    Scratch::State& s = *scratch.state_;
    s.inputs = scaled(impl.hardware, f);
    if (const int sms = static_cast<int>(s.inputs.sms); sms != s.sms) {
        s.prepared = &impl_->pool.prepared(sms);
        s.sms = sms;
        s.occupancies.resize(s.prepared->footprints.size());
        constexpr std::size_t kMostKnown = 8;
        if (s.known.size() == kMostKnown && !s.known.contains(sms)) s.known.clear();
        s.placements = &s.known.try_emplace(sms, *s.prepared).first->second;
        std::fill(s.likely.begin(), s.likely.end(), nullptr);
    }
    const Bytes more_shared = impl.limits.shared_memory * (f[Resource::shared] - 1);
    const bool unified = impl.limits.architecture->l1_holds_shared_memory;
    s.limits.registers = impl.limits.registers * f[Resource::registers];
    s.limits.shared_memory = impl.limits.shared_memory + more_shared;
    s.limits.shared_memory_per_cta = impl.limits.shared_memory_per_cta * f[Resource::shared];
    s.limits.l1 = unified ? impl.limits.l1 + more_shared : impl.limits.l1;
    for (std::size_t i = 0; i < s.occupancies.size(); ++i) {
        Occupancy& o = s.occupancies[i] = occupancy(s.limits, s.prepared->footprints[i]);
        if (unified && more_shared != Bytes{}) {
            // The steps of the carve-out end at what was built; beyond them L1 has what the CTAs leave.
            const Bytes used = o.ctas_per_sm * s.prepared->footprints[i].shared_memory;
            o.l1 = std::clamp(s.limits.l1 - used, Bytes{}, std::min(o.l1, impl.limits.l1));
        }
        s.placements->set(i, o, s.inputs.l2_capacity);
    }
    double total = 0;
    for (std::size_t i = 0; i < impl.workload.items.size(); ++i) {
        const Workload::Item& item = impl.workload.items[i];
        const auto time_of = [&](const Choice& choice) {
            const Occupancy& o = s.occupancies[choice.footprint];
            if (o.ctas_per_sm == 0) return kNever;
            const PreparedLayer& layer = choice.candidate->layer;
            if (layer.mapping.family != KernelFamily::tiled) return predicted_time(layer, o, s.inputs).value();
            return predicted_time(layer, o, s.inputs, s.placements->of(choice, o, s.inputs).placement).value();
        };
        // What was fastest on the design before is likely to be so again, and most others then need no prediction.
        // They keep their order, so that the first of equals wins whatever was evaluated before.
        const Choice* const likely = s.likely[i];
        const double bound = likely ? time_of(*likely) : kNever;
        double best = kNever;
        s.chosen[i] = nullptr;
        for (const Choice& choice : s.prepared->choices[i]) {
            const LeastWork& work = choice.least;
            double t = bound;
            if (&choice != likely) {
                const Occupancy& o = s.occupancies[choice.footprint];
                if (o.ctas_per_sm == 0) continue;
                if (work.bounds) {
                    const auto hopeless = [&](double least) { return least >= best || least > bound; };
                    const Cycles busy = work.busy(s.inputs);
                    const Placements::Kept* kept = s.placements->find(choice);
                    if (kept == nullptr && hopeless(work.least_time(s.inputs, busy))) continue;
                    if (kept == nullptr) kept = &s.placements->of(choice, o, s.inputs);
                    if (hopeless(kept->least_time(s.inputs, busy))) continue;
                }
                t = time_of(choice);
            }
            if (t >= best) continue;
            best = t;
            s.chosen[i] = &choice;
        }
        s.likely[i] = s.chosen[i];
        total += item.weight * best;
    }
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
