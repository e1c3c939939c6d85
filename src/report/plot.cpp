#include "report/plot.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/font_metrics.hpp"
#include "report/text.hpp"

namespace gambrel::report_detail {
namespace {

void line(SvgWriter& svg, double x0, double y0, double x1, double y1, std::string_view color) {
    svg.empty("line", {{"x1", x0}, {"y1", y0}, {"x2", x1}, {"y2", y1}, {"stroke", color}, {"stroke-width", 1.0}});
}

}  // namespace

double Scale::at(double value) const {
    const double share = logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
    return from + share * (to - from);
}

std::vector<double> round_ticks(const Scale& s, int wanted) {
    std::vector<double> ticks;
    if (s.logarithmic) {
        for (const double step : {2.0, std::sqrt(2.0)}) {
            ticks.clear();
            for (int i = -20; i <= 20; ++i) {
                const double value = std::pow(step, i);
                if (value >= s.low * 0.999 && value <= s.high * 1.001) ticks.push_back(value);
            }
            if (ticks.size() >= 3) return ticks;
        }
        return ticks;
    }
    const double rough = (s.high - s.low) / std::max(1, wanted);
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    double step = 10 * power;
    for (const double m : {1.0, 2.0, 5.0})
        if (m * power >= rough * 0.999) {
            step = m * power;
            break;
        }
    // Counted, not summed, and from a whole number that is never -0.
    const auto first = static_cast<long>(std::ceil(s.low / step - 1e-9));
    const auto last = static_cast<long>(std::floor(s.high / step + 1e-9));
    for (long i = first; i <= last; ++i) ticks.push_back(static_cast<double>(i) * step);
    return ticks;
}

void open_plot(SvgWriter& svg, const Plot& p) {
    const Palette& c = p.colors;
    svg.open("svg", {{"xmlns", "http://www.w3.org/2000/svg"},
                     {"viewBox", fmt::format("0 0 {} {}", svg_number(p.width), svg_number(p.height))},
                     {"width", p.width},
                     {"height", p.height},
                     {"font-family", "Inter, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"}});
    svg.empty("rect", {{"width", p.width}, {"height", p.height}, {"fill", c.background}});
    svg.text_element("text", fitted(printable(p.title), 18 * 1.08, p.width - 48),
                     {{"x", 24.0}, {"y", 32.0}, {"font-size", 18.0}, {"font-weight", "600"}, {"fill", c.ink}});
    svg.text_element("text", fitted(printable(p.subtitle), 12, p.width - 48),
                     {{"x", 24.0}, {"y", 52.0}, {"font-size", 12.0}, {"fill", c.muted}});
    svg.open("g", {{"class", "axes"}, {"font-size", 11.0}, {"fill", c.muted}});
    if (!p.x_title.empty()) {
        for (const double v : round_ticks(p.x, 8)) {
            line(svg, p.x.at(v), p.y.from, p.x.at(v), p.y.to, c.grid);
            svg.text_element("text", fmt::format("{:.3g}", v),
                             {{"x", p.x.at(v)}, {"y", p.y.from + 18}, {"text-anchor", "middle"}});
        }
        svg.text_element("text", p.x_title,
                         {{"x", (p.x.from + p.x.to) / 2},
                          {"y", p.y.from + 38},
                          {"text-anchor", "middle"},
                          {"font-size", 12.0},
                          {"fill", c.ink}});
    }
    if (!p.y_title.empty()) {
        for (const double v : round_ticks(p.y, 8)) {
            line(svg, p.x.from, p.y.at(v), p.x.to, p.y.at(v), c.grid);
            svg.text_element("text", fmt::format("{:.3g}", v),
                             {{"x", p.x.from - 9}, {"y", p.y.at(v) + 4}, {"text-anchor", "end"}});
        }
        const double middle = (p.y.from + p.y.to) / 2;
        svg.text_element("text", p.y_title,
                         {{"x", 22.0},
                          {"y", middle},
                          {"text-anchor", "middle"},
                          {"font-size", 12.0},
                          {"fill", c.ink},
                          {"transform", fmt::format("rotate(-90 22 {})", svg_number(middle))}});
    }
    line(svg, p.x.from, p.y.from, p.x.to, p.y.from, c.frame);
    line(svg, p.x.from, p.y.from, p.x.from, p.y.to, c.frame);
    svg.close();
}

// Memory levels have the colours they have everywhere; what an SM does itself is grey to yellow.
std::string_view term_color(Term term, Theme theme) {
    const Palette c = palette(theme);
    const bool dark = theme == Theme::dark;
    switch (term) {
        case Term::compute:
            return dark ? "#c3c8cf" : "#4a515b";
        case Term::issue:
            return dark ? "#8b929c" : "#8b929c";
        case Term::latency:
            return dark ? "#f0e442" : "#d3b000";
        case Term::shared:
            return c.level[Level::shared];
        case Term::l1:
            return c.level[Level::l1];
        case Term::l2:
            return c.level[Level::l2];
        case Term::dram:
            return c.level[Level::dram];
        case Term::launch:
            break;
    }
    return dark ? "#4a515b" : "#d5d9de";
}

std::string_view term_terminal_color(Term term) {
    switch (term) {
        case Term::compute:
            return "1";
        case Term::issue:
            return "38;5;245";
        case Term::latency:
            return "38;5;220";
        case Term::shared:
            return terminal_color(Level::shared);
        case Term::l1:
            return terminal_color(Level::l1);
        case Term::l2:
            return terminal_color(Level::l2);
        case Term::dram:
            return terminal_color(Level::dram);
        case Term::launch:
            break;
    }
    return "2";
}

void draw_term_legend(SvgWriter& svg, const Plot& p, Theme theme, const std::vector<Term>& used, double y) {
    double x = p.x.from;
    svg.open("g", {{"class", "legend"}, {"font-size", 11.5}, {"fill", p.colors.ink}});
    for (const Term term : used) {
        svg.empty("rect",
                  {{"x", x}, {"y", y - 9}, {"width", 11.0}, {"height", 11.0}, {"fill", term_color(term, theme)}});
        svg.text_element("text", name(term), {{"x", x + 16}, {"y", y}});
        x += 16 + text_width(name(term), 11.5) + 18;
    }
    svg.close();
}

}  // namespace gambrel::report_detail
