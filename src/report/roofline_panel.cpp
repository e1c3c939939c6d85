
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "chart/font_metrics.hpp"
#include "report/numbers.hpp"
#include "report/roofline_svg.hpp"

namespace gambrel::report_detail {

using namespace chart_detail;

namespace {

constexpr double kSize = 10.5, kHeadSize = 11;

void text(SvgWriter& svg, std::string_view content, double x, double y, double size, std::string_view fill) {
    svg.text_element("text", content, {{"x", x}, {"y", y}, {"font-size", size}, {"fill", fill}});
}

void head(SvgWriter& svg, std::string_view content, double x, double y, const Palette& colors) {
    svg.text_element("text", content,
                     {{"x", x}, {"y", y}, {"font-size", kHeadSize}, {"font-weight", "600"}, {"fill", colors.ink}});
}

double draw_levels(SvgWriter& svg, const RooflinePlot& data, double x, double y, const Palette& colors) {
    for (const Level level : data.levels) {
        svg.empty("circle", {{"cx", x + 5}, {"cy", y - 4}, {"r", 5.0}, {"fill", colors[name(level)]}});
        text(svg, name(level), x + 15, y, kSize, colors.ink);
        x += 27 + text_width(name(level), kSize);
    }
    return x;
}

double draw_strokes(SvgWriter& svg, const RooflinePlot& data, double x, double y, const Palette& colors) {
    for (const bool measured : {true, false}) {
        const auto is = [measured](const PlottedRoof& r) { return r.measured == measured; };
        if (std::none_of(data.slopes.begin(), data.slopes.end(), is) &&
            std::none_of(data.flats.begin(), data.flats.end(), is))
            continue;
        Attributes attributes{
            {"x1", x}, {"y1", y - 4}, {"x2", x + 24}, {"y2", y - 4}, {"stroke", colors.muted}, {"stroke-width", 1.75}};
        if (!measured) attributes.emplace_back("stroke-dasharray", "8 4");
        svg.empty("line", attributes);
        const std::string_view what = measured ? "measured roof" : "theoretical roof";
        text(svg, what, x + 30, y, kSize, colors.ink);
        x += 44 + text_width(what, kSize);
    }
    return x;
}

// 1, 2 or 5 times a power of ten, at most `value`.
double round_down(double value) {
    const double decade = std::pow(10.0, std::floor(std::log10(value)));
    const double digit = value / decade;
    return decade * (digit >= 5 ? 5 : digit >= 2 ? 2 : 1);
}

void draw_sizes(SvgWriter& svg, const Scene& scene, double x, double y, const Palette& colors) {
    double time = round_down(scene.longest);
    for (int i = 0; i < 3; ++i, time /= 10) {
        const double r = mark_radius(time, scene.longest);
        svg.empty("circle", {{"cx", x + r},
                             {"cy", y - 4},
                             {"r", r},
                             {"fill", "none"},
                             {"stroke", colors.muted},
                             {"stroke-width", 1.0}});
        const std::string label = to_text(Seconds{time}, 2);
        text(svg, label, x + 2 * r + 5, y, kSize, colors.ink);
        x += 2 * r + 17 + text_width(label, kSize);
    }
}

void draw_warning(SvgWriter& svg, double x, double y, const Palette& colors) {
    svg.empty("circle", {{"cx", x + 6},
                         {"cy", y - 4},
                         {"r", 5.5},
                         {"fill", "none"},
                         {"stroke", colors.warning},
                         {"stroke-width", 1.6}});
    text(svg, "above its roof", x + 18, y, kSize, colors.ink);
}

std::string verdict_line(const PlottedKernel& k, double whole_time) {
    std::string line = to_text(Seconds{k.time}, 3);
    if (whole_time > 0) line += " · " + percent_text(k.time / whole_time);
    if (const auto& of_roof = k.row->verdict.of_roof)
        line += fmt::format(" · {} of {}", percent_text(*of_roof, 0), bound_text(k.row->verdict.nearest));
    return line;
}

void draw_kernels(SvgWriter& svg, const RooflinePlot& data, const Scene& scene, double y, const Palette& colors) {
    constexpr double kRow = 27;
    const double x = scene.panel.x0, room = scene.panel.width() - 36;
    const auto named = std::count_if(scene.kernels.begin(), scene.kernels.end(), [](auto& k) { return k.number > 0; });
    if (named == 0) return;
    head(svg, "Longest-running kernels", x, y, colors);
    text(svg, "time · share of run · of its roof", x, y + 14, 9.5, colors.muted);
    y += 32;
    for (const auto& k : scene.kernels) {
        if (k.number == 0 || y + 12 > scene.panel.y1) continue;
        svg.text_element("text", std::to_string(k.number),
                         {{"x", x + 12}, {"y", y}, {"font-size", kSize}, {"text-anchor", "end"}, {"fill", colors.ink}});
        svg.empty("path", {{"d", mark_path(k.number, x + 23, y - 3.8, 4.6)}, {"fill", colors.muted}});
        text(svg, chart_name(k.kernel->row->kernel, kSize, room), x + 36, y, kSize, colors.ink);
        text(svg, fitted(verdict_line(*k.kernel, data.whole_time), 9.5, room), x + 36, y + 12.5, 9.5, colors.muted);
        y += kRow;
    }
}

}  // namespace

void draw_panel(SvgWriter& svg, const RooflinePlot& data, const Scene& scene, const Palette& colors) {
    svg.open("g", {{"class", "legend"}});
    if (scene.panel.width() <= 0) {
        double x = draw_levels(svg, data, 24, 76, colors);
        x = draw_strokes(svg, data, x + 4, 76, colors);
        if (data.any_above && x + 100 < scene.width) draw_warning(svg, x, 76, colors);
        svg.close();
        return;
    }
    const double x = scene.panel.x0;
    double y = scene.panel.y0 + 6;
    if (!data.levels.empty()) {
        head(svg, "Memory level of a point", x, y, colors);
        draw_levels(svg, data, x, y += 19, colors);
        y += 22;
    }
    draw_strokes(svg, data, x, y, colors);
    y += 18;
    if (data.any_above) {
        draw_warning(svg, x, y, colors);
        y += 18;
    }
    if (scene.longest > 0) {
        head(svg, "Area: time", x, y + 4, colors);
        draw_sizes(svg, scene, x, y + 28, colors);
        y += 56;
    }
    draw_kernels(svg, data, scene, y, colors);
    svg.close();
}

}  // namespace gambrel::report_detail
