// The four charts of an exploration, and words that its text, tables and charts share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <gambrel/chart.hpp>
#include <gambrel/explore.hpp>

namespace gambrel::report_detail {

BarChart designs_chart(const ExplorationReport& report);
BarChart sensitivity_chart(const ExplorationReport& report);
std::optional<Chart> map_chart(const ExplorationReport& report);
std::optional<Chart> front_chart(const ExplorationReport& report);

// The largest first.
std::vector<Sensitivity> by_elasticity(const ExplorationReport& report);
// "sms x2 (160 SM), l2.bandwidth x1.5 (1.8 TB/s)"; "nothing" if all are 1.
std::string factors_text(const ExplorationReport& report, const Factors& factors, bool amounts = true);
// What a design is: the start's words, or its factors.
std::string design_text(const ExplorationReport& report, const EvaluatedDesign& design);
// The words of the page's legends, so that a bottleneck has one colour in strip, bars and table: "DRAM", "latency".
std::string term_title(std::size_t term);
// "grid search: 5,760 of 5,760 designs evaluated, 12 within the limits"; "" if there was no search.
std::string search_text(const ExplorationReport& report);
// "DRAM bandwidth first: +50 % gives 1.31x; clock alone 1.12x, SMs alone 1.04x." The answer to what should be scaled.
std::string explore_answer(const ExplorationReport& report);
// That no design reaches the target; "" if one does, or none was asked for.
std::string target_text(const ExplorationReport& report);

// Lines of equal value on a grid, by marching squares: each a chain of points in the map's factors.
struct ContourLine {
    double level = 0;
    std::vector<std::pair<double, double>> points;
};
std::vector<ContourLine> contour_lines(const ResourceMap& map);

}  // namespace gambrel::report_detail
