#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <gambrel/report.hpp>

#include "chart/font_metrics.hpp"
#include "chart/svg_frame.hpp"
#include "chart/text.hpp"
#include "report/roofline_layout.hpp"
#include "report/roofline_svg.hpp"

namespace gambrel {
namespace {

using namespace chart_detail;
using namespace report_detail;

std::string decade_text(int decade) {
    if (decade >= 0 && decade <= 4) return fmt::format("{:.0f}", std::pow(10.0, decade));
    if (decade < 0 && decade >= -4) return fmt::format("{:.{}f}", std::pow(10.0, decade), -decade);
    return fmt::format("1e{}", decade);
}

void draw_log_axes(SvgWriter& svg, const Scene& scene, const Palette& colors) {
    const Box& plot = scene.plot;
    svg.open("g", {{"class", "axes"}, {"font-size", kTickSize}, {"fill", colors.muted}});
    const auto line = [&](double x0, double y0, double x1, double y1, std::string_view color) {
        svg.empty("line", {{"x1", x0}, {"y1", y0}, {"x2", x1}, {"y2", y1}, {"stroke", color}, {"stroke-width", 1.0}});
    };
    for (const bool major : {false, true}) {
        const auto color = major ? colors.grid : colors.minor_grid;
        for (const auto& t : scene.x_ticks)
            if (t.major == major) line(t.at, plot.y0, t.at, plot.y1, color);
        for (const auto& t : scene.y_ticks)
            if (t.major == major) line(plot.x0, t.at, plot.x1, t.at, color);
    }
    for (const auto& t : scene.x_ticks) {
        line(t.at, plot.y1, t.at, plot.y1 + (t.major ? 5 : 3), colors.frame);
        if (t.labelled)
            svg.text_element("text", decade_text(t.decade),
                             {{"x", t.at}, {"y", plot.y1 + 18}, {"text-anchor", "middle"}});
    }
    for (const auto& t : scene.y_ticks) {
        line(plot.x0 - (t.major ? 5 : 3), t.at, plot.x0, t.at, colors.frame);
        if (t.labelled)
            svg.text_element("text", to_text(FlopRate{std::pow(10.0, t.decade)}, 3),
                             {{"x", plot.x0 - 9}, {"y", t.at + 4}, {"text-anchor", "end"}});
    }
    svg.empty("path", {{"d", fmt::format("M{} {}V{}H{}", svg_number(plot.x0), svg_number(plot.y0), svg_number(plot.y1),
                                         svg_number(plot.x1))},
                       {"fill", "none"},
                       {"stroke", colors.frame},
                       {"stroke-width", 1.0}});
    svg.text_element("text", "Arithmetic intensity [FLOP/byte]",
                     {{"x", (plot.x0 + plot.x1) / 2},
                      {"y", plot.y1 + 38},
                      {"text-anchor", "middle"},
                      {"font-size", 12.0},
                      {"fill", colors.ink}});
    const double middle = (plot.y0 + plot.y1) / 2;
    svg.text_element("text", "Performance [FLOP/s]",
                     {{"x", 20.0},
                      {"y", middle},
                      {"text-anchor", "middle"},
                      {"font-size", 12.0},
                      {"fill", colors.ink},
                      {"transform", fmt::format("rotate(-90 20 {})", svg_number(middle))}});
    svg.close();
}

std::string_view roof_color(const PlottedRoof& roof, const Palette& colors) {
    const auto* level = std::get_if<Level>(&roof.what);
    return level ? colors[name(*level)] : colors.ink;
}

void draw_roofs(SvgWriter& svg, const Scene& scene, const Palette& colors) {
    svg.open("g", {{"class", "roofs"}});
    for (const auto& roof : scene.roofs) {
        Attributes attributes{{"x1", roof.line.x0},
                              {"y1", roof.line.y0},
                              {"x2", roof.line.x1},
                              {"y2", roof.line.y1},
                              {"stroke", roof_color(*roof.roof, colors)},
                              {"stroke-width", 1.75},
                              {"stroke-linecap", "round"}};
        if (!roof.roof->measured) attributes.emplace_back("stroke-dasharray", "8 4");
        svg.empty("line", attributes);
    }
    for (const auto& ridge : scene.ridges)
        svg.empty("circle", {{"cx", ridge.x},
                             {"cy", ridge.y},
                             {"r", ridge.radius},
                             {"fill", colors.background},
                             {"stroke", colors.muted},
                             {"stroke-width", 1.0}});
    for (const auto& roof : scene.roofs) {
        if (roof.label_boxes.empty()) continue;
        Attributes attributes{{"x", roof.label_x},           {"y", roof.label_y},
                              {"font-size", kRoofLabelSize}, {"fill", roof_color(*roof.roof, colors)},
                              {"font-weight", "500"},        {"stroke", colors.background},
                              {"stroke-width", 2.5},         {"stroke-linejoin", "round"},
                              {"paint-order", "stroke"}};
        if (roof.angle != 0)
            attributes.emplace_back("transform", fmt::format("rotate({} {} {})", svg_number(roof.angle),
                                                             svg_number(roof.label_x), svg_number(roof.label_y)));
        svg.text_element("text", roof.roof->label, attributes);
    }
    svg.close();
}

// Under all marks, so that no line strikes through the mark of another kernel.
void draw_joins(SvgWriter& svg, const Scene& scene, const Palette& colors) {
    svg.open("g", {{"class", "joins"}, {"stroke", colors.muted}, {"stroke-width", 0.9}});
    for (const auto& k : scene.kernels)
        if (k.points.size() > 1)
            svg.empty("line", {{"x1", k.points.front().x},
                               {"y1", k.points.front().y},
                               {"x2", k.points.back().x},
                               {"y2", k.points.back().y},
                               {"stroke-opacity", k.number > 0 ? "0.8" : "0.35"}});
    svg.close();
}

// A ring where the point was, a line, and a head at the edge of the mark where it is now.
void draw_arrows(SvgWriter& svg, const Scene& scene, const Palette& colors) {
    svg.open("g", {{"class", "arrows"}, {"fill", "none"}, {"stroke-width", 1.3}});
    for (const auto& k : scene.kernels)
        for (const auto& [level, a] : k.arrows) {
            const auto color = colors[name(level)];
            svg.empty("circle", {{"cx", a.x0}, {"cy", a.y0}, {"r", 2.6}, {"stroke", color}});
            const double length = std::hypot(a.x1 - a.x0, a.y1 - a.y0) - k.radius;
            if (length < 4) continue;
            const double ux = (a.x1 - a.x0) / (length + k.radius), uy = (a.y1 - a.y0) / (length + k.radius);
            const double x = a.x0 + ux * length, y = a.y0 + uy * length, head = std::min(7.0, length / 2);
            svg.empty("line", {{"x1", a.x0}, {"y1", a.y0}, {"x2", x}, {"y2", y}, {"stroke", color}});
            svg.empty(
                "path",
                {{"d", fmt::format("M{} {}L{} {}L{} {}Z", svg_number(x), svg_number(y),
                                   svg_number(x - head * (ux + 0.45 * uy)), svg_number(y - head * (uy - 0.45 * ux)),
                                   svg_number(x - head * (ux - 0.45 * uy)), svg_number(y - head * (uy + 0.45 * ux)))},
                 {"fill", color}});
        }
    svg.close();
}

void draw_kernel(SvgWriter& svg, const SceneKernel& k, const RooflinePlot& data, const Palette& colors) {
    const bool named = k.number > 0;
    svg.open("g", {{"class", "kernel"}, {"fill-opacity", named ? "0.88" : "0.45"}});
    svg.text_element("title", k.kernel->row->kernel.name.str() + ": " + kernel_summary(*k.kernel, data.whole_time));
    for (const auto& p : k.points) {
        svg.empty("path", {{"d", mark_path(k.number, p.x, p.y, k.radius)},
                           {"fill", colors[name(p.level)]},
                           {"stroke", colors.background},
                           {"stroke-width", 0.9},
                           {"stroke-linejoin", "round"}});
        if (p.above)
            svg.empty("circle", {{"cx", p.x},
                                 {"cy", p.y},
                                 {"r", k.radius * 1.15 + 2.5},
                                 {"fill", "none"},
                                 {"stroke", colors.warning},
                                 {"stroke-width", 1.6}});
    }
    svg.close();
}

void draw_labels(SvgWriter& svg, const Scene& scene, const Palette& colors) {
    svg.open("g", {{"class", "labels"}, {"font-size", kLabelSize}, {"fill", colors.ink}});
    for (const auto& k : scene.kernels) {
        if (!k.placed) continue;
        if (const auto& l = k.placed->leader)
            svg.empty("line", {{"x1", l->x0},
                               {"y1", l->y0},
                               {"x2", l->x1},
                               {"y2", l->y1},
                               {"stroke", colors.muted},
                               {"stroke-width", 0.7}});
        // A halo keeps the text readable where a grid line or a roof passes behind it.
        svg.text_element("text", k.label,
                         {{"x", k.placed->box.x0},
                          {"y", k.placed->box.y1 - kLabelSize * 0.2},
                          {"stroke", colors.background},
                          {"stroke-width", 2.5},
                          {"stroke-linejoin", "round"},
                          {"paint-order", "stroke"}});
    }
    svg.close();
}

std::string description(const RooflinePlot& data) {
    std::string text = fmt::format("Log-log Roofline chart, {}. Roofs:", data.subtitle);
    for (const auto* roofs : {&data.slopes, &data.flats})
        for (const auto& roof : *roofs) text += " " + roof.label + ",";
    text.back() = '.';
    text += fmt::format(" {} kernels drawn.", data.kernels.size());
    for (const auto& sentence : data.caption) text += " " + sentence;
    return text;
}

std::string svg_of(const RooflinePlot& data, const ChartStyle& style) {
    const Scene scene = chart_scene(data, style);
    const Palette colors = palette(style.theme);
    SvgWriter svg;
    open_drawing(svg, {data.title, data.subtitle, description(data)}, scene.width, scene.height, colors);
    draw_log_axes(svg, scene, colors);
    draw_roofs(svg, scene, colors);
    draw_joins(svg, scene, colors);
    if (std::any_of(scene.kernels.begin(), scene.kernels.end(), [](auto& k) { return !k.arrows.empty(); }))
        draw_arrows(svg, scene, colors);
    svg.open("g", {{"class", "kernels"}});
    // Kernels come longest first, so small marks lie on large ones; the unnamed go below them all.
    for (const bool named : {false, true})
        for (const auto& k : scene.kernels)
            if ((k.number > 0) == named) draw_kernel(svg, k, data, colors);
    svg.close();
    draw_labels(svg, scene, colors);
    draw_panel(svg, data, scene, colors);
    draw_caption(svg, scene.caption, kMargin,
                 scene.height - 14 - kCaptionLine * (static_cast<double>(scene.caption.size()) - 1), colors);
    svg.close();
    return svg.take();
}

}  // namespace

std::string roofline_svg(const Analysis& analysis, const ChartStyle& style) {
    return svg_of(roofline_plot(analysis, {style.max_kernels, {}}), style);
}

std::string comparison_svg(const Comparison& comparison, const ChartStyle& style) {
    return svg_of(roofline_plot(comparison, {style.max_kernels, {}}), style);
}

}  // namespace gambrel
