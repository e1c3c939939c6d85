// Parts of the Roofline as SVG: the shapes that tell kernels apart, and the legend.
#pragma once

#include <string>

#include "chart/palette.hpp"
#include "chart/svg_writer.hpp"
#include "report/roofline_layout.hpp"

namespace gambrel::report_detail {

// SVG path data of the mark of kernel `number` (1 for the first; 0: a circle) around a point. All have the area of a
// circle of this radius, so that areas stay comparable.
std::string mark_path(int number, double x, double y, double radius);

// Levels, kinds of roofs, the scale of areas, and the named kernels with time and share of their roof. In a panel
// beside the plot, or, where the drawing is too narrow for one, as a line above it.
void draw_panel(chart_detail::SvgWriter& svg, const RooflinePlot& data, const Scene& scene,
                const chart_detail::Palette& colors);

}  // namespace gambrel::report_detail
