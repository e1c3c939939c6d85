// The four charts of an exploration as SVG, and what they and the terminal share.
#pragma once

#include <string>
#include <vector>

#include <gambrel/explore_report.hpp>

namespace gambrel::report_detail {

std::string designs_svg(const ExplorationReport& c, const ChartStyle& style);
std::string sensitivity_svg(const ExplorationReport& c, const ChartStyle& style);
std::string map_svg(const ExplorationReport& c, const ChartStyle& style);
std::string pareto_svg(const ExplorationReport& c, const ChartStyle& style);

// The largest first.
std::vector<Sensitivity> by_elasticity(const ExplorationReport& c);
// What the elasticity would be if it were the same up to twice as much: log2 of the speed-up.
double doubling(const Sensitivity& s);
// "sms 2 (60), l2.bandwidth 1.5 (1.8 TB/s)"; "nothing" if all are 1.
std::string factors_text(const ExplorationReport& c, const Factors& factors, bool amounts = true);

// Where a line of equal value crosses a grid: segments in columns and rows of it, fractions between (marching squares).
struct Segment {
    double x0, y0, x1, y1;
};
std::vector<Segment> contour(const ResourceMap& map, double level);
// Levels of speed-up that the map's lines are drawn at.
std::vector<double> contour_levels(const ResourceMap& map);

}  // namespace gambrel::report_detail
