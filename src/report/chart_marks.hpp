// The shapes that tell kernels apart, all of the area of a circle of the same radius, so that area stays comparable.
#pragma once

#include <string>

namespace gambrel::report_detail {

// SVG path data of the mark of kernel `number` (1 for the first; 0: a circle) around a point.
std::string mark_path(int number, double x, double y, double radius);

}  // namespace gambrel::report_detail
