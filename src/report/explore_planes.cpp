// Planes of an exploration: speed-up over two resources, and speed-up against cost.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/explore_charts.hpp"
#include "report/font_metrics.hpp"
#include "report/plot.hpp"
#include "report/text.hpp"

namespace gambrel::report_detail {
namespace {

// Between the grid's values, on the logarithmic axis of the map.
double value_at(const Axis& axis, double position) {
    const auto i =
        static_cast<std::size_t>(std::min(std::floor(position), static_cast<double>(axis.values.size() - 2)));
    const double share = position - static_cast<double>(i);
    return axis.values[i] * std::pow(axis.values[i + 1] / axis.values[i], share);
}

void draw_lines(SvgWriter& svg, const Plot& p, const ResourceMap& map) {
    for (const double level : contour_levels(map)) {
        const auto segments = contour(map, level);
        if (segments.empty()) continue;
        std::string path;
        for (const Segment& s : segments)
            path += fmt::format("M{} {}L{} {}", svg_number(p.x.at(value_at(map.x, s.x0))),
                                svg_number(p.y.at(value_at(map.y, s.y0))), svg_number(p.x.at(value_at(map.x, s.x1))),
                                svg_number(p.y.at(value_at(map.y, s.y1))));
        svg.empty("path", {{"d", path}, {"fill", "none"}, {"stroke", p.colors.ink}, {"stroke-width", 1.4}});
        const Segment& s = segments[segments.size() / 2];
        svg.text_element("text", fmt::format("{:.4g}", level),
                         {{"x", p.x.at(value_at(map.x, s.x0))},
                          {"y", p.y.at(value_at(map.y, s.y0)) + 4},
                          {"text-anchor", "middle"},
                          {"font-size", 11.5},
                          {"fill", p.colors.ink},
                          {"stroke", p.colors.background},
                          {"stroke-width", 4.0},
                          {"stroke-linejoin", "round"},
                          {"paint-order", "stroke"}});
    }
}

// From the background to L1's blue.
std::string shade(double share, Theme theme) {
    const int from = theme == Theme::dark ? 0x15181d : 0xffffff, to = theme == Theme::dark ? 0x1f5f86 : 0x8cc4e6;
    int color = 0;
    for (const int shift : {16, 8, 0}) {
        const int a = from >> shift & 255, b = to >> shift & 255;
        color |= static_cast<int>(std::lround(a + (b - a) * share)) << shift;
    }
    return fmt::format("#{:06x}", color);
}

}  // namespace

std::string map_svg(const ExplorationReport& c, const ChartStyle& style) {
    if (!c.map) return {};
    const ResourceMap& m = *c.map;
    Plot p{fmt::format("Speed-up by {} and {}: {}", name(m.x.resource), name(m.y.resource), c.title),
           "on " + c.machine + ", all else as it is; lines of equal speed-up, modelled",
           fmt::format("{}, times {}", name(m.x.resource),
                       amount_text(m.x.resource, base_value(c.base, c.hardware, m.x.resource))),
           fmt::format("{}, times {}", name(m.y.resource),
                       amount_text(m.y.resource, base_value(c.base, c.hardware, m.y.resource))),
           {},
           {},
           style.width,
           style.height,
           palette(style.theme)};
    p.x = {m.x.values.front(), m.x.values.back(), 76, p.width - 24, true};
    p.y = {m.y.values.front(), m.y.values.back(), p.height - 60, 76, true};
    SvgWriter svg;
    open_plot(svg, p);
    const auto [least, most] = std::minmax_element(m.speedup.begin(), m.speedup.end());
    const std::size_t nx = m.x.values.size(), ny = m.y.values.size();
    svg.open("g", {{"class", "cells"}, {"shape-rendering", "crispEdges"}, {"opacity", 0.8}});
    for (std::size_t j = 0; j + 1 < ny; ++j)
        for (std::size_t i = 0; i + 1 < nx; ++i) {
            const double mean = (m.speedup[j * nx + i] + m.speedup[(j + 1) * nx + i + 1]) / 2;
            const double x = p.x.at(m.x.values[i]), y = p.y.at(m.y.values[j + 1]);
            svg.empty("rect", {{"x", x},
                               {"y", y},
                               {"width", p.x.at(m.x.values[i + 1]) - x},
                               {"height", p.y.at(m.y.values[j]) - y},
                               {"fill", shade((mean - *least) / std::max(1e-9, *most - *least), style.theme)}});
        }
    svg.close();
    draw_lines(svg, p, m);
    svg.close();
    return svg.take();
}

std::string pareto_svg(const ExplorationReport& c, const ChartStyle& style) {
    if (c.front.empty()) return {};
    Plot p{"Speed-up against cost: " + c.title,
           fmt::format("on {}; the front of {} designs that were looked at, modelled", c.machine, c.evaluated),
           "cost, times that of the start",
           "speed-up",
           {},
           {},
           style.width,
           style.height,
           palette(style.theme)};
    double dearest = 1, fastest = 1, cheapest = 1, slowest = 1;
    for (const EvaluatedDesign& d : c.front) {
        dearest = std::max(dearest, d.cost);
        cheapest = std::min(cheapest, d.cost);
        fastest = std::max(fastest, d.speedup);
        slowest = std::min(slowest, d.speedup);
    }
    p.x = {cheapest * 0.95, dearest * 1.04, 72, p.width - 24, false};
    p.y = {slowest * 0.9, fastest * 1.06, p.height - 60, 76, false};
    SvgWriter svg;
    open_plot(svg, p);
    std::string path;
    for (const EvaluatedDesign& d : c.front)
        path += path.empty() ? fmt::format("M{} {}", svg_number(p.x.at(d.cost)), svg_number(p.y.at(d.speedup)))
                             : fmt::format("H{}V{}", svg_number(p.x.at(d.cost)), svg_number(p.y.at(d.speedup)));
    svg.empty("path", {{"d", path}, {"fill", "none"}, {"stroke", p.colors.level[Level::l1]}, {"stroke-width", 2.0}});
    for (const EvaluatedDesign& d : c.front) {
        svg.open("circle",
                 {{"cx", p.x.at(d.cost)}, {"cy", p.y.at(d.speedup)}, {"r", 2.5}, {"fill", p.colors.level[Level::l1]}});
        svg.text_element(
            "title", fmt::format("cost {:.3f}, speed-up {:.3f}: {}", d.cost, d.speedup, factors_text(c, d.factors)));
        svg.close();
    }
    for (const EvaluatedDesign& d : c.designs) {
        if (d.cost < p.x.low || d.cost > p.x.high || d.speedup < p.y.low) continue;
        svg.empty("circle", {{"cx", p.x.at(d.cost)},
                             {"cy", p.y.at(d.speedup)},
                             {"r", 5.0},
                             {"fill", p.colors.background},
                             {"stroke", p.colors.level[Level::dram]},
                             {"stroke-width", 2.0}});
        const bool right = p.x.at(d.cost) < p.width - 120;
        svg.text_element("text", d.name,
                         {{"x", p.x.at(d.cost) + (right ? 9 : -9)},
                          {"y", p.y.at(d.speedup) + 16},
                          {"text-anchor", right ? "start" : "end"},
                          {"font-size", 12.0},
                          {"fill", p.colors.ink}});
    }
    svg.close();
    return svg.take();
}

}  // namespace gambrel::report_detail
