#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <gambrel/report.hpp>

#include "report/ceiling_value.hpp"
#include "report/numbers.hpp"

namespace gambrel {
namespace {

using namespace report_detail;

std::string level_title(const Plateau& p) { return p.level ? std::string(name(*p.level)) : "no known level"; }

// A device of kind "simulated" is a model with known ceilings: what runs on it is not a measurement of hardware.
std::string sweep_subtitle(const Measurement& m) {
    std::string text = fmt::format("{} · {} · {}", m.device.name, m.device.id,
                                   m.device.kind == DeviceKind::simulated ? "simulated" : "measured");
    if (!m.date.empty()) text += " · " + m.date;
    if (m.interrupted) text += " · partial result";
    return text;
}

std::string level_color(const std::optional<Level>& level) { return level ? std::string(name(*level)) : ""; }

Chart chart_of(const MeasuredSweep& sweep, const Measurement& m) {
    Chart chart;
    chart.title = "Bandwidth over working set: " + sweep.title;
    chart.subtitle = sweep_subtitle(m);
    chart.x = {"Working set", "B", true, true}, chart.y = {"Bandwidth", "B/s", true, false};
    ChartSeries series{"median of its samples", {}, true, {}};
    for (const SweepPoint& p : sweep.points)
        series.marks.push_back({p.working_set.value(), p.rate.median, p.rate.low, p.rate.high,
                                fmt::format("{}, {}", binary_text(p.working_set), plural(p.rate.count, "sample"))});
    chart.series.push_back(std::move(series));
    for (const Plateau& p : sweep.plateaus)
        chart.guides.push_back({fmt::format("{} {}", level_title(p), to_text(Bandwidth{p.value}, 3)), p.value,
                                p.from.value(), p.to.value(), level_color(p.level)});
    for (const LevelWindow& w : sweep.windows)
        if (std::isfinite(w.to))
            chart.limits.push_back(
                {fmt::format("{} ends, {}", name(w.level), binary_text(Bytes{w.to})), w.to, level_color(w.level)});
    chart.note =
        "Bars are 95 % intervals of the median. Thick lines are the plateaus that were found, named by the "
        "capacity they lie within; dotted lines are those capacities.";
    for (const std::string& fault : sweep.faults) chart.note += " " + fault + ".";
    return chart;
}

Table levels_table(const Measurement& m) {
    Table table;
    table.title = "Levels that the sweeps found";
    table.columns = {{"Level"},      {"Sweep"},    {"Bandwidth", true}, {"Quartiles of its points", true},
                     {"From", true}, {"To", true}, {"Points", true}};
    for (const MeasuredSweep& s : m.sweeps)
        for (const Plateau& p : s.plateaus)
            table.rows.push_back(
                {{{level_title(p), p.level ? static_cast<double>(*p.level) : 99},
                  {s.title, {}},
                  {to_text(Bandwidth{p.value}, 4), p.value},
                  {fmt::format("{} to {}", to_text(Bandwidth{p.low}, 3), to_text(Bandwidth{p.high}, 3)),
                   p.high - p.low},
                  {binary_text(p.from), p.from.value()},
                  {binary_text(p.to), p.to.value()},
                  {count_text(p.points), static_cast<double>(p.points)}},
                 p.level ? "good" : ""});
    return table;
}

std::string proof_of(const MeasuredCeiling& c) {
    std::string text = c.fault ? "failed: " + *c.fault : c.primary ? "proved; the roof" : "proved";
    for (const std::string& note : c.notes) text += "; " + note;
    return text;
}

TableRow row_of(const MeasuredCeiling& c, bool sustained) {
    const auto value = [&](double v) { return TableCell{ceiling_value(c, v, 4), v}; };
    const bool rate = c.kind != CeilingKind::latency && c.kind != CeilingKind::launch, good = !c.fault;
    TableRow row;
    row.color = c.fault ? "bad" : c.primary ? "good" : "";
    row.cells = {{c.title, {}}, good ? value(c.value.median) : TableCell{"failed", {}}};
    row.cells.push_back(c.theoretical ? value(*c.theoretical) : TableCell{});
    row.cells.push_back(good && c.theoretical && *c.theoretical > 0
                            ? TableCell{percent_of_theory(c), c.value.median / *c.theoretical}
                            : TableCell{});
    if (sustained) row.cells.push_back(c.sustained ? value(c.sustained->median) : TableCell{});
    row.cells.push_back(good && c.value.has_interval() ? TableCell{range_text(c), c.value.relative_interval()}
                                                       : TableCell{});
    row.cells.push_back(good ? value(rate ? c.value.maximum : c.value.minimum) : TableCell{});
    row.cells.push_back({count_text(c.value.count), static_cast<double>(c.value.count)});
    row.cells.push_back(c.working_set ? TableCell{binary_text(*c.working_set), c.working_set->value()} : TableCell{});
    row.cells.push_back(c.clock ? TableCell{to_text(*c.clock, 4), c.clock->value()} : TableCell{});
    row.cells.push_back({proof_of(c), {}});
    return row;
}

Table ceilings_table(const Measurement& m) {
    const bool sustained = std::any_of(m.ceilings.begin(), m.ceilings.end(), [](auto& c) { return c.sustained; });
    Table table;
    table.title = "Ceilings, each with its proof";
    table.columns = {{"Ceiling"}, {"Measured", true}, {"Theoretical", true}, {"of it", true}};
    if (sustained) table.columns.push_back({"Sustained", true});
    for (const char* title : {"95 % interval", "Best", "Samples", "Working set", "Clock"})
        table.columns.push_back({title, true});
    table.columns.push_back({"Proof"});
    for (const MeasuredCeiling& c : m.ceilings) table.rows.push_back(row_of(c, sustained));
    table.notes = skipped_sentences(m);
    table.notes.insert(table.notes.begin(),
                       "A ceiling is proved if its result was checked, its working set fits its "
                       "level and its samples agree; one that failed is listed and is not drawn as a roof.");
    return table;
}

}  // namespace

std::vector<Chart> sweep_charts(const Measurement& m) {
    std::vector<Chart> charts;
    for (const MeasuredSweep& s : m.sweeps)
        if (s.points.size() > 1) charts.push_back(chart_of(s, m));
    return charts;
}

std::string sweep_svg(const Measurement& m, const ChartStyle& style) {
    return svg("Bandwidth over working set", sweep_subtitle(m), sweep_charts(m), style);
}

PageView measure_view(const Measurement& m, const Analysis& machine) {
    PageView view;
    view.title = m.device.name, view.analysis = &machine;
    view.charts = sweep_charts(m);
    view.tables.push_back(ceilings_table(m));
    view.tables.back().notes.push_back(device_text(m) + (m.date.empty() ? "" : ", " + m.date) + ".");
    if (m.interrupted)
        view.tables.back().notes.emplace_back(
            "Partial result: the measurement was interrupted, and this is what was done by then.");
    if (Table levels = levels_table(m); !levels.rows.empty()) view.tables.push_back(std::move(levels));
    return view;
}

}  // namespace gambrel
