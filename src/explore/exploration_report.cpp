#include "explore/exploration_report.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace gambrel {
namespace {

ExplorationReport begun(const DesignEvaluator& evaluator) {
    ExplorationReport c;
    c.machine = evaluator.machine().name;
    c.base = evaluator.machine();
    c.hardware = evaluator.hardware();
    c.workload = evaluator.workload();
    for (const std::string& network : c.workload.networks) c.title += (c.title.empty() ? "" : " + ") + network;
    const DesignEvaluator library(c.base, c.hardware, c.workload, Tiles::rule);
    auto scratch = library.scratch();
    c.library_time = library.time({}, scratch);
    c.sensitivities = sensitivities(evaluator);
    return c;
}

double base_time_of(const DesignEvaluator& evaluator) {
    auto scratch = evaluator.scratch();
    return evaluator.time({}, scratch);
}

EvaluatedDesign evaluated_design(const DesignEvaluator& evaluator, const CostTable& costs, std::string name,
                                 std::string what, const Factors& factors, double base_time) {
    EvaluatedDesign d{std::move(name), std::move(what), factors, costs(factors), 1, evaluator.evaluate(factors)};
    d.speedup = base_time / d.timing.time;
    return d;
}

}  // namespace

ExplorationReport exploration_report(const DesignEvaluator& evaluator, const CostTable& costs,
                                     std::span<const ProposedDesign> proposed) {
    ExplorationReport c = begun(evaluator);
    const double base = base_time_of(evaluator);
    c.designs.push_back(evaluated_design(evaluator, costs, "start", c.machine, {}, base));
    for (const ProposedDesign& o : proposed)
        c.designs.push_back(evaluated_design(evaluator, costs, o.name, o.what, o.factors, base));
    return c;
}

ExplorationReport exploration_report(const Exploration& e, const SearchResult& found) {
    ExplorationReport c = begun(e.evaluator());
    c.space = e.space().size();
    c.evaluated = found.evaluated;
    c.kept = found.kept;
    c.search = name(e.search());
    c.target = e.options().target;
    const auto answer = [&](const Design& d, std::string name, std::string what) {
        return evaluated_design(e.evaluator(), e.costs(), std::move(name), std::move(what), e.space().at(d.index),
                                e.base_time());
    };
    c.designs.push_back(evaluated_design(e.evaluator(), e.costs(), "start", c.machine, {}, e.base_time()));
    if (found.best)
        c.designs.push_back(answer(*found.best, "fastest",
                                   e.options().limits.empty() ? "fastest of the space" : "fastest within the limits"));
    if (found.cheapest)
        c.designs.push_back(
            answer(*found.cheapest, "cheapest", fmt::format("cheapest that is {:g} times as fast", *c.target)));
    for (const Design& d : found.front()) {
        EvaluatedDesign point{"", "", e.space().at(d.index), d.cost, e.base_time() / d.time, {}};
        point.timing.time = d.time;
        c.front.push_back(std::move(point));
    }
    return c;
}

void add_map(ExplorationReport& c, const DesignEvaluator& evaluator, const Space& space,
             std::span<const Resource> resources) {
    std::vector<Resource> chosen(resources.begin(), resources.end());
    std::vector<Sensitivity> by_weight = c.sensitivities;
    std::stable_sort(by_weight.begin(), by_weight.end(),
                     [](const Sensitivity& a, const Sensitivity& b) { return a.doubled > b.doubled; });
    const auto axis_of = [&](Resource r) {
        return std::find_if(space.axes.begin(), space.axes.end(), [&](const Axis& a) { return a.resource == r; });
    };
    for (const Sensitivity& s : by_weight) {
        const auto axis = axis_of(s.resource);
        const bool taken = std::find(chosen.begin(), chosen.end(), s.resource) != chosen.end();
        if (chosen.size() < 2 && !taken && axis != space.axes.end() && axis->values.size() > 1)
            chosen.push_back(s.resource);
    }
    if (chosen.size() < 2) return;
    // As fine as lines need, over the range of the space; 1 to 4 where the space does not vary a resource.
    const auto fine = [&](Resource r) {
        const auto axis = axis_of(r);
        const double low = axis == space.axes.end() ? 1 : axis->values.front();
        const double high = axis == space.axes.end() || axis->values.size() < 2 ? 4 : axis->values.back();
        constexpr int kPoints = 33;
        Axis a{r, {}};
        for (int i = 0; i < kPoints; ++i) a.values.push_back(low * std::pow(high / low, i / (kPoints - 1.0)));
        return a;
    };
    c.map = resource_map(evaluator, fine(chosen[0]), fine(chosen[1]));
}

}  // namespace gambrel
