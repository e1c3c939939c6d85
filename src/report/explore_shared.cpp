#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "report/explore_charts.hpp"

namespace gambrel {

using namespace report_detail;

namespace {
constexpr std::array<std::string_view, kExploreCharts> kNames = {"designs", "sensitivity", "map", "pareto"};
}

std::string_view name(ExploreChart chart) { return kNames[static_cast<std::size_t>(chart)]; }
std::optional<ExploreChart> explore_chart_from(std::string_view text) {
    const auto found = std::find(kNames.begin(), kNames.end(), text);
    if (found == kNames.end()) return std::nullopt;
    return static_cast<ExploreChart>(found - kNames.begin());
}

std::string explore_svg(const ExplorationReport& c, ExploreChart chart, const ChartStyle& style) {
    switch (chart) {
        case ExploreChart::designs:
            return designs_svg(c, style);
        case ExploreChart::sensitivity:
            return sensitivity_svg(c, style);
        case ExploreChart::map:
            return map_svg(c, style);
        case ExploreChart::pareto:
            break;
    }
    return pareto_svg(c, style);
}

namespace report_detail {

std::vector<Sensitivity> by_elasticity(const ExplorationReport& c) {
    std::vector<Sensitivity> sorted = c.sensitivities;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Sensitivity& a, const Sensitivity& b) { return a.elasticity > b.elasticity; });
    return sorted;
}

double doubling(const Sensitivity& s) { return std::log2(s.doubled); }

std::string factors_text(const ExplorationReport& c, const Factors& factors, bool amounts) {
    std::string text;
    for (const Resource r : all_resources()) {
        if (factors[r] == 1) continue;
        if (!text.empty()) text += ", ";
        text += fmt::format("{} x{:.3g}", name(r), factors[r]);
        if (amounts) text += fmt::format(" ({})", amount_text(r, base_value(c.base, c.hardware, r) * factors[r]));
    }
    return text.empty() ? "nothing" : text;
}

std::vector<double> contour_levels(const ResourceMap& map) {
    const auto [least, most] = std::minmax_element(map.speedup.begin(), map.speedup.end());
    // Steps that leave four to ten lines.
    double step = 0.01;
    for (const double s : {0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0}) {
        step = s;
        if ((*most - *least) / s <= 10) break;
    }
    std::vector<double> levels;
    for (double l = std::ceil(*least / step + 1e-9) * step; l < *most; l += step) levels.push_back(l);
    return levels;
}

std::vector<Segment> contour(const ResourceMap& map, double level) {
    const std::size_t nx = map.x.values.size(), ny = map.y.values.size();
    std::vector<Segment> segments;
    for (std::size_t j = 0; j + 1 < ny; ++j)
        for (std::size_t i = 0; i + 1 < nx; ++i) {
            const std::array<double, 4> v = {map.speedup[j * nx + i], map.speedup[j * nx + i + 1],
                                             map.speedup[(j + 1) * nx + i + 1], map.speedup[(j + 1) * nx + i]};
            constexpr std::array<std::array<double, 2>, 4> kCorner = {{{0, 0}, {1, 0}, {1, 1}, {0, 1}}};
            std::array<std::array<double, 2>, 4> crossing{};
            std::size_t count = 0;
            for (std::size_t e = 0; e < 4; ++e) {
                const std::size_t f = (e + 1) % 4;
                if ((v[e] < level) == (v[f] < level)) continue;
                const double t = (level - v[e]) / (v[f] - v[e]);
                crossing[count++] = {static_cast<double>(i) + kCorner[e][0] + t * (kCorner[f][0] - kCorner[e][0]),
                                     static_cast<double>(j) + kCorner[e][1] + t * (kCorner[f][1] - kCorner[e][1])};
            }
            for (std::size_t k = 0; k + 1 < count; k += 2)
                segments.push_back({crossing[k][0], crossing[k][1], crossing[k + 1][0], crossing[k + 1][1]});
        }
    return segments;
}

}  // namespace report_detail
}  // namespace gambrel
