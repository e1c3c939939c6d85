#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include <gambrel/chart.hpp>

#include "chart/bars.hpp"
#include "chart/font_metrics.hpp"
#include "chart/svg_frame.hpp"
#include "chart/text.hpp"

namespace gambrel {
namespace {

using namespace chart_detail;

constexpr double kBarLabelSize = 12, kNoteSize = 10.5, kThick = 18, kThin = 10;

double label_room(const BarChart& chart) {
    double room = 60;
    for (const Bar& b : chart.bars) room = std::max(room, text_width(printable(b.label), kBarLabelSize));
    return std::min(room, 220.0) + 10;
}

}  // namespace

std::string svg(const BarChart& chart, const ChartStyle& style) {
    const Palette colors = palette(style.theme);
    const double width = std::clamp(style.width, 360.0, 10000.0);
    const double x0 = kMargin + label_room(chart);
    double text_room = 40;
    for (const Bar& b : chart.bars) text_room = std::max(text_room, text_width(bar_text(chart, b), 11) + 10);
    const double x1 = std::max(x0 + 80, width - kMargin - text_room);
    const bool any_note =
        std::any_of(chart.bars.begin(), chart.bars.end(), [](const Bar& b) { return !b.note.empty(); });
    const std::size_t lines = chart.stacked ? 1 : std::max<std::size_t>(1, chart.parts.size());
    const double thick = lines == 1 ? kThick : kThin;
    const double each = thick * static_cast<double>(lines) + (any_note ? 16 : 0) + 12;
    Legend legend;
    for (std::size_t i = 0; i < chart.parts.size(); ++i)
        if (chart.parts.size() > 1 && is_drawn(chart, i))
            legend.emplace_back(chart.parts[i], colors.of(part_color(chart, i)));
    const auto caption = caption_lines(chart.note, width - 2 * kMargin);
    const double top = 64 + legend_height(legend, kMargin, width - kMargin);
    const double bottom = top + 6 + each * static_cast<double>(chart.bars.size());
    const double height = bottom + 50 + kCaptionLine * static_cast<double>(caption.size());

    SvgWriter out;
    open_drawing(out, {chart.title, chart.subtitle, chart.note}, width, height, colors);
    draw_legend(out, legend, kMargin, 60, width - kMargin, colors);
    const Scale x = scale_of(bar_lengths(chart), chart.x, x0, x1);
    draw_axes(out, {x0, top, x1, bottom}, x, {}, colors);
    for (std::size_t b = 0; b < chart.bars.size(); ++b) {
        const Bar& bar = chart.bars[b];
        const double y = top + 6 + each * static_cast<double>(b),
                     middle = y + thick * static_cast<double>(lines) / 2 + 4;
        const double whole = std::accumulate(bar.parts.begin(), bar.parts.end(), 0.0);
        double start = 0, end = x.at(0);
        for (std::size_t p = 0; p < bar.parts.size(); ++p) {
            const double value = bar.parts[p], from = x.at(chart.stacked ? start : 0),
                         to = x.at((chart.stacked ? start : 0) + value);
            if (!std::isfinite(value) || value == 0) continue;
            out.open("rect", {{"x", std::min(from, to)},
                              {"y", y + (chart.stacked ? 0 : thick * static_cast<double>(p))},
                              {"width", std::max(0.5, std::fabs(to - from))},
                              {"height", lines == 1 ? thick : thick - 1},
                              {"fill", colors.of(part_color(chart, p))}});
            std::string text = fmt::format("{}, {}: {}", bar.label, chart.parts[p], value_text(value, chart.x));
            if (chart.stacked && whole > 0) text += fmt::format(", {:.1f} %", 100 * value / whole);
            out.text_element("title", text);
            out.close();
            start += value, end = std::max(end, to);
        }
        const auto text = [&](std::string_view t, double at, double base, double size, std::string_view color,
                              const char* anchor) {
            out.text_element("text", t,
                             {{"x", at}, {"y", base}, {"font-size", size}, {"fill", color}, {"text-anchor", anchor}});
        };
        text(fitted(printable(bar.label), kBarLabelSize, 220), x0 - 10, middle, kBarLabelSize, colors.ink, "end");
        text(bar_text(chart, bar), end + 6, middle, 11, colors.ink, "start");
        if (!bar.note.empty())
            text(fitted(printable(bar.note), kNoteSize, width - kMargin - x0 - 4), x0 + 4,
                 y + thick * static_cast<double>(lines) + 13, kNoteSize, colors.muted, "start");
    }
    draw_line(out, {x.at(0), top, x.at(0), bottom}, colors.frame, 1);
    draw_caption(out, caption, kMargin, bottom + 54, colors);
    out.close();
    return out.take();
}

}  // namespace gambrel
