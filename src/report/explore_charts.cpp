#include "report/explore_charts.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include <gambrel/report.hpp>

#include "report/numbers.hpp"

namespace gambrel {

using namespace report_detail;

namespace {
constexpr std::array<std::string_view, kExploreCharts> kNames = {"designs", "sensitivity", "map", "pareto"};

std::string on_machine(const ExplorationReport& r) {
    return fmt::format("on {} · modelled{}", r.machine, r.partial ? " · partial result" : "");
}

// Calls draw with the chart, of whichever kind it is.
template <class Draw>
std::string drawn(const ExplorationReport& r, ExploreChart chart, Draw draw) {
    const auto if_any = [&](const std::optional<Chart>& c) { return c ? draw(*c) : std::string{}; };
    switch (chart) {
        case ExploreChart::designs:
            return draw(designs_chart(r));
        case ExploreChart::sensitivity:
            return draw(sensitivity_chart(r));
        case ExploreChart::map:
            return if_any(map_chart(r));
        case ExploreChart::pareto:
            break;
    }
    return if_any(front_chart(r));
}

std::string axis_label(const ExplorationReport& r, Resource resource) {
    return fmt::format("{}, times {}", name(resource), amount_text(resource, base_value(r.base, r.hardware, resource)));
}
}  // namespace

std::string_view name(ExploreChart chart) { return kNames[static_cast<std::size_t>(chart)]; }
std::optional<ExploreChart> explore_chart_from(std::string_view text) {
    const auto found = std::find(kNames.begin(), kNames.end(), text);
    if (found == kNames.end()) return std::nullopt;
    return static_cast<ExploreChart>(found - kNames.begin());
}

std::string explore_svg(const ExplorationReport& r, ExploreChart chart, const ChartStyle& style) {
    return drawn(r, chart, [&](const auto& c) { return svg(c, style); });
}
std::string explore_terminal(const ExplorationReport& r, ExploreChart chart, const TextStyle& style) {
    return drawn(r, chart, [&](const auto& c) { return terminal_text(c, style); });
}

namespace report_detail {

BarChart designs_chart(const ExplorationReport& r) {
    BarChart chart;
    chart.title = fmt::format(
        "{}: {}", r.designs.size() > 1 ? "Bottlenecks before and after" : "Bottlenecks of the start", r.title);
    chart.subtitle = on_machine(r);
    chart.note = "The time of each design by what it waits for.";
    chart.x = {"Time", "s", false, false};
    for (std::size_t t = 0; t < kTerms; ++t) chart.parts.push_back(term_title(t));
    for (const EvaluatedDesign& d : r.designs)
        chart.bars.push_back(
            {d.name,
             design_text(r, d),
             {d.timing.exposed.begin(), d.timing.exposed.end()},
             fmt::format("{:.2f}x, {}, cost {:.2f}", d.speedup, to_text(Seconds{d.timing.time}, 3), d.cost)});
    return chart;
}

BarChart sensitivity_chart(const ExplorationReport& r) {
    BarChart chart;
    chart.title = "What matters to the start: " + r.title;
    chart.subtitle = on_machine(r);
    chart.note = "Elasticity: 1 where time follows the resource, 0 where it does not matter, at a tenth more of it.";
    chart.x = {"Elasticity", "", false, false};
    const bool several = r.workload.networks.size() > 1;
    chart.parts = {several ? "all networks" : "elasticity"};
    if (several) chart.parts.insert(chart.parts.end(), r.workload.networks.begin(), r.workload.networks.end());
    for (const Sensitivity& s : by_elasticity(r)) {
        Bar bar{std::string(name(s.resource)),
                fmt::format("now {}; twice as much is {:.3g} times as fast",
                            amount_text(s.resource, base_value(r.base, r.hardware, s.resource)), s.doubled),
                {s.elasticity},
                fmt::format("{:.2f}", s.elasticity)};
        if (several)
            for (const double e : network_elasticities(r, s)) bar.parts.push_back(e);
        chart.bars.push_back(std::move(bar));
    }
    chart.stacked = false;
    return chart;
}

std::optional<Chart> map_chart(const ExplorationReport& r) {
    if (!r.map) return std::nullopt;
    const ResourceMap& map = *r.map;
    Chart chart;
    chart.title = fmt::format("Speed-up by {} and {}: {}", name(map.x.resource), name(map.y.resource), r.title);
    chart.subtitle = on_machine(r);
    chart.note = "Lines of equal speed-up; all other resources as in the start.";
    chart.x = {axis_label(r, map.x.resource), "", true, false},
    chart.y = {axis_label(r, map.y.resource), "", true, false};
    for (const ContourLine& line : contour_lines(map)) {
        ChartSeries series{fmt::format("{:.4g}x", line.level), {}, true, {}, false};
        for (const auto& [x, y] : line.points) series.marks.push_back({x, y, {}, {}, ""});
        chart.series.push_back(std::move(series));
    }
    if (chart.series.empty()) chart.note = "The speed-up is the same everywhere; all other resources as in the start.";
    // The axes show all of the map, wherever its lines are.
    chart.series.push_back({"",
                            {{map.x.values.front(), map.y.values.front(), {}, {}, ""},
                             {map.x.values.back(), map.y.values.back(), {}, {}, ""}},
                            false,
                            {},
                            false});
    return chart;
}

std::optional<Chart> front_chart(const ExplorationReport& r) {
    if (r.front.empty() && r.designs.size() < 2) return std::nullopt;
    Chart chart;
    chart.title = "Speed-up against cost: " + r.title;
    chart.subtitle =
        fmt::format("{} · the front of {} designs that were evaluated", on_machine(r), count_text(r.evaluated));
    chart.note =
        "No design is both cheaper and faster than one of the front. Cost is relative to the start, by the cost table, "
        "whose shares are assumptions.";
    chart.x = {"Cost", "", false, false}, chart.y = {"Speed-up", "", false, false};
    ChartSeries front{"front", {}, true, {}};
    for (const EvaluatedDesign& d : r.front)
        front.marks.push_back({d.cost, d.speedup, {}, {}, factors_text(r, d.factors)});
    if (!front.marks.empty()) chart.series.push_back(std::move(front));
    ChartSeries listed{"designs listed", {}, false, {}};
    const EvaluatedDesign* best = recommended_design(r);
    for (const EvaluatedDesign& d : r.designs)
        listed.marks.push_back(
            {d.cost, d.speedup, {}, {}, fmt::format("{}: {}", d.name, design_text(r, d)), &d == best});
    chart.series.push_back(std::move(listed));
    return chart;
}

std::vector<Sensitivity> by_elasticity(const ExplorationReport& r) {
    std::vector<Sensitivity> sorted = r.sensitivities;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Sensitivity& a, const Sensitivity& b) { return a.elasticity > b.elasticity; });
    return sorted;
}

std::string factors_text(const ExplorationReport& r, const Factors& factors, bool amounts) {
    std::string text;
    for (const Resource resource : all_resources()) {
        if (factors[resource] == 1) continue;
        if (!text.empty()) text += ", ";
        text += fmt::format("{} x{:.3g}", name(resource), factors[resource]);
        if (amounts)
            text += fmt::format(" ({})",
                                amount_text(resource, base_value(r.base, r.hardware, resource) * factors[resource]));
    }
    return text.empty() ? "nothing" : text;
}

std::string design_text(const ExplorationReport& r, const EvaluatedDesign& d) {
    return &d == &r.designs.front() ? d.what : factors_text(r, d.factors);
}

std::string term_title(std::size_t term) {
    switch (static_cast<Term>(term)) {
        case Term::l1:
            return "L1";
        case Term::l2:
            return "L2";
        case Term::dram:
            return "DRAM";
        default:
            return std::string(name(static_cast<Term>(term)));
    }
}

std::string explore_answer(const ExplorationReport& r) {
    constexpr std::size_t kMost = 3;
    constexpr double kMatters = 1.02;
    static constexpr std::array<std::string_view, kResources> kTitles = {
        "SMs",           "multipliers of an SM",    "schedulers",   "clock",        "registers",
        "shared memory", "shared-memory bandwidth", "L1 bandwidth", "L2 bandwidth", "L2 capacity",
        "DRAM bandwidth"};
    auto all = r.sensitivities;
    if (all.empty()) return {};
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.half_more > b.half_more; });
    const auto title = [&](const Sensitivity& s) { return kTitles[static_cast<std::size_t>(s.resource)]; };
    if (all.front().half_more < kMatters)
        return fmt::format("No single resource matters: +50 % of the best, {}, gives {:.2f}x.", title(all.front()),
                           all.front().half_more);
    std::string text = fmt::format("{} first: +50 % gives {:.2f}x", title(all.front()), all.front().half_more);
    for (std::size_t i = 1; i < std::min(kMost, all.size()); ++i)
        text += fmt::format("{} {} alone {:.2f}x", i == 1 ? ";" : ",", title(all[i]), all[i].half_more);
    text += ".";
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    return text;
}

std::string search_text(const ExplorationReport& r) {
    if (r.search.empty()) return {};
    return fmt::format("{} search: {} of {} designs evaluated, {} within the limits", r.search, count_text(r.evaluated),
                       count_text(r.space), count_text(r.kept));
}

std::string target_text(const ExplorationReport& r) {
    if (!r.target || (r.designs.size() > 1 && r.designs.back().name == "cheapest")) return {};
    return fmt::format("No design that was evaluated is {:g} times as fast within the limits.", *r.target);
}

}  // namespace report_detail
}  // namespace gambrel
