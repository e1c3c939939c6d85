#include <algorithm>
#include <cmath>
#include <limits>

#include "explore/candidates.hpp"

namespace gambrel {

using namespace explore_detail;

struct DesignEvaluator::Impl {
    Machine machine;
    Hardware hardware;
    Workload workload;
    double registers, shared, shared_per_cta, l1;
    bool unified;  // L1 and shared memory are one array
    CandidatePool pool;

    Impl(const Machine& m, const Hardware& h, Workload w, Tiles tiles)
        : machine(m), hardware(h), workload(std::move(w)), pool(machine, workload, tiles) {
        registers = base_value(machine, hardware, Resource::registers);
        shared = base_value(machine, hardware, Resource::shared);
        shared_per_cta = machine.sm.shared_memory_per_cta ? machine.sm.shared_memory_per_cta->value.value() : shared;
        const MemoryLevel* level = machine.find(Level::l1);
        l1 = level && level->capacity ? level->capacity->value.value() : 0;
        unified = !machine.compute_capability || machine.compute_capability->major >= 7;
    }
};

// One design as the layers see it. The machine is a copy whose few numbers are written over for each design, because
// occupancy asks a machine, and a new one for each would cost an allocation for each of its texts.
struct DesignEvaluator::Scratch::State {
    Machine machine;
    std::vector<Occupancy> occupancies;  // by footprint
    const Prepared* prepared = nullptr;
    int sms = -1;
    delta_detail::Case at;
    Prediction p;
    std::vector<const Choice*> chosen;  // by layer
};

namespace {

Sourced<Bytes> of_design(double bytes) { return {Bytes{bytes}, Origin::assumed, {}}; }

}  // namespace

DesignEvaluator::Scratch::Scratch(std::unique_ptr<State> state) : state_(std::move(state)) {}
DesignEvaluator::Scratch::~Scratch() = default;
DesignEvaluator::Scratch::Scratch(Scratch&&) noexcept = default;

DesignEvaluator::DesignEvaluator(const Machine& machine, const Hardware& hardware, Workload workload, Tiles tiles)
    : impl_(std::make_unique<Impl>(machine, hardware, std::move(workload), tiles)) {}
DesignEvaluator::~DesignEvaluator() = default;
DesignEvaluator::DesignEvaluator(DesignEvaluator&&) noexcept = default;

const Workload& DesignEvaluator::workload() const { return impl_->workload; }
const Machine& DesignEvaluator::machine() const { return impl_->machine; }
const Hardware& DesignEvaluator::hardware() const { return impl_->hardware; }

DesignEvaluator::Scratch DesignEvaluator::scratch() const {
    auto state = std::make_unique<Scratch::State>();
    state->machine = impl_->machine;
    state->machine.sm.registers = of_design(impl_->registers);
    state->machine.sm.shared_memory = of_design(impl_->shared);
    state->machine.sm.shared_memory_per_cta = of_design(impl_->shared_per_cta);
    state->machine.at(Level::l1).capacity = of_design(impl_->l1);
    state->chosen.resize(impl_->workload.items.size());
    return Scratch(std::move(state));
}

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// Of one layer run by one candidate; `at` and `p` hold the design and are written over.
double run(const Candidate& c, const Occupancy& occupancy, const Layer& layer, delta_detail::Case& at, Prediction& p) {
    p.flop = c.flop;
    if (c.fixed.mapping.family != KernelFamily::tiled) {
        p.mapping.pipe = c.fixed.mapping.pipe;
        delta_detail::streaming(layer, at.hardware, p);
        return p.time;
    }
    at.mapping = c.fixed.mapping;
    at.grid = c.fixed.grid;
    at.geometry = c.fixed.geometry;
    at.groups = c.fixed.groups;
    at.occupancy = occupancy;
    at.resident = delta_detail::resident_ctas(at.grid, occupancy, at.hardware);
    p.traffic.shared = c.shared;
    p.traffic.l1 = c.l1;
    p.traffic.l2 = delta_detail::l2_traffic(at);
    delta_detail::dram_traffic(at, p.traffic);
    delta_detail::time(at, layer, p);
    return p.time;
}

Term longest(const TimeTerms& terms, std::initializer_list<Term> of) {
    Term found = *of.begin();
    for (const Term t : of)
        if (terms[t] > terms[found]) found = t;
    return found;
}

// What fills an SM; latency only where nothing else does, as the model names it.
Term busy_term(const TimeTerms& terms) {
    const Term filling = longest(terms, {Term::compute, Term::issue, Term::shared});
    return terms[filling] > 0.9 * terms[Term::latency] ? filling : Term::latency;
}

// What a prediction waits for, second by second: the longest term, then what nothing hides.
std::array<double, kTerms> exposed_of(const Prediction& p, const Hardware& h) {
    std::array<double, kTerms> exposed{};
    const auto part = [&](Term t) -> double& { return exposed[static_cast<std::size_t>(t)]; };
    const TimeTerms& t = p.terms;
    const Term memory = longest(t, {Term::l1, Term::l2, Term::dram});
    part(Term::launch) = std::min(t[Term::launch], p.time);
    double around = t.prologue + t.epilogue, waiting = around;
    Term most = longest(t, {Term::compute, memory});
    if (p.mapping.family == KernelFamily::tiled) {
        const double per_sm = std::max(1, p.occupancy.ctas_per_sm);
        const double once = (h.dram_latency + h.l2_latency) / h.clock;
        waiting = std::ceil(t.waves) * (once + h.dram_latency / h.clock) / per_sm;
        // As time() has it: asynchronous copies hide what is around the busy time under that of the memory.
        const bool hidden = p.mapping.a.asynchronous && t[Term::latency] + around < t[memory] + once;
        if (hidden) around = waiting = once;
        const bool by_memory = p.mapping.a.asynchronous ? hidden : t[memory] > t[Term::latency];
        most = by_memory ? memory : busy_term(t);
    }
    around = std::min(around, p.time - part(Term::launch));
    part(Term::latency) += std::min(waiting, around);
    part(Term::dram) += around - std::min(waiting, around);
    part(most) += p.time - part(Term::launch) - around;
    return exposed;
}

}  // namespace

double DesignEvaluator::time(const Factors& f, Scratch& scratch) const {
    const Impl& impl = *impl_;
    Scratch::State& s = *scratch.state_;
    s.at.hardware = scaled(impl.hardware, f);
    if (const int sms = static_cast<int>(s.at.hardware.sms); sms != s.sms) {
        s.prepared = &impl_->pool.prepared(sms);
        s.sms = sms;
        s.machine.sm.sms = Sourced<double>{s.at.hardware.sms, Origin::assumed, {}};
        s.occupancies.resize(s.prepared->footprints.size());
    }
    const double more_shared = impl.shared * (f[Resource::shared] - 1);
    s.machine.sm.registers->value = Bytes{impl.registers * f[Resource::registers]};
    s.machine.sm.shared_memory->value = Bytes{impl.shared + more_shared};
    s.machine.sm.shared_memory_per_cta->value = Bytes{impl.shared_per_cta * f[Resource::shared]};
    const double array = impl.unified ? impl.l1 + more_shared : impl.l1;
    s.machine.at(Level::l1).capacity->value = Bytes{array};
    for (std::size_t i = 0; i < s.occupancies.size(); ++i) {
        Occupancy& o = s.occupancies[i] = occupancy(s.machine, s.prepared->footprints[i]);
        if (!impl.unified || more_shared == 0) continue;
        // The steps of the carve-out end at what was built; beyond them L1 has what the CTAs leave.
        const double used = o.ctas_per_sm * s.prepared->footprints[i].shared_memory.value();
        o.l1 = Bytes{std::clamp(array - used, 0.0, std::min(o.l1.value(), impl.l1))};
    }
    double total = 0;
    for (std::size_t i = 0; i < impl.workload.items.size(); ++i) {
        const Workload::Item& item = impl.workload.items[i];
        double best = kNever;
        s.chosen[i] = nullptr;
        for (const Choice& choice : s.prepared->choices[i]) {
            const Occupancy& o = s.occupancies[choice.footprint];
            if (o.ctas_per_sm == 0 || choice.candidate->least_time(s.at.hardware) >= best) continue;
            const double t = run(*choice.candidate, o, item.layer, s.at, s.p);
            if (t >= best) continue;
            best = t;
            s.chosen[i] = &choice;
        }
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
    const Hardware& h = s.at.hardware;
    for (std::size_t i = 0; i < impl_->workload.items.size(); ++i) {
        const Workload::Item& item = impl_->workload.items[i];
        LayerTime layer;
        layer.time = kNever;
        if (const Choice* choice = s.chosen[i]) {
            const Occupancy& o = s.occupancies[choice->footprint];
            const Prediction p = predict(item.layer, choice->candidate->fixed.mapping, o, h);
            layer.time = p.time;
            layer.bound = p.bound;
            layer.exposed = exposed_of(p, h);
            layer.tile = p.mapping.cta;
            layer.ctas_per_sm = o.ctas_per_sm;
            layer.l1_bytes = p.traffic.l1.total();
            layer.l2_bytes = p.traffic.l2.total();
            layer.dram_bytes = p.traffic.dram.total();
        }
        for (std::size_t t = 0; t < kTerms; ++t) a.exposed[t] += item.weight * layer.exposed[t];
        a.network_time[item.network] += item.layer.repeat * layer.time;
        a.layers.push_back(layer);
    }
    return a;
}

void Workload::add(const Network& network, double weight, bool convolutions_only) {
    const std::size_t number = networks.size();
    networks.push_back(network.name);
    for (const Layer& layer : merged(network.layers))
        if (!convolutions_only || std::holds_alternative<Convolution>(layer.op))
            items.push_back({layer, weight * layer.repeat, number});
}

}  // namespace gambrel
