#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/cell_canvas.hpp"
#include "report/explore_charts.hpp"
#include "report/plot.hpp"
#include "report/text.hpp"

namespace gambrel {
namespace {

using namespace report_detail;

constexpr int kRows = 18;

// One letter a term, so that bars are told apart without colours too.
constexpr std::string_view kLetters = "CILS12DO";

std::string designs(const ExplorationReport& c, const TextStyle& style) {
    double most = 0;
    int label = 4;
    for (const EvaluatedDesign& d : c.designs) {
        most = std::max(most, d.speedup);
        label = std::max(label, std::min(12, display_width(printable(d.name, !style.unicode))));
    }
    const int room = std::max(10, style.width - label - 8);
    std::string out;
    for (const EvaluatedDesign& d : c.designs) {
        out += aligned(truncated(printable(d.name, !style.unicode), label, !style.unicode), label, false) + " ";
        double sum = 0;
        int drawn = 0;
        for (std::size_t t = 0; t < kTerms; ++t) {
            sum += d.timing.exposed[t] / d.timing.time * d.speedup / most * room;
            const int to = static_cast<int>(std::lround(sum));
            out += painted(std::string(static_cast<std::size_t>(std::max(0, to - drawn)), kLetters[t]),
                           term_terminal_color(static_cast<Term>(t)), style.color);
            drawn = std::max(drawn, to);
        }
        out += fmt::format(" {:.2f}\n", d.speedup);
    }
    std::string legend;
    for (std::size_t t = 0; t < kTerms; ++t)
        legend += fmt::format("{}{} {}", t ? ", " : "", kLetters[t], name(static_cast<Term>(t)));
    for (const std::string& line : wrapped("speed-up; " + legend, style.width)) out += line + "\n";
    return out;
}

std::string sensitivity(const ExplorationReport& c, const TextStyle& style) {
    double most = 1;
    for (const Sensitivity& s : c.sensitivities) most = std::max(most, s.elasticity);
    const int room = std::max(10, style.width - 24);
    std::string out;
    for (const Sensitivity& s : by_elasticity(c)) {
        const auto bar = static_cast<std::size_t>(std::lround(std::max(0.0, s.elasticity) / most * room));
        out += aligned(std::string(name(s.resource)), 16, false) + " ";
        out += painted(std::string(bar, '='), "38;5;39", style.color) + fmt::format(" {:.2f}\n", s.elasticity);
    }
    return out + "elasticity of speed by resource\n";
}

std::string map(const ExplorationReport& c, const TextStyle& style) {
    if (!c.map) return {};
    const ResourceMap& m = *c.map;
    const int columns = std::clamp(style.width - 10, 20, 100);
    CellCanvas canvas(columns, kRows, style.unicode);
    const double nx = static_cast<double>(m.x.values.size() - 1), ny = static_cast<double>(m.y.values.size() - 1);
    const auto x = [&](double v) { return v / nx * columns; };
    const auto y = [&](double v) { return kRows - v / ny * kRows; };
    for (const double level : contour_levels(m)) {
        const auto segments = contour(m, level);
        for (const Segment& s : segments) canvas.line(x(s.x0), y(s.y0), x(s.x1), y(s.y1), "38;5;39", false);
        if (segments.empty()) continue;
        const Segment& s = segments[segments.size() / 2];
        const std::string text = fmt::format("{:.4g}", level);
        canvas.put(std::clamp(static_cast<int>(x(s.x0)), 0, columns - static_cast<int>(text.size())),
                   std::clamp(static_cast<int>(y(s.y0)), 0, kRows - 1), decode_utf8(text), "1");
    }
    const auto lines = canvas.lines(style.color);
    std::string out;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::string label = i == 0                  ? fmt::format("{:.3g}", m.y.values.back())
                                  : i + 1 == lines.size() ? fmt::format("{:.3g}", m.y.values.front())
                                                          : "";
        out += aligned(label, 6, true) + " |" + lines[i] + "\n";
    }
    out += fmt::format("{:>8}{:<{}}{:.3g}\n", "", fmt::format("{:.3g}", m.x.values.front()), columns - 4,
                       m.x.values.back());
    return out + fmt::format("speed-up by {} (across) and {} (up)\n", name(m.x.resource), name(m.y.resource));
}

std::string pareto(const ExplorationReport& c, const TextStyle& style) {
    if (c.front.size() < 2) return {};
    const int columns = std::clamp(style.width - 10, 20, 100);
    CellCanvas canvas(columns, kRows, style.unicode);
    const double x0 = c.front.front().cost, x1 = c.front.back().cost;
    const double y0 = c.front.front().speedup, y1 = c.front.back().speedup;
    const auto x = [&](double v) { return (v - x0) / std::max(1e-12, x1 - x0) * (columns - 1); };
    const auto y = [&](double v) { return (kRows - 1) * (1 - (v - y0) / std::max(1e-12, y1 - y0)) + 0.5; };
    for (std::size_t i = 1; i < c.front.size(); ++i) {
        const EvaluatedDesign &a = c.front[i - 1], &b = c.front[i];
        canvas.line(x(a.cost), y(a.speedup), x(b.cost), y(b.speedup), "38;5;39", false);
    }
    for (const EvaluatedDesign& d : c.designs) {
        if (d.cost < x0 || d.cost > x1 || d.speedup < y0 || d.speedup > y1) continue;
        const std::string text = "o " + printable(d.name, !style.unicode);
        const int at = std::clamp(static_cast<int>(x(d.cost)), 0, std::max(0, columns - display_width(text)));
        canvas.put(at, std::clamp(static_cast<int>(y(d.speedup)), 0, kRows - 1), decode_utf8(text), "38;5;208");
    }
    const auto lines = canvas.lines(style.color);
    std::string out;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::string label = i == 0                  ? fmt::format("{:.2f}", y1)
                                  : i + 1 == lines.size() ? fmt::format("{:.2f}", y0)
                                                          : "";
        out += aligned(label, 6, true) + " |" + lines[i] + "\n";
    }
    out += fmt::format("{:>8}{:<{}}{:.2f}\n", "", fmt::format("{:.2f}", x0), columns - 4, x1);
    return out + "speed-up (up) against cost (across)\n";
}

}  // namespace

std::string explore_terminal(const ExplorationReport& c, ExploreChart chart, const TextStyle& style) {
    switch (chart) {
        case ExploreChart::designs:
            return designs(c, style);
        case ExploreChart::sensitivity:
            return sensitivity(c, style);
        case ExploreChart::map:
            return map(c, style);
        case ExploreChart::pareto:
            break;
    }
    return pareto(c, style);
}

}  // namespace gambrel
