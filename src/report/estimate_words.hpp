// What an estimate is of, in words: operator and shape of a layer, and the conditions and the sum of all.
#pragma once

#include <string>

#include <gambrel/estimate.hpp>
#include <gambrel/report.hpp>

namespace gambrel::report_detail {

std::string operator_text(const Layer& layer);  // "conv 3x3 /2", "gemm", "max_pool"
std::string shape_text(const Layer& layer);     // "64x56x56 -> 128x28x28", "512x1024x1024"

// The batch of a network, by the first dimension of its first input; 0 if there is none.
std::int64_t batch_of(const Estimates& estimates);
// Images where the input is one; samples otherwise.
const char* sample_noun(const Estimates& estimates);
// The sums of the ends of the layers' 80 % ranges: all layers are then off the same way. Absent if a layer has none.
std::optional<Interval> total_range(const Estimates& estimates);
// "batch 32, fp32, 1530 MHz: 28.3 ms (80 % range 24 to 33 ms), 1,130 images/s"
std::string conditions_text(const Estimates& estimates);
// What was not estimated or not modelled, a line each.
// "WINOGRAD", or "implicit GEMM" where a layer has no other algorithm.
std::string algorithm_text(const Layer& layer);
std::string remarks_text(const Estimates& estimates, const TextStyle& style);

}  // namespace gambrel::report_detail
