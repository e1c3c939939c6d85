#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <gambrel/chart.hpp>

#include "chart/font_metrics.hpp"
#include "chart/svg_frame.hpp"
#include "chart/text.hpp"

namespace gambrel {
namespace {

using namespace chart_detail;

constexpr double kLeft = 88, kAxisRoom = 46, kLabelSize = 11.5;
constexpr std::size_t kCrowd = 2000;  // marks from which each is small and faint

// One chart on its part of the drawing. Labels are collected first and placed when everything else has its place.
class Panel {
public:
    Panel(SvgWriter& svg, const Chart& chart, const Box& plot, const Palette& colors)
        : svg_(svg), chart_(chart), plot_(plot), colors_(colors) {
        x_ = scale_of(x_values(chart), chart.x, plot.x0, plot.x1);
        y_ = scale_of(y_values(chart), chart.y, plot.y1, plot.y0);
        around_.area = {plot.x0 + 3, plot.y0 + 3, plot.x1 - 3, plot.y1 - 3};
    }

    void draw() {
        draw_axes(svg_, plot_, x_, y_, colors_);
        draw_limits();
        for (std::size_t i = 0; i < chart_.series.size(); ++i) draw_series(chart_.series[i], series_color(chart_, i));
        draw_guides();
        const auto placed = place_labels(requests_, around_);
        for (std::size_t i = 0; i < placed.size(); ++i)
            if (placed[i])
                draw_label(svg_, labels_[i].first, placed[i]->box.x0, placed[i]->box.y1 - kLabelSize * 0.2,
                           labels_[i].second, kLabelSize, colors_);
    }

private:
    [[nodiscard]] std::vector<const ChartMark*> drawable(const ChartSeries& s) const {
        std::vector<const ChartMark*> out;
        for (const ChartMark& m : s.marks)
            if (usable(m.x, chart_.x) && usable(m.y, chart_.y)) out.push_back(&m);
        return out;
    }
    void ask(std::string text, std::string_view color, std::vector<Anchor> anchors) {
        const std::string shown = fitted(printable(text), kLabelSize, plot_.width() / 2);
        requests_.push_back({std::move(anchors), text_width(shown, kLabelSize), kLabelSize * 1.05, 0});
        labels_.emplace_back(shown, color);
    }

    void draw_limits() {
        for (const ChartLimit& l : chart_.limits) {
            if (!usable(l.value, chart_.x)) continue;
            const double at = x_.at(l.value);
            if (at < plot_.x0 || at > plot_.x1) continue;
            const std::string_view color = colors_.of(color_of(l.color));
            draw_line(svg_, {at, plot_.y0, at, plot_.y1}, color, 1.2, "2 4");
            const std::string text = fitted(printable(l.label), 10.5, plot_.height() - 16);
            draw_label(svg_, text, at - 4, plot_.y1 - 8, color, 10.5, colors_, -90);
            around_.obstacles.push_back({at - 15, plot_.y1 - 8 - text_width(text, 10.5), at, plot_.y1 - 8});
        }
    }

    void draw_guides() {
        for (const ChartGuide& g : chart_.guides) {
            if (!usable(g.value, chart_.y)) continue;
            const auto end = [&](const std::optional<double>& v, double otherwise) {
                return v && usable(*v, chart_.x) ? std::clamp(x_.at(*v), plot_.x0, plot_.x1) : otherwise;
            };
            const double from = end(g.from, plot_.x0), to = end(g.to, plot_.x1), y = y_.at(g.value);
            const std::string_view color = g.color.empty() ? colors_.ink : colors_.of(color_of(g.color));
            draw_line(svg_, {from, y, to, y}, color, 3);
            around_.lines.push_back({from, y, to, y});
            ask(g.label, color, {{(from + to) / 2, y, 4}, {from, y, 4}, {to, y, 4}});
        }
    }

    void draw_series(const ChartSeries& s, const NamedColor& named) {
        const auto marks = drawable(s);
        const std::string_view color = colors_.of(named);
        const bool crowded = marks.size() > kCrowd;
        svg_.open("g", {{"class", "series"}, {"fill", color}, {"stroke", color}});
        if (!s.name.empty()) svg_.text_element("title", s.name);
        if (s.line && marks.size() > 1) draw_path(marks, s.dots ? 1.6 : 1.3);
        if (s.dots)
            for (const ChartMark* m : marks) draw_mark(*m, s.line, crowded);
        svg_.close();
        if (!s.dots && !s.name.empty() && !marks.empty()) {
            std::vector<Anchor> anchors;  // from the middle outwards
            for (std::size_t i = 0; i < marks.size(); i += std::max<std::size_t>(1, marks.size() / 8)) {
                const ChartMark* m = marks[(marks.size() / 2 + i) % marks.size()];
                anchors.push_back({x_.at(m->x), y_.at(m->y), 2});
            }
            ask(s.name, colors_.ink, std::move(anchors));
        }
    }

    void draw_path(const std::vector<const ChartMark*>& marks, double width) {
        std::string path;
        for (std::size_t i = 0; i < marks.size(); ++i) {
            const double x = x_.at(marks[i]->x), y = y_.at(marks[i]->y);
            path += fmt::format("{}{} {}", i == 0 ? "M" : "L", svg_number(x), svg_number(y));
            if (i > 0 && marks.size() < 200)
                around_.lines.push_back({x_.at(marks[i - 1]->x), y_.at(marks[i - 1]->y), x, y});
        }
        svg_.empty("path", {{"d", path}, {"fill", "none"}, {"stroke-width", width}});
    }

    void draw_mark(const ChartMark& m, bool line, bool crowded) {
        const double x = x_.at(m.x), y = y_.at(m.y), r = m.chosen ? 6.5 : crowded ? 1.5 : line ? 2.6 : 3.6;
        if (m.low && m.high && usable(*m.low, chart_.y) && usable(*m.high, chart_.y))
            svg_.empty("path",
                       {{"d", fmt::format("M{} {}V{}", svg_number(x), svg_number(std::min(y_.at(*m.low), plot_.y1)),
                                          svg_number(std::max(y_.at(*m.high), plot_.y0)))},
                        {"stroke-opacity", "0.6"}});
        if (m.label.empty()) {
            svg_.empty("circle", circle(m, x, y, r, crowded));
        } else {
            svg_.open("circle", circle(m, x, y, r, crowded));
            svg_.text_element("title",
                              fmt::format("{}: {} {}, {} {}", m.label, chart_.x.label, value_text(m.x, chart_.x),
                                          chart_.y.label, value_text(m.y, chart_.y)));
            svg_.close();
        }
        if (!crowded) around_.obstacles.push_back({x - r, y - r, x + r, y + r});
        if (m.chosen) ask(m.label.substr(0, m.label.find(':')), colors_.ink, {{x, y, r + 2}});
    }
    [[nodiscard]] Attributes circle(const ChartMark& m, double x, double y, double r, bool crowded) const {
        Attributes out{{"cx", x}, {"cy", std::clamp(y, plot_.y0, plot_.y1)}, {"r", r}, {"stroke", "none"}};
        if (m.chosen) out.back() = {"stroke", colors_.ink};
        out.emplace_back("fill-opacity", crowded ? "0.25" : "0.8");
        return out;
    }

    SvgWriter& svg_;
    const Chart& chart_;
    Box plot_;
    const Palette& colors_;
    Scale x_, y_;
    Surroundings around_;
    std::vector<LabelRequest> requests_;
    std::vector<std::pair<std::string, std::string_view>> labels_;
};

// Series that bear their names on their lines are not in it.
Legend legend_of(const Chart& chart, const Palette& colors) {
    Legend legend;
    for (std::size_t i = 0; i < chart.series.size(); ++i)
        if (chart.series[i].dots) legend.emplace_back(chart.series[i].name, colors.of(series_color(chart, i)));
    if (legend.size() < 2) legend.clear();
    return legend;
}

struct PanelLayout {
    Box area;
    double title = 0, legend = 0;
    std::vector<std::string> caption;
};

}  // namespace

std::string svg(std::string_view title, std::string_view subtitle, std::span<const Chart> panels,
                const ChartStyle& style) {
    const Palette colors = palette(style.theme);
    const double width = std::clamp(style.width, 360.0, 10000.0);
    // Two beside each other where there are several and the drawing is wide enough.
    const std::size_t across = panels.size() > 1 && width >= 720 ? 2 : 1;
    const double each = (width - 2 * kMargin - kMargin * static_cast<double>(across - 1)) / static_cast<double>(across);
    const double plot_height = across == 2 ? each * 0.62 : std::clamp(style.height, 280.0, 10000.0) - 172;
    std::vector<PanelLayout> layouts;
    double top = 60, row_height = 0;
    for (std::size_t i = 0; i < panels.size(); ++i) {
        const double x = kMargin + static_cast<double>(i % across) * (each + kMargin);
        if (i % across == 0) top += row_height, row_height = 0;
        PanelLayout l{{x, top, x + each, top}, panels.size() > 1 ? 22.0 : 0, 0, caption_lines(panels[i].note, each)};
        l.legend = legend_height(legend_of(panels[i], colors), x + kLeft, x + each);
        l.area.y1 = top + l.title + l.legend + 10 + plot_height + kAxisRoom +
                    kCaptionLine * static_cast<double>(l.caption.size()) + 14;
        row_height = std::max(row_height, l.area.height());
        layouts.push_back(std::move(l));
    }
    const double height = panels.empty() ? 160 : top + row_height;
    SvgWriter out;
    std::string description(subtitle);
    for (const Chart& c : panels)
        description +=
            fmt::format(" {}: {} over {}, {} series. {}", c.title, c.y.label, c.x.label, c.series.size(), c.note);
    open_drawing(out, {title, subtitle, description}, width, height, colors);
    if (panels.empty())
        out.text_element("text", "There is nothing to draw.",
                         {{"x", kMargin}, {"y", 100.0}, {"font-size", 12.0}, {"fill", colors.muted}});
    for (std::size_t i = 0; i < panels.size(); ++i) {
        const PanelLayout& l = layouts[i];
        double y = l.area.y0;
        if (l.title > 0)
            out.text_element("text", fitted(printable(panels[i].title), 13, each),
                             {{"x", l.area.x0}, {"y", y + 14}, {"font-size", 13.0}, {"fill", colors.ink}});
        y += l.title;
        if (l.legend > 0) draw_legend(out, legend_of(panels[i], colors), l.area.x0 + kLeft, y, l.area.x1, colors);
        y += l.legend + 10;
        Panel(out, panels[i], {l.area.x0 + kLeft, y, l.area.x1, y + plot_height}, colors).draw();
        draw_caption(out, l.caption, l.area.x0, y + plot_height + kAxisRoom + 12, colors);
    }
    out.close();
    return out.take();
}

std::string svg(const Chart& chart, const ChartStyle& style) {
    return svg(chart.title, chart.subtitle, std::span(&chart, 1), style);
}

}  // namespace gambrel
