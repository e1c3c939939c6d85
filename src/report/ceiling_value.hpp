// A measured ceiling in words, as the terminal and the page have it. Values are in the unit of their kind: FLOP/s, OP/s
// for integers, B/s, seconds.
#pragma once

#include <string>
#include <vector>

#include <gambrel/measure.hpp>

namespace gambrel::report_detail {

std::string ceiling_value(const MeasuredCeiling& ceiling, double value, int digits);
std::string percent_of_theory(const MeasuredCeiling& ceiling);  // "" if theory is silent
std::string range_text(const MeasuredCeiling& ceiling);  // the 95 % interval: "-0.3 +0.4 %"; empty of few samples
std::string device_text(const Measurement& measurement);
// Old GPUs lack many probes: those that are missing for the same reason share one sentence.
std::vector<std::string> skipped_sentences(const Measurement& measurement);

}  // namespace gambrel::report_detail
