#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include <gambrel/report.hpp>

#include "report/explore_charts.hpp"
#include "report/numbers.hpp"

namespace gambrel {
namespace {

using namespace report_detail;

Table designs_table(const ExplorationReport& c) {
    Table table;
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
              {design_text(c, d), {}}},
             &d == best ? "good" : ""});
    }
    if (const std::string search = search_text(c); !search.empty()) table.notes.push_back(search + ".");
    if (std::string missed = target_text(c); !missed.empty()) table.notes.push_back(std::move(missed));
    return table;
}

Table layers_table(const ExplorationReport& c) {
    Table table;
    table.title = "Elasticity of each layer";
    table.notes = {"The darker a cell, the more the time of its layer follows its resource."};
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
    for (const Sensitivity& s : sensitivities)
        table.columns.push_back({std::string(name(s.resource)), true, 0, 0, true});
    for (std::size_t i = 0; i < c.workload.items.size(); ++i) {
        const auto& item = c.workload.items[i];
        const LayerTime& a = start.timing.layers[i];
        const double share = item.weight * a.time / start.timing.time;
        TableRow row;
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
    for (auto chart : {front_chart(c), map_chart(c)})
        if (chart) view.charts.push_back(std::move(*chart));
    view.bars = {sensitivity_chart(c), designs_chart(c)};
    view.tables = {designs_table(c), layers_table(c)};
    view.answer = explore_answer(c);
    return view;
}

}  // namespace gambrel
