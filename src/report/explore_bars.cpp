// Bars of an exploration: designs by speed-up with what they wait for, and resources by elasticity.
#include "report/explore_charts.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/font_metrics.hpp"
#include "report/plot.hpp"
#include "report/text.hpp"

namespace gambrel::report_detail {
namespace {

std::vector<Term> terms_used(const ExplorationReport& c) {
    std::vector<Term> used;
    for (std::size_t t = 0; t < kTerms; ++t)
        for (const EvaluatedDesign& d : c.designs)
            if (d.timing.exposed[t] > 0.002 * d.timing.time) {
                used.push_back(static_cast<Term>(t));
                break;
            }
    return used;
}

void stacked(SvgWriter& svg, const Plot& p, const EvaluatedDesign& d, double x, double width, Theme theme) {
    double below = 0;
    for (std::size_t t = 0; t < kTerms; ++t) {
        const double part = d.speedup * d.timing.exposed[t] / d.timing.time;
        if (!(part > 0)) continue;
        const double top = p.y.at(below + part), bottom = p.y.at(below);
        svg.open("rect", {{"x", x},
                          {"y", top},
                          {"width", width},
                          {"height", bottom - top},
                          {"fill", term_color(static_cast<Term>(t), theme)}});
        svg.text_element("title", fmt::format("{}: {:.1f} % of the time", name(static_cast<Term>(t)),
                                              100 * d.timing.exposed[t] / d.timing.time));
        svg.close();
        below += part;
    }
}

}  // namespace

std::string designs_svg(const ExplorationReport& c, const ChartStyle& style) {
    const double key = 17.0 * static_cast<double>(c.designs.size());
    Plot p{"Speed-up by design: " + c.title,
           "on " + c.machine + ", modelled; a bar's parts are the shares of what its time waits for",
           "",
           "speed-up",
           {},
           {},
           style.width,
           style.height + key,
           palette(style.theme)};
    double most = 1;
    for (const EvaluatedDesign& d : c.designs) most = std::max(most, d.speedup);
    p.x = {0, static_cast<double>(c.designs.size()), 72, p.width - 24, false};
    p.y = {0, most * 1.08, style.height - 60, 92, false};
    SvgWriter svg;
    open_plot(svg, p);
    draw_term_legend(svg, p, style.theme, terms_used(c), 74);
    const double slot = (p.x.to - p.x.from) / p.x.high;
    for (std::size_t i = 0; i < c.designs.size(); ++i) {
        const EvaluatedDesign& d = c.designs[i];
        const double middle = p.x.at(static_cast<double>(i) + 0.5), width = std::min(70.0, slot * 0.66);
        stacked(svg, p, d, middle - width / 2, width, style.theme);
        const auto label = [&](const std::string& text, double y, std::string_view color) {
            svg.text_element(
                "text", fitted(printable(text), 12, slot - 2),
                {{"x", middle}, {"y", y}, {"text-anchor", "middle"}, {"font-size", 12.0}, {"fill", color}});
        };
        label(fmt::format("{:.2f}", d.speedup), p.y.at(d.speedup) - 6, p.colors.ink);
        label(d.name, p.y.from + 18, p.colors.ink);
        label(fmt::format("cost {:.2f}", d.cost), p.y.from + 34, p.colors.muted);
        svg.text_element("text", fitted(printable(d.name + ": " + d.what), 11.5, p.width - 96),
                         {{"x", 72.0},
                          {"y", style.height + 4 + 17.0 * static_cast<double>(i)},
                          {"font-size", 11.5},
                          {"fill", p.colors.muted}});
    }
    svg.close();
    return svg.take();
}

std::string sensitivity_svg(const ExplorationReport& c, const ChartStyle& style) {
    const auto bars = by_elasticity(c);
    constexpr double kBar = 30;
    Plot p{"What matters: " + c.title,
           "elasticity on " + c.machine +
               " (filled: a tenth more; outline: log2 of the speed-up from twice as much), modelled",
           "elasticity: 1 where time follows the resource",
           "",
           {},
           {},
           style.width,
           150 + kBar * static_cast<double>(bars.size()),
           palette(style.theme)};
    double most = 0.2, least = 0;
    for (const Sensitivity& s : bars) {
        most = std::max({most, s.elasticity, doubling(s)});
        least = std::min({least, s.elasticity, doubling(s)});
    }
    p.x = {least, most * 1.06, 150, p.width - 60, false};
    p.y = {0, static_cast<double>(bars.size()), p.height - 60, 76, false};
    SvgWriter svg;
    open_plot(svg, p);
    for (std::size_t i = 0; i < bars.size(); ++i) {
        const Sensitivity& s = bars[i];
        const double top = p.y.to + kBar * static_cast<double>(i), zero = p.x.at(0);
        const auto bar = [&](double value, double inset, bool filled) {
            const double x0 = std::min(zero, p.x.at(value)), x1 = std::max(zero, p.x.at(value));
            svg.empty("rect", {{"x", x0},
                               {"y", top + inset},
                               {"width", x1 - x0},
                               {"height", kBar - 2 * inset},
                               {"fill", filled ? p.colors.level[Level::l1] : std::string_view("none")},
                               {"stroke", filled ? std::string_view("none") : p.colors.ink},
                               {"stroke-width", 1.25}});
        };
        bar(s.elasticity, 8, true);
        bar(doubling(s), 4, false);
        const double middle = top + kBar / 2 + 4;
        svg.text_element(
            "text", name(s.resource),
            {{"x", 142.0}, {"y", middle}, {"text-anchor", "end"}, {"font-size", 12.0}, {"fill", p.colors.ink}});
        svg.text_element("text", fmt::format("{:.2f}", s.elasticity),
                         {{"x", std::max({zero, p.x.at(s.elasticity), p.x.at(doubling(s))}) + 6},
                          {"y", middle},
                          {"font-size", 11.0},
                          {"fill", p.colors.muted}});
    }
    svg.close();
    return svg.take();
}

}  // namespace gambrel::report_detail
