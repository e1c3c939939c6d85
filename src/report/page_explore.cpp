#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include <gambrel/explore.hpp>
#include <gambrel/page_views.hpp>

#include "report/explore_charts.hpp"
#include "report/numbers.hpp"

namespace gambrel {
namespace {

using namespace report_detail;

// The words of the page's legends, so that a bottleneck has one colour in the strip, the bars and the table.
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

PageChart front_chart(const ExplorationReport& c) {
    PageChart chart;
    chart.title = "Speed-up against cost";
    chart.note =
        "None is both cheaper and faster than a design of the front. Cost is relative to the start, by the cost "
        "table, whose shares are assumptions.";
    chart.x = {"Cost", "", false, false}, chart.y = {"Speed-up", "", false, false};
    PageSeries front{"front", {}, true, {}};
    for (const EvaluatedDesign& d : c.front)
        front.marks.push_back({d.cost, d.speedup, {}, {}, factors_text(c, d.factors)});
    if (!front.marks.empty()) chart.series.push_back(std::move(front));
    PageSeries told{"designs told of", {}, false, {}};
    const EvaluatedDesign* best = recommended_design(c);
    for (const EvaluatedDesign& d : c.designs)
        told.marks.push_back(
            {d.cost,
             d.speedup,
             {},
             {},
             fmt::format("{}: {}", d.name, &d == &c.designs.front() ? d.what : factors_text(c, d.factors)),
             &d == best});
    chart.series.push_back(std::move(told));
    return chart;
}

PageChart map_chart(const ExplorationReport& c) {
    const ResourceMap& map = *c.map;
    PageChart chart;
    chart.title = fmt::format("Speed-up over {} and {}", name(map.x.resource), name(map.y.resource));
    chart.note = "All else as in the start.";
    chart.x = {fmt::format("Factor on {}", name(map.x.resource)), "", true, false};
    chart.y = {"Speed-up", "", false, false};
    const std::size_t nx = map.x.values.size(), ny = map.y.values.size();
    constexpr std::size_t kLines = 5;
    for (std::size_t k = 0; k < std::min(kLines, ny); ++k) {
        const std::size_t j = ny > 1 ? k * (ny - 1) / (std::min(kLines, ny) - 1) : 0;
        PageSeries series{fmt::format("{} x{:.3g}", name(map.y.resource), map.y.values[j]), {}, true, {}};
        for (std::size_t i = 0; i < nx; i += 2)
            series.marks.push_back({map.x.values[i], map.speedup[j * nx + i], {}, {}, ""});
        chart.series.push_back(std::move(series));
    }
    return chart;
}

PageBars sensitivity_bars(const ExplorationReport& c) {
    PageBars bars;
    bars.title = "What matters to the start";
    bars.note = "Elasticity: 1 where time follows the resource, 0 where it does not matter, at a tenth more of it.";
    bars.x = {"Elasticity", "", false, false};
    const bool several = c.workload.networks.size() > 1;
    bars.parts = {several ? "all networks" : "elasticity"};
    if (several) bars.parts.insert(bars.parts.end(), c.workload.networks.begin(), c.workload.networks.end());
    for (const Sensitivity& s : by_elasticity(c)) {
        PageBar bar{std::string(name(s.resource)),
                    fmt::format("now {}; twice as much is {:.3g} times as fast",
                                amount_text(s.resource, base_value(c.base, c.hardware, s.resource)), s.doubled),
                    {s.elasticity}};
        if (several)
            for (const double e : network_elasticities(c, s)) bar.parts.push_back(e);
        bars.bars.push_back(std::move(bar));
    }
    bars.stacked = false;
    return bars;
}

PageBars bottleneck_bars(const ExplorationReport& c) {
    PageBars bars;
    bars.title = c.designs.size() > 1 ? "Bottlenecks before and after" : "Bottlenecks of the start";
    bars.note = "The time of each design by what it waits for.";
    bars.x = {"Time", "s", false, false};
    for (std::size_t t = 0; t < kTerms; ++t) bars.parts.push_back(term_title(t));
    for (const EvaluatedDesign& d : c.designs)
        bars.bars.push_back({d.name,
                             &d == &c.designs.front() ? d.what : factors_text(c, d.factors),
                             {d.timing.exposed.begin(), d.timing.exposed.end()}});
    return bars;
}

PageTable designs_table(const ExplorationReport& c) {
    PageTable table;
    table.title = "Designs";
    table.columns = {{"Design"}, {"Speed-up", true}, {"Cost", true}, {"Time", true}, {"Waits most for"}, {"Scaled"}};
    const EvaluatedDesign* best = recommended_design(c);
    for (const EvaluatedDesign& d : c.designs) {
        const auto most = std::max_element(d.timing.exposed.begin(), d.timing.exposed.end());
        table.rows.push_back(
            {{{d.name, {}},
              {fmt::format("{:.3f}", d.speedup), d.speedup},
              {fmt::format("{:.2f}", d.cost), d.cost},
              {to_text(Seconds{d.timing.time}, 4), d.timing.time},
              {fmt::format("{}, {}", term_title(static_cast<std::size_t>(most - d.timing.exposed.begin())),
                           percent_text(*most / d.timing.time)),
               *most / d.timing.time},
              {&d == &c.designs.front() ? d.what : factors_text(c, d.factors), {}}},
             &d == best ? PageTableRow::State::good : PageTableRow::State::plain});
    }
    if (!c.search.empty())
        table.notes.push_back(fmt::format("{} search: {} of {} designs looked at, {} within the limits.", c.search,
                                          count_text(c.evaluated), count_text(c.space), count_text(c.kept)));
    if (c.target && (c.designs.size() < 2 || c.designs.back().name != "cheapest"))
        table.notes.push_back(
            fmt::format("No design that was looked at is {:g} times as fast within the limits.", *c.target));
    return table;
}

PageTable layers_table(const ExplorationReport& c) {
    PageTable table;
    table.title = "Elasticity of each layer";
    table.notes = {"The darker, the more the time of that layer follows that resource."};
    const EvaluatedDesign& start = c.designs.front();
    const EvaluatedDesign* best = recommended_design(c);
    const bool several = c.workload.networks.size() > 1;
    table.columns = {{"Layer"}, {"Pass"}};
    if (several) table.columns.push_back({"Network"});
    table.columns.insert(table.columns.end(), {{"of time", true}, {"Bound"}});
    if (best) table.columns.insert(table.columns.end(), {{"Bound then"}, {"Speed-up", true}});
    auto sensitivities = by_elasticity(c);
    // A column of zeros says what a sentence says.
    const auto matters = [](const Sensitivity& s) {
        return std::any_of(s.layers.begin(), s.layers.end(), [](double e) { return std::fabs(e) >= 0.005; });
    };
    std::string idle;
    for (const Sensitivity& s : sensitivities)
        if (!matters(s)) idle += fmt::format("{}{}", idle.empty() ? "" : ", ", name(s.resource));
    if (!idle.empty()) table.notes.push_back(fmt::format("No layer follows {}.", idle));
    std::erase_if(sensitivities, [&](const Sensitivity& s) { return !matters(s); });
    for (const Sensitivity& s : sensitivities) table.columns.push_back({std::string(name(s.resource)), true, true});
    for (std::size_t i = 0; i < c.workload.items.size(); ++i) {
        const auto& item = c.workload.items[i];
        const LayerTime& a = start.timing.layers[i];
        const double share = item.weight * a.time / start.timing.time;
        PageTableRow row;
        row.cells = {{item.layer.name, {}}, {std::string(name(item.layer.pass)), {}}};
        if (several) row.cells.push_back({c.workload.networks[item.network], {}});
        row.cells.push_back({percent_text(share), share});
        row.cells.push_back({term_title(static_cast<std::size_t>(a.bound)), {}});
        if (best) {
            const LayerTime& b = best->timing.layers[i];
            row.cells.push_back({term_title(static_cast<std::size_t>(b.bound)), {}});
            row.cells.push_back({fmt::format("{:.2f}", a.time / b.time), a.time / b.time});
        }
        for (const Sensitivity& s : sensitivities)
            row.cells.push_back({fmt::format("{:.2f}", s.layers[i]), s.layers[i]});
        table.rows.push_back(std::move(row));
    }
    return table;
}

}  // namespace

PageView explore_view(const ExplorationReport& c, const Comparison* moved) {
    PageView view;
    view.title = fmt::format("{} on {}{}", c.title, moved ? "scaled " : "", c.machine), view.comparison = moved;
    if (c.designs.size() > 1 || !c.front.empty()) view.charts.push_back(front_chart(c));
    if (c.map) view.charts.push_back(map_chart(c));
    view.bars = {sensitivity_bars(c), bottleneck_bars(c)};
    view.tables = {designs_table(c), layers_table(c)};
    return view;
}

}  // namespace gambrel
