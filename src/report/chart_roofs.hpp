// Which roofs a chart draws: one line for each level and pipe, as the verdicts used them, and what the other standard
// (measured beside theoretical) says of the same.
#pragma once

#include "report/chart_data.hpp"

namespace gambrel::report_detail {

// Fills slopes, flats and other_roofs; chart.levels must be known.
void add_roofs(ChartData& chart, const Analysis& analysis, std::size_t machine, std::optional<Frequency> clock);

}  // namespace gambrel::report_detail
