// One measured value in the unit of its kind: FLOP/s, OP/s for integers, B/s, seconds.
#pragma once

#include <string>

#include <gambrel/measure.hpp>

namespace gambrel::report_detail {

std::string ceiling_value(const MeasuredCeiling& ceiling, double value, int digits);

}  // namespace gambrel::report_detail
