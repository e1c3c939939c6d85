// What the renderers of bar charts share: lengths, colours, and the text at the end of a bar.
#pragma once

#include <string>
#include <vector>

#include <gambrel/chart.hpp>

#include "chart/palette.hpp"

namespace gambrel::chart_detail {

std::string bar_text(const BarChart& chart, const Bar& bar);
// The ends of all bars, and zero.
std::vector<double> bar_lengths(const BarChart& chart);
const NamedColor& part_color(const BarChart& chart, std::size_t part);
// Whether the part is at least 0.2 % of some bar: smaller ones would only lengthen the legend.
bool is_drawn(const BarChart& chart, std::size_t part);

}  // namespace gambrel::chart_detail
