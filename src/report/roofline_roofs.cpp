#include "report/roofline_plot.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/numbers.hpp"

namespace gambrel::report_detail {
namespace {

bool is_used(const Analysis& analysis, std::size_t machine, Pipe pipe) {
    return std::any_of(analysis.rows.begin(), analysis.rows.end(), [&](const AnalysisRow& row) {
        return row.machine == machine && row.kernel.work[pipe] && row.kernel.work[pipe]->value.value() > 0;
    });
}

// The ceilings that the verdicts used, as one line: their mean over the rows, weighted by time. A profiler's own peaks
// and different clocks make them differ; where no row has one, the machine is asked at the clock of the run.
struct MeanCeiling {
    double sum = 0, weight = 0, any = 0;
    bool measured = false;
    void add(double value, Origin origin, const Kernel& kernel) {
        const double w = kernel.time ? kernel.time->value.value() : 0;
        sum += value * w, weight += w, any = value;
        measured = measured || origin == Origin::measured;
    }
    [[nodiscard]] double value() const { return weight > 0 ? sum / weight : any; }
};

std::optional<PlottedRoof> slope(const Analysis& analysis, std::size_t machine, Level level,
                                 std::optional<Frequency> clock) {
    const Machine& m = analysis.machines[machine];
    MeanCeiling mean;
    for (const auto& row : analysis.rows)
        if (row.machine == machine)
            for (const auto& l : row.verdict.levels)
                if (l.level == level) mean.add(l.ceiling.value(), l.ceiling_origin, row.kernel);
    if (mean.any == 0)
        if (const auto c = counter_ceiling(m, level, clock, analysis.roofs)) mean.add(c->value.value(), c->origin, {});
    if (!positive(mean.value())) return std::nullopt;
    // A benchmark's figure carried to the clock of the run counts as derived, but its roof is still an observed one.
    const MemoryLevel* found = m.find(level);
    const auto of_counter = counter_ceiling(m, level, clock, analysis.roofs);
    const auto of_benchmark = memory_ceiling(m, level, clock, analysis.roofs);
    const bool observed = found && found->measured && of_counter->value == of_benchmark->value;
    const bool measured = mean.measured || (analysis.roofs == Roofs::measured && observed);
    return PlottedRoof{level, mean.value(), measured,
                       fmt::format("{} {}", name(level), to_text(Bandwidth{mean.value()}, 3))};
}

std::optional<PlottedRoof> flat(const Analysis& analysis, std::size_t machine, Pipe pipe,
                                std::optional<Frequency> clock) {
    const Machine& m = analysis.machines[machine];
    MeanCeiling mean;
    for (const auto& row : analysis.rows)
        // The ceiling of a kernel with sparse work is a mix of two rates, not a line to draw.
        if (row.machine == machine && !(row.kernel.sparse_work && row.kernel.sparse_work->value.value() > 0))
            for (const auto& p : row.verdict.pipes)
                if (p.pipe == pipe) mean.add(p.ceiling.value(), p.ceiling_origin, row.kernel);
    if (mean.any == 0)
        if (const auto c = compute_ceiling(m, pipe, clock, analysis.roofs)) mean.add(c->value.value(), c->origin, {});
    if (!positive(mean.value())) return std::nullopt;
    const bool measured = mean.measured || (analysis.roofs == Roofs::measured && m.pipes[pipe].measured);
    return PlottedRoof{pipe, mean.value(), measured,
                       fmt::format("{} {}", title(pipe), to_text(FlopRate{mean.value()}, 3))};
}

// Where only one standard has a figure the two would lie on each other, so that one is drawn once.
void add_other_roofs(RooflinePlot& chart, const Analysis& analysis, std::size_t machine,
                     std::optional<Frequency> clock) {
    const Machine& m = analysis.machines[machine];
    const bool measured = analysis.roofs == Roofs::theoretical;
    const Roofs other = measured ? Roofs::measured : Roofs::theoretical;
    const auto add = [&](const PlottedRoof& drawn, double value, const std::string& text) {
        if (positive(value) && std::fabs(value / drawn.value - 1) > 1e-6)
            chart.other_roofs.push_back(
                {drawn.what, value, measured,
                 fmt::format("{} {} {}", bound_text(drawn.what), text, measured ? "measured" : "theoretical")});
    };
    for (const auto& roof : chart.slopes) {
        const Level level = std::get<Level>(roof.what);
        const MemoryLevel* found = m.find(level);
        if (!found || !found->measured) continue;
        if (const auto c = memory_ceiling(m, level, clock, other)) add(roof, c->value.value(), to_text(c->value, 3));
    }
    for (const auto& roof : chart.flats) {
        const Pipe pipe = std::get<Pipe>(roof.what);
        if (!m.pipes[pipe].measured) continue;
        if (const auto c = compute_ceiling(m, pipe, clock, other)) add(roof, c->value.value(), to_text(c->value, 3));
    }
}

}  // namespace

void add_roofs(RooflinePlot& chart, const Analysis& analysis, std::size_t machine, std::optional<Frequency> clock) {
    // A machine alone shows all that it has measured; beside kernels, only what concerns them.
    const bool alone = analysis.rows.empty();
    const Machine& m = analysis.machines[machine];
    for (const Level level : all_levels()) {
        const bool usual = level == Level::l1 || level == Level::l2 || level == Level::dram || alone;
        if (!usual && std::find(chart.levels.begin(), chart.levels.end(), level) == chart.levels.end()) continue;
        if (auto roof = slope(analysis, machine, level, clock)) chart.slopes.push_back(std::move(*roof));
    }
    for (const Pipe pipe : all_pipes()) {
        const bool shown = pipe == Pipe::fp32 || (alone && m.pipes[pipe].measured) || is_used(analysis, machine, pipe);
        if (is_integer(pipe) || !shown) continue;
        if (auto roof = flat(analysis, machine, pipe, clock)) chart.flats.push_back(std::move(*roof));
    }
    const auto falling = [](const PlottedRoof& a, const PlottedRoof& b) { return a.value > b.value; };
    std::stable_sort(chart.slopes.begin(), chart.slopes.end(), falling);
    std::stable_sort(chart.flats.begin(), chart.flats.end(), falling);
    add_other_roofs(chart, analysis, machine, clock);
}

}  // namespace gambrel::report_detail
