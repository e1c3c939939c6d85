#include "report/roofline_plot.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/numbers.hpp"
#include "report/roofline_plot.hpp"

namespace gambrel::report_detail {
namespace {

// The machine on which most of the time was spent: points of another machine would be judged by the wrong roofs.
std::size_t main_machine(const Analysis& analysis) {
    std::vector<double> time(std::max<std::size_t>(analysis.machines.size(), 1), 0.0);
    for (const auto& row : analysis.rows)
        if (row.machine < time.size() && row.kernel.time) time[row.machine] += row.kernel.time->value.value();
    return static_cast<std::size_t>(std::max_element(time.begin(), time.end()) - time.begin());
}

struct RunClock {
    std::optional<Frequency> mean;
    double low = 0, high = 0;
};

RunClock run_clock(const Analysis& analysis, std::size_t machine) {
    RunClock clock;
    double sum = 0, weight = 0;
    for (const auto& row : analysis.rows) {
        if (row.machine != machine || !row.verdict.clock) continue;
        const double hz = row.verdict.clock->value();
        const double w = row.kernel.time ? row.kernel.time->value.value() : 0;
        clock.low = clock.low == 0 ? hz : std::min(clock.low, hz);
        clock.high = std::max(clock.high, hz);
        sum += hz * w, weight += w;
    }
    if (weight > 0) clock.mean = Frequency{std::clamp(sum / weight, clock.low, clock.high)};
    return clock;
}

std::optional<PlottedKernel> plottable(const AnalysisRow& row) {
    const auto rate = flop_rate(row.kernel);
    if (!rate || !positive(rate->value())) return std::nullopt;
    PlottedKernel out{&row, row.kernel.time ? row.kernel.time->value.value() : 0, rate->value(), {}, 0, {}};
    const auto above_pipe = std::any_of(row.verdict.pipes.begin(), row.verdict.pipes.end(),
                                        [](const PipeVerdict& p) { return p.of_ceiling > kRoofTolerance; });
    for (const Level level : all_levels()) {
        const auto ai = intensity(row.kernel, level);
        if (!ai || !positive(ai->value())) continue;
        const auto& levels = row.verdict.levels;
        const bool above = std::any_of(levels.begin(), levels.end(), [level](const LevelVerdict& l) {
            return l.level == level && l.of_ceiling > kRoofTolerance;
        });
        out.points.push_back({level, ai->value(), above || above_pipe});
    }
    if (out.points.empty()) return std::nullopt;
    return out;
}

struct Extent {
    double low = 0, high = 0;
    bool any = false;
    void add(double log) {
        low = any ? std::min(low, log) : log;
        high = any ? std::max(high, log) : log;
        any = true;
    }
};

constexpr double kMostDecades = 10;  // beyond this, structure near the ridges is no longer readable
constexpr double kCoreShare = 0.999;
constexpr double kOutlier = 0.7;  // decades

// Kernels come longest first. The first that make up nearly all of it set the axes; one of the rest may stretch them a
// little, but a microsecond of index arithmetic must not squeeze the program into a corner.
void add_points(const std::vector<PlottedKernel>& kernels, Extent& x, Extent& y) {
    double whole = 0, seen = 0;
    for (const auto& k : kernels) whole += k.time;
    Extent core_x, core_y;
    for (const auto& k : kernels) {
        const bool core = !core_x.any || seen < kCoreShare * whole;
        seen += k.time;
        const double rate = std::log10(k.rate);
        const auto near = [](const Extent& e, double v) { return v > e.low - kOutlier && v < e.high + kOutlier; };
        for (const auto& p : k.points) {
            const double log = std::log10(p.intensity);
            if (core) core_x.add(log), core_y.add(rate);
            if (core || (near(core_x, log) && near(core_y, rate))) x.add(log), y.add(rate);
        }
    }
}

void choose_axes(RooflinePlot& chart) {
    Extent x, y, ridges;
    add_points(chart.kernels, x, y);
    for (const auto& flat : chart.flats) {
        y.add(std::log10(flat.value));
        for (const auto& slope : chart.slopes) ridges.add(std::log10(flat.value / slope.value));
    }
    if (ridges.any) x.add(ridges.low), x.add(ridges.high);
    if (!x.any) x.add(-1), x.add(2);
    if (!y.any) y.add(9), y.add(13);
    chart.x = {x.low - 0.35, x.high + 0.45};
    if (chart.x.span() < 3) {
        const double grow = (3 - chart.x.span()) / 2;
        chart.x = {chart.x.low - grow, chart.x.high + grow};
    }
    chart.y = {std::min(y.low - 0.4, y.high - 2.6), y.high + 0.35};
    const double anchor = ridges.any ? (ridges.low + ridges.high) / 2 : (chart.x.low + chart.x.high) / 2;
    if (chart.x.span() > kMostDecades)
        chart.x = {std::max(chart.x.low, anchor - kMostDecades / 2), std::min(chart.x.high, anchor + kMostDecades / 2)};
    if (chart.y.span() > kMostDecades) chart.y.low = chart.y.high - kMostDecades;
}

void drop_points_off_the_axes(RooflinePlot& chart) {
    std::size_t kernels = 0;
    double time = 0;
    for (auto& k : chart.kernels) {
        const auto off = [&](const PlottedPoint& p) {
            return !chart.x.contains(std::log10(p.intensity)) || !chart.y.contains(std::log10(k.rate));
        };
        if (std::erase_if(k.points, off) > 0) ++kernels, time += k.time;
    }
    std::erase_if(chart.kernels, [](const PlottedKernel& k) { return k.points.empty(); });
    if (kernels == 0) return;
    const std::string share =
        chart.whole_time > 0 ? fmt::format(" ({} of time)", percent_text(time / chart.whole_time, 2)) : "";
    chart.caption.push_back(fmt::format("Outside the axes: points of {}{}.", plural(kernels, "kernel"), share));
}

// The ceilings of a simulated device were found as those of a real one are, but nothing was measured.
std::string roofs_text(const Analysis& analysis, std::size_t machine) {
    if (analysis.roofs == Roofs::theoretical) return "theoretical roofs";
    if (machine >= analysis.machines.size()) return "measured roofs";
    const Machine& m = analysis.machines[machine];
    const auto simulated = [](const auto& ceiling) { return ceiling && ceiling->ceiling.origin == Origin::simulated; };
    const bool any =
        std::any_of(m.levels.begin(), m.levels.end(), [&](const auto& l) { return simulated(l.measured); }) ||
        std::any_of(m.pipes.begin(), m.pipes.end(), [&](const auto& p) { return simulated(p.measured); });
    return any ? "simulated roofs" : "measured roofs";
}

void describe_clock(RooflinePlot& chart, const Analysis& analysis, std::size_t machine, const RunClock& clock) {
    if (machine < analysis.machines.size()) {
        const Machine& m = analysis.machines[machine];
        chart.subtitle = m.name.empty() ? m.id : m.name;
    }
    const auto add = [&](const std::string& text) { chart.subtitle += (chart.subtitle.empty() ? "" : " · ") + text; };
    if (clock.mean) add(fmt::format("{:.0f} MHz", clock.mean->value() / 1e6));
    if (const std::string origins = origins_text(analysis); !origins.empty()) add(origins);
    add(roofs_text(analysis, machine));
    if (analysis.partial) add("partial result");
    if (clock.mean && clock.high > clock.low * 1.0005) {
        chart.clocks_differ = fmt::format(
            "Roofs are time-weighted means over the kernels; their clocks go from {:.0f} to {:.0f} MHz, "
            "mean {:.0f} MHz.",
            clock.low / 1e6, clock.high / 1e6, clock.mean->value() / 1e6);
        chart.caption.push_back(chart.clocks_differ);
    }
}

}  // namespace

RooflinePlot roofline_plot(const Analysis& analysis, const PlotChoice& choice) {
    RooflinePlot chart;
    chart.title = analysis.title.empty() ? "Hierarchical Roofline" : analysis.title;
    chart.whole_time = known_time(analysis).value();
    const std::size_t machine = choice.machine.value_or(main_machine(analysis));
    const RunClock clock = run_clock(analysis, machine);

    std::size_t unknown = 0, elsewhere = 0;
    for (const auto& row : analysis.rows) {
        if (row.machine != machine) {
            ++elsewhere;
        } else if (auto kernel = plottable(row)) {
            chart.kernels.push_back(std::move(*kernel));
        } else if (!is_zero_flop(row.kernel)) {
            ++unknown;
        }
    }
    std::stable_sort(chart.kernels.begin(), chart.kernels.end(),
                     [](const PlottedKernel& a, const PlottedKernel& b) { return a.time > b.time; });
    const std::size_t all = chart.kernels.size();
    if (all > choice.max_kernels) chart.kernels.resize(choice.max_kernels);
    for (const Level level : all_levels())
        if (std::any_of(chart.kernels.begin(), chart.kernels.end(), [level](const PlottedKernel& k) {
                return std::any_of(k.points.begin(), k.points.end(), [level](auto& p) { return p.level == level; });
            }))
            chart.levels.push_back(level);

    if (const auto census = zero_flop_text(analysis); !census.empty())
        chart.caption.push_back("Not on log axes, zero-FLOP kernels: " + census + ".");
    if (unknown > 0)
        chart.caption.push_back(fmt::format("Not drawn, FLOP, bytes or time unknown: {}.", plural(unknown, "kernel")));
    if (elsewhere > 0)
        chart.caption.push_back(fmt::format("Not drawn, on another machine: {}.", plural(elsewhere, "kernel")));
    if (all > chart.kernels.size())
        chart.caption.push_back(fmt::format("Drawn: the {} longest-running of {} kernels.",
                                            count_text(chart.kernels.size()), count_text(all)));
    describe_clock(chart, analysis, machine, clock);
    if (machine < analysis.machines.size()) add_roofs(chart, analysis, machine, clock.mean);
    choose_axes(chart);
    if (!choice.keep_off_axes) drop_points_off_the_axes(chart);
    for (const auto& k : chart.kernels)
        for (const auto& p : k.points) chart.any_above = chart.any_above || p.above;
    return chart;
}

RooflinePlot roofline_plot(const Comparison& c, const PlotChoice& choice) {
    RooflinePlot chart = roofline_plot(c.after, choice);
    chart.title = fmt::format("{} -> {}", c.before.title, c.after.title);
    const std::string was = origins_text(c.before), is = origins_text(c.after);
    if (const auto at = chart.subtitle.find(is); was != is && !is.empty() && at != std::string::npos)
        chart.subtitle.replace(at, is.size(), fmt::format("{} -> {}", was, is));
    if (c.before.partial && !c.after.partial) chart.subtitle += " · partial result before";
    std::vector<const ComparedPair*> pair_of(c.after.rows.size(), nullptr);
    for (const auto& p : c.pairs)
        if (p.before && p.after) pair_of[*p.after] = &p;
    for (auto& k : chart.kernels) {
        const ComparedPair* pair = pair_of[static_cast<std::size_t>(k.row - c.after.rows.data())];
        if (!pair) continue;
        if (const auto before = plottable(c.before.rows[*pair->before]))
            k.rate_before = before->rate, k.points_before = before->points;
    }
    if (c.only_before > 0)
        chart.caption.push_back(fmt::format("Not drawn, only before: {}.", plural(c.only_before, "kernel")));
    return chart;
}

std::string kernel_summary(const PlottedKernel& k, double whole_time) {
    std::string text = to_text(Seconds{k.time}, 3);
    if (whole_time > 0) text += fmt::format(", {} of time", percent_text(k.time / whole_time));
    text += ", " + to_text(FlopRate{k.rate}, 3) + ", AI";
    for (const auto& p : k.points) text += fmt::format(" {} {}", name(p.level), intensity_text(p.intensity));
    if (const auto& of_roof = k.row->verdict.of_roof)
        text += fmt::format(", {} of the {} roof", percent_text(*of_roof), bound_text(k.row->verdict.nearest));
    return text;
}

}  // namespace gambrel::report_detail
