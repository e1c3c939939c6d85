// The legend: levels, kinds of roofs, the scale of areas, and the named kernels with time and share of their roof.
// In a panel beside the plot, or, where the chart is too narrow for one, as a line above it.
#pragma once

#include "report/chart_layout.hpp"
#include "report/palette.hpp"
#include "report/svg_writer.hpp"

namespace gambrel::report_detail {

void draw_panel(SvgWriter& svg, const ChartData& data, const Scene& scene, const Palette& colors);

}  // namespace gambrel::report_detail
