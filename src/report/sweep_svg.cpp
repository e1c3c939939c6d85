// Sweeps over working sets as one drawing: a panel each, bandwidth over working set, both logarithmic; the capacities
// that name the levels, and the plateaus that were found.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <gambrel/report.hpp>

#include "report/chart_data.hpp"
#include "report/font_metrics.hpp"
#include "report/label_placement.hpp"
#include "report/palette.hpp"
#include "report/svg_writer.hpp"
#include "report/text.hpp"

namespace gambrel {
namespace {

using namespace report_detail;

constexpr double kMargin = 24, kLeft = 92, kHeading = 72, kPanel = 300, kAxis = 52, kTitle = 26;

struct Panel {
    const MeasuredSweep* sweep = nullptr;
    Box plot;
    double x0 = 0, x1 = 1, y0 = 0, y1 = 1;  // log2 of bytes, log10 of B/s
    [[nodiscard]] double x(double bytes) const { return plot.x0 + (std::log2(bytes) - x0) / (x1 - x0) * plot.width(); }
    [[nodiscard]] double y(double rate) const { return plot.y1 - (std::log10(rate) - y0) / (y1 - y0) * plot.height(); }
};

Panel panel_of(const MeasuredSweep& sweep, Box plot) {
    Panel p{&sweep, plot};
    double low = sweep.points.front().rate.minimum, high = low;
    for (const SweepPoint& point : sweep.points) {
        low = std::min(low, std::max(point.rate.low, point.rate.median / 10));
        high = std::max(high, point.rate.high);
    }
    p.x0 = std::log2(sweep.points.front().working_set.value()) - 0.3;
    p.x1 = std::log2(sweep.points.back().working_set.value()) + 0.3;
    p.y0 = std::log10(low) - 0.1;
    p.y1 = std::log10(high) + 0.18;
    return p;
}

void line(SvgWriter& svg, double x0, double y0, double x1, double y1, std::string_view color, double width) {
    svg.empty("line", {{"x1", x0}, {"y1", y0}, {"x2", x1}, {"y2", y1}, {"stroke", color}, {"stroke-width", width}});
}

void draw_axes(SvgWriter& svg, const Panel& p, const Palette& colors) {
    svg.open("g", {{"font-size", 11.0}, {"fill", colors.muted}});
    for (int octave = static_cast<int>(std::ceil(p.x0)); octave <= p.x1; ++octave) {
        const double at = p.x(std::exp2(octave));
        line(svg, at, p.plot.y0, at, p.plot.y1, octave % 2 == 0 ? colors.grid : colors.minor_grid, 1);
        if (octave % 2 == 0)
            svg.text_element("text", binary_text(Bytes{std::exp2(octave)}),
                             {{"x", at}, {"y", p.plot.y1 + 17}, {"text-anchor", "middle"}});
    }
    double last_label = 1e9;
    for (int decade = static_cast<int>(std::floor(p.y0)); decade <= p.y1; ++decade)
        for (const int digit : {1, 2, 5}) {
            const double value = digit * std::pow(10.0, decade);
            if (std::log10(value) < p.y0 || std::log10(value) > p.y1) continue;
            line(svg, p.plot.x0, p.y(value), p.plot.x1, p.y(value), digit == 1 ? colors.grid : colors.minor_grid, 1);
            if (last_label - p.y(value) < 14) continue;
            last_label = p.y(value);
            svg.text_element("text", to_text(Bandwidth{value}, 3),
                             {{"x", p.plot.x0 - 8}, {"y", p.y(value) + 4}, {"text-anchor", "end"}});
        }
    svg.text_element("text", "Working set",
                     {{"x", (p.plot.x0 + p.plot.x1) / 2}, {"y", p.plot.y1 + 35}, {"text-anchor", "middle"}});
    svg.close();
    svg.empty("rect", {{"x", p.plot.x0},
                       {"y", p.plot.y0},
                       {"width", p.plot.width()},
                       {"height", p.plot.height()},
                       {"fill", "none"},
                       {"stroke", colors.frame}});
}

// The end of each level: its capacity as the system tells it, in the sweep's own measure.
void draw_capacities(SvgWriter& svg, const Panel& p, const Palette& colors) {
    for (const LevelWindow& w : p.sweep->windows) {
        if (std::isinf(w.to) || std::log2(w.to) < p.x0 || std::log2(w.to) > p.x1) continue;
        const double at = p.x(w.to);
        svg.empty("line", {{"x1", at},
                           {"y1", p.plot.y0},
                           {"x2", at},
                           {"y2", p.plot.y1},
                           {"stroke", colors.level[w.level]},
                           {"stroke-width", 1.2},
                           {"stroke-dasharray", "2 4"}});
        svg.text_element(
            "text", fmt::format("{} ends, {}", name(w.level), binary_text(Bytes{w.to})),
            {{"x", at - 4},
             {"y", p.plot.y1 - 8},
             {"font-size", 10.5},
             {"fill", colors.level[w.level]},
             {"text-anchor", "start"},
             {"transform", fmt::format("rotate(-90 {} {})", svg_number(at - 4), svg_number(p.plot.y1 - 8))}});
    }
}

void draw_points(SvgWriter& svg, const Panel& p, const Palette& colors) {
    std::string path;
    for (const SweepPoint& point : p.sweep->points) {
        const double x = p.x(point.working_set.value()), y = p.y(point.rate.median);
        path += fmt::format("{}{} {}", path.empty() ? "M" : "L", svg_number(x), svg_number(y));
        if (point.rate.low > 0)
            line(svg, x, std::min(p.y(point.rate.low), p.plot.y1), x, p.y(point.rate.high), colors.faint, 1);
    }
    svg.empty("path", {{"d", path}, {"fill", "none"}, {"stroke", colors.faint}, {"stroke-width", 1.0}});
    for (const SweepPoint& point : p.sweep->points) {
        svg.open("g");
        svg.text_element("title",
                         fmt::format("{}: {}, 95 % interval {} to {}, {} samples", binary_text(point.working_set),
                                     to_text(Bandwidth{point.rate.median}, 4), to_text(Bandwidth{point.rate.low}, 4),
                                     to_text(Bandwidth{point.rate.high}, 4), point.rate.count));
        svg.empty(
            "circle",
            {{"cx", p.x(point.working_set.value())}, {"cy", p.y(point.rate.median)}, {"r", 2.6}, {"fill", colors.ink}});
        svg.close();
    }
}

void draw_plateaus(SvgWriter& svg, const Panel& p, const Palette& colors) {
    for (const Plateau& plateau : p.sweep->plateaus) {
        const std::string_view color = plateau.level ? colors.level[*plateau.level] : colors.muted;
        const double y = p.y(plateau.value);
        line(svg, p.x(plateau.from.value()), y, p.x(plateau.to.value()), y, color, 3.5);
        const std::string label = fmt::format("{} {}", plateau.level ? name(*plateau.level) : "no known level",
                                              to_text(Bandwidth{plateau.value}, 3));
        const double width = text_width(label, 12);
        const double middle = (p.x(plateau.from.value()) + p.x(plateau.to.value())) / 2;
        const double x = std::clamp(middle - width / 2, p.plot.x0 + 4, p.plot.x1 - width - 4);
        svg.text_element("text", label,
                         {{"x", x},
                          {"y", y - 12},
                          {"font-size", 12.0},
                          {"font-weight", "600"},
                          {"fill", color},
                          {"stroke", colors.background},
                          {"stroke-width", 3.0},
                          {"paint-order", "stroke"}});
    }
}

}  // namespace

std::string sweep_svg(const Measurement& m, const ChartStyle& style) {
    std::vector<const MeasuredSweep*> sweeps;
    for (const MeasuredSweep& s : m.sweeps)
        if (s.points.size() > 1) sweeps.push_back(&s);
    const double each = kTitle + kPanel + kAxis;
    const double height = kHeading + std::max<double>(1, static_cast<double>(sweeps.size())) * each;
    const Palette colors = palette(style.theme);
    SvgWriter svg;
    svg.open("svg", {{"xmlns", "http://www.w3.org/2000/svg"},
                     {"width", style.width},
                     {"height", height},
                     {"viewBox", fmt::format("0 0 {} {}", svg_number(style.width), svg_number(height))},
                     {"role", "img"},
                     {"font-family", "Inter, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"}});
    svg.text_element("title", "Bandwidth over working set, " + printable(m.device.name));
    svg.empty("rect", {{"width", style.width}, {"height", height}, {"fill", colors.background}});
    const double room = style.width - 2 * kMargin;
    svg.text_element("text", fitted("Bandwidth over working set", 19.5, room),
                     {{"x", kMargin}, {"y", 32.0}, {"font-size", 18.0}, {"font-weight", "600"}, {"fill", colors.ink}});
    const std::string about = fmt::format("{} · {}{}", printable(m.device.name), printable(m.device.id),
                                          m.date.empty() ? "" : " · " + m.date);
    svg.text_element("text", fitted(about, 12, room),
                     {{"x", kMargin}, {"y", 52.0}, {"font-size", 12.0}, {"fill", colors.muted}});
    if (sweeps.empty())
        svg.text_element("text", "No sweep was finished.", {{"x", kMargin}, {"y", 100.0}, {"fill", colors.muted}});
    double top = kHeading;
    for (const MeasuredSweep* sweep : sweeps) {
        svg.text_element("text", fitted(printable(sweep->title), 13, room),
                         {{"x", kLeft}, {"y", top + 14}, {"font-size", 13.0}, {"fill", colors.ink}});
        const Panel p = panel_of(*sweep, {kLeft, top + kTitle, style.width - kMargin, top + kTitle + kPanel});
        draw_axes(svg, p, colors);
        draw_capacities(svg, p, colors);
        draw_points(svg, p, colors);
        draw_plateaus(svg, p, colors);
        top += each;
    }
    svg.close();
    return svg.take();
}

}  // namespace gambrel
