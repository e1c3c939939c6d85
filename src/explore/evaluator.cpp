#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "explore/candidates.hpp"
#include "explore/design_batch.hpp"

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

struct DesignEvaluator::Scratch::State {
    explicit State(const ModelInputs& hardware) : batch(hardware) {}
    std::map<int, KnownFits> known;  // by number of SMs
    DesignBatch batch;
    std::vector<std::uint32_t> order;
    std::vector<double> sms;
    std::vector<const Choice*> chosen;  // by layer, of the first design of a batch; null: nothing fits

    KnownFits& fits(Impl& impl, int sms);
    void add(Impl& impl, std::span<double> times, std::size_t first);
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
    auto state = std::make_unique<Scratch::State>(impl_->hardware);
    state->chosen.resize(impl_->workload.items.size());
    return Scratch(std::move(state));
}

KnownFits& DesignEvaluator::Scratch::State::fits(Impl& impl, int sms_of_them) {
    constexpr std::size_t kMostKnown = 8;
    if (known.size() == kMostKnown && !known.contains(sms_of_them)) known.clear();
    return known.try_emplace(sms_of_them, impl.limits, impl.pool.prepared(sms_of_them)).first->second;
}

// Times of the batch, whose first design is that of `first` in order.
void DesignEvaluator::Scratch::State::add(Impl& impl, std::span<double> times, std::size_t first) {
    if (batch.size() == 0) return;
    for (std::size_t layer = 0; layer < impl.workload.items.size(); ++layer) {
        const std::vector<double>& found = batch.times(layer);
        const double weight = impl.workload.items[layer].weight;
        for (std::size_t i = 0; i < found.size(); ++i) times[order[first + i]] += weight * found[i];
        chosen[layer] = batch.chosen();
    }
}

double DesignEvaluator::time(const Factors& f, Scratch& scratch) const {
    double time = 0;
    times({&f, 1}, scratch, {&time, 1});
    return time;
}

void DesignEvaluator::times(std::span<const Factors> designs, Scratch& scratch, std::span<double> times) const {
    Scratch::State& s = *scratch.state_;
    s.sms.clear();
    for (const Factors& f : designs) s.sms.push_back(scaled_sms(impl_->hardware, f));
    s.order.resize(designs.size());
    std::iota(s.order.begin(), s.order.end(), 0U);
    std::stable_sort(s.order.begin(), s.order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return s.sms[a] < s.sms[b]; });
    std::fill(times.begin(), times.end(), 0);
    std::size_t first = 0;
    for (std::size_t i = 0; i < designs.size(); ++i) {
        const double sms = s.sms[s.order[i]];
        const Factors& f = designs[s.order[i]];
        if (i > first && sms == s.sms[s.order[first]] && s.batch.add(f)) continue;
        if (i > first) s.add(*impl_, times, first);
        first = i;
        KnownFits& fits = s.fits(*impl_, static_cast<int>(sms));
        s.batch.begin(fits);
        if (s.batch.add(f)) continue;
        fits.forget();
        s.batch.begin(fits);
        s.batch.add(f);
    }
    if (!designs.empty()) s.add(*impl_, times, first);
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
            const Occupancy& o = s.batch.occupancy(*choice);
            const Prediction p = predict(choice->candidate->layer, o, scaled(impl_->hardware, f));
            layer.time = p.time.value();
            layer.bound = p.bound;
            for (std::size_t t = 0; t < kTerms; ++t) layer.exposed[t] = p.exposed[t].value();
            layer.tile = p.mapping.cta;
            layer.ctas_per_sm = o.ctas_per_sm;
            layer.flop = choice->candidate->layer.flop.value();
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
