#include "explore/evaluator.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace gambrel {
namespace {

template <class Q>
void scale(Fact<Q>& fact, double factor) {
    if (!fact || factor == 1) return;
    fact = Sourced<Q>{fact->value * factor, Origin::assumed, fmt::format("a design: x{:.4g}", factor)};
}

// A ceiling at a known clock is carried to the design's clock by its users; one without a clock is scaled here.
template <class Q>
void scale(std::optional<AtClock<Q>>& ceiling, double factor, double clock) {
    if (!ceiling) return;
    const double all = ceiling->clock ? factor : factor * clock;
    if (all == 1) return;
    ceiling->ceiling = {ceiling->ceiling.value * all, Origin::assumed, fmt::format("a design: x{:.4g}", all)};
}

double width_factor(Level level, const Factors& f) {
    switch (level) {
        case Level::shared:
            return f[Resource::shared_bandwidth];
        case Level::l1:
            return f[Resource::l1_bandwidth];
        case Level::l2:
            return f[Resource::l2_bandwidth];
        case Level::dram:
            return f[Resource::dram_bandwidth];
        case Level::l3:
            break;
    }
    return 1;
}

void scale_level(MemoryLevel& l, const Factors& f, double sms) {
    const bool of_sm = l.level == Level::l1 || l.level == Level::shared;
    const double width = width_factor(l.level, f), clock = l.level == Level::dram ? 1 : f[Resource::clock];
    const double device = width * (of_sm ? sms : 1);
    scale(l.width, l.per_sm ? width : device);
    scale(l.bandwidth, device * clock);
    scale(l.measured, device, clock);
    if (l.level == Level::l2) scale(l.capacity, f[Resource::l2_capacity]);
}

Kernel kernel_of(const Workload::Item& item, const LayerTime& layer, const Machine& machine, Frequency clock) {
    const auto modelled = [](auto value) {
        return Amount<decltype(value)>{value, Origin::modelled, Symbol("explore")};
    };
    const double n = item.weight;
    Kernel k;
    k.name = Symbol(item.layer.name), k.phase = Symbol(name(item.layer.pass)), k.device = Symbol(machine.name);
    k.launches = static_cast<std::uint64_t>(std::max(1.0, std::round(n)));
    k.time = modelled(Seconds{layer.time * n});
    k.work[mapping_for(item.layer, machine).pipe] = modelled(Flops{layer.flop * n});
    for (const Pipe pipe : {Pipe::fp32, Pipe::fp16, Pipe::tensor_fp16})
        if (!k.work[pipe]) k.work[pipe] = modelled(Flops{0});
    k.bytes[Level::l1] = modelled(Bytes{layer.l1_bytes * n});
    k.bytes[Level::l2] = modelled(Bytes{layer.l2_bytes * n});
    k.bytes[Level::dram] = modelled(Bytes{layer.dram_bytes * n});
    k.clock = modelled(clock);
    if (flop(item.layer).value() <= 0) k.zero_flop_launches = k.launches;
    return k;
}

}  // namespace

Machine design_machine(const Machine& machine, const Factors& f) {
    if (std::all_of(f.begin(), f.end(), [](double factor) { return factor == 1; })) return machine;
    Machine m = with_room(machine, f);
    // SMs are whole, so the ratio may differ from the factor.
    const double sms = machine.sm.sms && m.sm.sms ? m.sm.sms->value / machine.sm.sms->value : f[Resource::sms];
    const double clock = f[Resource::clock], macs = f[Resource::macs];
    scale(m.clocks.base, clock), scale(m.clocks.boost, clock);
    for (const Pipe p : all_pipes()) {
        Arithmetic& a = m.pipes[p];
        scale(a.dense, macs), scale(a.sparse, macs);
        for (auto* ceiling : {&a.stated, &a.stated_sparse, &a.measured}) scale(*ceiling, macs * sms, clock);
    }
    for (MemoryLevel& l : m.levels) scale_level(l, f, sms);
    m.source = "a design of gambrel explore";
    m.made_from = MachineSource::design;
    return m;
}

Analysis design_analysis(const ExplorationReport& c, const EvaluatedDesign& design) {
    Machine machine = design_machine(c.base, design.factors);
    if (&design != &c.designs.front()) machine.name += ", " + design.name;
    const Frequency clock = c.hardware.clock * design.factors[Resource::clock];
    std::vector<Kernel> kernels;
    for (std::size_t i = 0; i < design.timing.layers.size(); ++i)
        kernels.push_back(kernel_of(c.workload.items[i], design.timing.layers[i], machine, clock));
    AnalysisOptions options;
    options.grouping = Grouping::launch;  // a layer each; two networks may have layers of one name
    Run run;
    run.title = &design == &c.designs.front() ? c.machine : design.name;
    run.kernels = std::move(kernels);
    run.machines.push_back(std::move(machine));
    run.origin = Origin::modelled;
    return analysis(std::move(run), options);
}

const EvaluatedDesign* recommended_design(const ExplorationReport& c) {
    if (c.designs.size() < 2) return nullptr;
    if (!c.search.empty()) return &c.designs.back();  // the fastest, or behind it the cheapest that reaches the target
    return &*std::max_element(c.designs.begin() + 1, c.designs.end(),
                              [](const auto& a, const auto& b) { return a.speedup < b.speedup; });
}

bool found_what_was_asked(const ExplorationReport& c) {
    if (c.search.empty()) return true;
    return c.kept > 0 && (!c.target || c.designs.back().name == "cheapest");
}

std::vector<double> network_elasticities(const ExplorationReport& c, const Sensitivity& s) {
    // Layers have ln(speed-up) over ln(factor) at a tenth more; times add up, their logarithms do not.
    constexpr double kTenth = 1.1;
    std::vector<double> before(c.workload.networks.size()), after(before);
    for (std::size_t i = 0; i < s.layers.size(); ++i) {
        const auto& item = c.workload.items[i];
        const double time = item.weight * c.designs.front().timing.layers[i].time;
        before[item.network] += time, after[item.network] += time * std::pow(kTenth, -s.layers[i]);
    }
    std::vector<double> out;
    for (std::size_t n = 0; n < before.size(); ++n)
        out.push_back(after[n] > 0 ? std::log(before[n] / after[n]) / std::log(kTenth) : 0);
    return out;
}

}  // namespace gambrel
