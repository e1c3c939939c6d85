#include "chart/svg_frame.hpp"

#include <fmt/format.h>

#include "chart/font_metrics.hpp"
#include "chart/text.hpp"

namespace gambrel::chart_detail {
namespace {

constexpr double kLegendSize = 11.5, kLegendLine = 18, kSwatch = 16, kLegendGap = 18;

// Calls place(entry, x, line) for each entry; returns the number of lines.
template <class Place>
int lay_out(const Legend& legend, double x, double right, Place place) {
    double at = x;
    int line = 0;
    for (const auto& entry : legend) {
        const double width = kSwatch + text_width(entry.first, kLegendSize);
        if (at > x && at + width > right) at = x, ++line;
        place(entry, at, line);
        at += width + kLegendGap;
    }
    return legend.empty() ? 0 : line + 1;
}

}  // namespace

void open_drawing(SvgWriter& svg, const Heading& heading, double width, double height, const Palette& colors) {
    svg.open("svg", {{"xmlns", "http://www.w3.org/2000/svg"},
                     {"width", width},
                     {"height", height},
                     {"viewBox", fmt::format("0 0 {} {}", svg_number(width), svg_number(height))},
                     {"role", "img"},
                     {"aria-labelledby", "chart-title chart-desc"},
                     {"font-family", "Inter, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"}});
    svg.text_element("title", heading.title, {{"id", "chart-title"}});
    svg.text_element("desc", heading.description.empty() ? heading.subtitle : heading.description,
                     {{"id", "chart-desc"}});
    svg.empty("rect", {{"width", width}, {"height", height}, {"fill", colors.background}});
    const double room = width - 2 * kMargin;
    svg.text_element("text", fitted(printable(heading.title), 18 * 1.08, room),
                     {{"x", kMargin}, {"y", 32.0}, {"font-size", 18.0}, {"font-weight", "600"}, {"fill", colors.ink}});
    svg.text_element("text", fitted(printable(heading.subtitle), 12, room),
                     {{"x", kMargin}, {"y", 52.0}, {"font-size", 12.0}, {"fill", colors.muted}});
}

void draw_line(SvgWriter& svg, const Segment& line, std::string_view color, double width, std::string_view dashes) {
    Attributes attributes{{"x1", line.x0}, {"y1", line.y0},   {"x2", line.x1},
                          {"y2", line.y1}, {"stroke", color}, {"stroke-width", width}};
    if (!dashes.empty()) attributes.emplace_back("stroke-dasharray", dashes);
    svg.empty("line", attributes);
}

void draw_label(SvgWriter& svg, std::string_view text, double x, double y, std::string_view color, double size,
                const Palette& colors, double angle) {
    Attributes attributes{{"x", x},
                          {"y", y},
                          {"font-size", size},
                          {"fill", color},
                          {"font-weight", "500"},
                          {"stroke", colors.background},
                          {"stroke-width", 2.5},
                          {"stroke-linejoin", "round"},
                          {"paint-order", "stroke"}};
    if (angle != 0)
        attributes.emplace_back("transform",
                                fmt::format("rotate({} {} {})", svg_number(angle), svg_number(x), svg_number(y)));
    svg.text_element("text", text, attributes);
}

void draw_axes(SvgWriter& svg, const Box& plot, const Scale& x, const Scale& y, const Palette& colors) {
    svg.open("g", {{"class", "axes"}, {"font-size", 11.0}, {"fill", colors.muted}});
    const auto title = [&](const ChartAxis& axis, double at_x, double at_y, double angle) {
        const std::string text = axis.unit.empty() ? axis.label : fmt::format("{} [{}]", axis.label, axis.unit);
        svg.text_element("text", fitted(printable(text), 12, angle == 0 ? plot.width() : plot.height() + 20),
                         {{"x", at_x},
                          {"y", at_y},
                          {"text-anchor", "middle"},
                          {"font-size", 12.0},
                          {"fill", colors.ink},
                          {"transform", fmt::format("rotate({} {} {})", angle, svg_number(at_x), svg_number(at_y))}});
    };
    if (!x.axis.label.empty()) {
        for (const Tick& t : x.ticks(x.axis.unit.empty() ? 44 : 62)) {
            draw_line(svg, {t.at, plot.y0, t.at, plot.y1}, colors.grid, 1);
            svg.text_element("text", t.text, {{"x", t.at}, {"y", plot.y1 + 17}, {"text-anchor", "middle"}});
        }
        title(x.axis, (plot.x0 + plot.x1) / 2, plot.y1 + 36, 0);
    }
    if (!y.axis.label.empty()) {
        for (const Tick& t : y.ticks(26)) {
            draw_line(svg, {plot.x0, t.at, plot.x1, t.at}, colors.grid, 1);
            svg.text_element("text", t.text, {{"x", plot.x0 - 8}, {"y", t.at + 4}, {"text-anchor", "end"}});
        }
        title(y.axis, plot.x0 - 72, (plot.y0 + plot.y1) / 2, -90);
    }
    svg.empty("path", {{"d", fmt::format("M{} {}V{}H{}", svg_number(plot.x0), svg_number(plot.y0), svg_number(plot.y1),
                                         svg_number(plot.x1))},
                       {"fill", "none"},
                       {"stroke", colors.frame}});
    svg.close();
}

double legend_height(const Legend& legend, double x, double right) {
    return kLegendLine * lay_out(legend, x, right, [](auto&, double, int) {});
}

void draw_legend(SvgWriter& svg, const Legend& legend, double x, double y, double right, const Palette& colors) {
    svg.open("g", {{"class", "legend"}, {"font-size", kLegendSize}, {"fill", colors.ink}});
    lay_out(legend, x, right, [&](const auto& entry, double at, int line) {
        const double base = y + 13 + kLegendLine * line;
        svg.empty("rect", {{"x", at}, {"y", base - 9}, {"width", 11.0}, {"height", 11.0}, {"fill", entry.second}});
        svg.text_element("text", printable(entry.first), {{"x", at + kSwatch}, {"y", base}});
    });
    svg.close();
}

std::vector<std::string> caption_lines(std::string_view text, double width) {
    return wrapped_to(printable(text), kCaptionSize, width);
}

void draw_caption(SvgWriter& svg, const std::vector<std::string>& lines, double x, double y, const Palette& colors) {
    if (lines.empty()) return;
    svg.open("g", {{"class", "caption"}, {"font-size", kCaptionSize}, {"fill", colors.muted}});
    for (const auto& line : lines) svg.text_element("text", line, {{"x", x}, {"y", y}}), y += kCaptionLine;
    svg.close();
}

}  // namespace gambrel::chart_detail
