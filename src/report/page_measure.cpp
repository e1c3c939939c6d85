#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <gambrel/page_views.hpp>
#include <gambrel/report.hpp>

#include "report/ceiling_value.hpp"
#include "report/numbers.hpp"

namespace gambrel {
namespace {

using namespace report_detail;

std::string level_name(const Plateau& p) { return p.level ? std::string(name(*p.level)) : "no known level"; }

PageChart chart_of(const MeasuredSweep& sweep) {
    PageChart chart;
    chart.title = "Bandwidth over working set: " + sweep.title;
    chart.x = {"Working set", "B", true, true}, chart.y = {"Bandwidth", "B/s", true, false};
    PageSeries series{"median of its samples", {}, true, {}};
    for (const SweepPoint& p : sweep.points)
        series.marks.push_back({p.working_set.value(), p.rate.median, p.rate.low, p.rate.high,
                                fmt::format("{}, {}", binary_text(p.working_set), plural(p.rate.count, "sample"))});
    chart.series.push_back(std::move(series));
    for (const Plateau& p : sweep.plateaus)
        chart.guides.push_back({fmt::format("{} {}", level_name(p), to_text(Bandwidth{p.value}, 3)), p.value,
                                p.from.value(), p.to.value(), p.level});
    for (const LevelWindow& w : sweep.windows)
        if (std::isfinite(w.to))
            chart.limits.push_back(
                {fmt::format("{} ends, {}", name(w.level), binary_text(Bytes{w.to})), w.to, w.level});
    chart.note =
        "Bars are 95 % intervals of the median. Dashed lines are the plateaus that were found, named by the "
        "capacity they lie within; dotted ones are those capacities.";
    for (const std::string& fault : sweep.faults) chart.note += " " + fault + ".";
    return chart;
}

PageTable levels_table(const Measurement& m) {
    PageTable table;
    table.title = "Levels that the sweeps found";
    table.columns = {{"Level"},      {"Sweep"},    {"Bandwidth", true}, {"Quartiles of its points", true},
                     {"From", true}, {"To", true}, {"Points", true}};
    for (const MeasuredSweep& s : m.sweeps)
        for (const Plateau& p : s.plateaus)
            table.rows.push_back(
                {{{level_name(p), p.level ? static_cast<double>(*p.level) : 99},
                  {s.title, {}},
                  {to_text(Bandwidth{p.value}, 4), p.value},
                  {fmt::format("{} to {}", to_text(Bandwidth{p.low}, 3), to_text(Bandwidth{p.high}, 3)),
                   p.high - p.low},
                  {binary_text(p.from), p.from.value()},
                  {binary_text(p.to), p.to.value()},
                  {count_text(p.points), static_cast<double>(p.points)}},
                 p.level ? PageTableRow::State::good : PageTableRow::State::plain});
    return table;
}

std::string proof_of(const MeasuredCeiling& c) {
    std::string text = c.fault ? "failed: " + *c.fault : c.primary ? "proved; the roof" : "proved";
    for (const std::string& note : c.notes) text += "; " + note;
    return text;
}

PageTableRow row_of(const MeasuredCeiling& c, bool sustained) {
    const auto value = [&](double v) { return PageCell{ceiling_value(c, v, 4), v}; };
    const bool rate = c.kind != CeilingKind::latency && c.kind != CeilingKind::launch, good = !c.fault;
    PageTableRow row;
    row.state = c.fault ? PageTableRow::State::bad : c.primary ? PageTableRow::State::good : PageTableRow::State::plain;
    row.cells = {{c.title, {}}, good ? value(c.value.median) : PageCell{"failed", {}}};
    row.cells.push_back(c.theoretical ? value(*c.theoretical) : PageCell{});
    row.cells.push_back(good && c.theoretical && *c.theoretical > 0
                            ? PageCell{percent_of_theory(c), c.value.median / *c.theoretical}
                            : PageCell{});
    if (sustained) row.cells.push_back(c.sustained ? value(c.sustained->median) : PageCell{});
    row.cells.push_back(good && c.value.has_interval() ? PageCell{range_text(c), c.value.relative_interval()}
                                                       : PageCell{});
    row.cells.push_back(good ? value(rate ? c.value.maximum : c.value.minimum) : PageCell{});
    row.cells.push_back({count_text(c.value.count), static_cast<double>(c.value.count)});
    row.cells.push_back(c.working_set ? PageCell{binary_text(*c.working_set), c.working_set->value()} : PageCell{});
    row.cells.push_back(c.clock ? PageCell{to_text(*c.clock, 4), c.clock->value()} : PageCell{});
    row.cells.push_back({proof_of(c), {}});
    return row;
}

PageTable ceilings_table(const Measurement& m) {
    const bool sustained = std::any_of(m.ceilings.begin(), m.ceilings.end(), [](auto& c) { return c.sustained; });
    PageTable table;
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
                       "level and its samples agree; one that failed is told and is no roof.");
    return table;
}

}  // namespace

PageView measure_view(const Measurement& m, const Analysis& machine) {
    PageView view;
    view.title = m.device.name, view.analysis = &machine;
    for (const MeasuredSweep& s : m.sweeps)
        if (s.points.size() > 1) view.charts.push_back(chart_of(s));
    view.tables.push_back(ceilings_table(m));
    view.tables.back().notes.push_back(device_text(m) + (m.date.empty() ? "" : ", " + m.date) + ".");
    if (m.interrupted) view.tables.back().notes.emplace_back("Interrupted: what was done by then is here.");
    if (PageTable levels = levels_table(m); !levels.rows.empty()) view.tables.push_back(std::move(levels));
    return view;
}

}  // namespace gambrel
