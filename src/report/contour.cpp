#include <algorithm>
#include <array>
#include <cmath>

#include "report/explore_charts.hpp"

namespace gambrel::report_detail {
namespace {

using Point = std::pair<double, double>;  // column and row of the grid, fractions between

struct GridSegment {
    Point from, to;
};

std::vector<double> levels_of(const ResourceMap& map) {
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

std::vector<GridSegment> segments_of(const ResourceMap& map, double level) {
    const std::size_t nx = map.x.values.size(), ny = map.y.values.size();
    std::vector<GridSegment> segments;
    for (std::size_t j = 0; j + 1 < ny; ++j)
        for (std::size_t i = 0; i + 1 < nx; ++i) {
            const std::array<double, 4> v = {map.speedup[j * nx + i], map.speedup[j * nx + i + 1],
                                             map.speedup[(j + 1) * nx + i + 1], map.speedup[(j + 1) * nx + i]};
            constexpr std::array<Point, 4> kCorner = {{{0, 0}, {1, 0}, {1, 1}, {0, 1}}};
            std::array<Point, 4> crossing{};
            std::size_t count = 0;
            for (std::size_t e = 0; e < 4; ++e) {
                const std::size_t f = (e + 1) % 4;
                if ((v[e] < level) == (v[f] < level)) continue;
                const double t = (level - v[e]) / (v[f] - v[e]);
                crossing[count++] = {
                    static_cast<double>(i) + kCorner[e].first + t * (kCorner[f].first - kCorner[e].first),
                    static_cast<double>(j) + kCorner[e].second + t * (kCorner[f].second - kCorner[e].second)};
            }
            for (std::size_t k = 0; k + 1 < count; k += 2) segments.push_back({crossing[k], crossing[k + 1]});
        }
    return segments;
}

// Segments that share an end become one line.
std::vector<std::vector<Point>> chained(std::vector<GridSegment> segments) {
    const auto same = [](const Point& a, const Point& b) {
        return std::fabs(a.first - b.first) < 1e-9 && std::fabs(a.second - b.second) < 1e-9;
    };
    std::vector<std::vector<Point>> lines;
    while (!segments.empty()) {
        std::vector<Point> line{segments.back().from, segments.back().to};
        segments.pop_back();
        for (bool grown = true; grown;) {
            grown = false;
            for (auto s = segments.begin(); s != segments.end(); ++s) {
                if (same(s->from, line.back()))
                    line.push_back(s->to);
                else if (same(s->to, line.back()))
                    line.push_back(s->from);
                else if (same(s->to, line.front()))
                    line.insert(line.begin(), s->from);
                else if (same(s->from, line.front()))
                    line.insert(line.begin(), s->to);
                else
                    continue;
                segments.erase(s);
                grown = true;
                break;
            }
        }
        lines.push_back(std::move(line));
    }
    return lines;
}

// Between the grid's values, on the logarithmic axis of the map.
double value_at(const Axis& axis, double position) {
    const auto i =
        static_cast<std::size_t>(std::min(std::floor(position), static_cast<double>(axis.values.size() - 2)));
    return axis.values[i] * std::pow(axis.values[i + 1] / axis.values[i], position - static_cast<double>(i));
}

}  // namespace

std::vector<ContourLine> contour_lines(const ResourceMap& map) {
    std::vector<ContourLine> out;
    for (const double level : levels_of(map))
        for (const auto& line : chained(segments_of(map, level))) {
            ContourLine contour{level, {}};
            for (const auto& [x, y] : line) contour.points.emplace_back(value_at(map.x, x), value_at(map.y, y));
            out.push_back(std::move(contour));
        }
    return out;
}

}  // namespace gambrel::report_detail
