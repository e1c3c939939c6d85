// What the arithmetic kernels must leave: the host follows each chain with the same roundings. Pure.
#pragma once

#include <cstdint>

#include "measure/device.hpp"

namespace gambrel::measure_detail {

// The numbers that a kernel is given, exact in every format: where chains start and what each step does.
struct ArithmeticArguments {
    double a = 0, b = 0;
    double lane_step = 0, chain_step = 0;
};
ArithmeticArguments arithmetic_arguments(ProbeAction action, Pipe pipe);

// x rounded to the format of the pipe, ties to even.
double rounded(Pipe pipe, double x);

// Where the chain that starts at `x` is after `steps`, and the sum of the first `chains` chains of one lane.
double followed(ProbeAction action, Pipe pipe, double x, std::int64_t steps);
double followed_sum(ProbeAction action, Pipe pipe, int lane, int chains, std::int64_t steps);

}  // namespace gambrel::measure_detail
