// How far measured times lie from predicted ones, by regime: the 10th and 90th percentile of measured over predicted,
// every file of shared/data/measured with the same weight. tests/compare/intervals_test.cpp names the rows and fails if
// the table and they part. They are of our model; the paper's lies farther off.
#pragma once

#include <gambrel/delta.hpp>

namespace gambrel::delta_detail {

struct TimeInterval {
    double low, high;
};
TimeInterval time_interval(Regime regime);

}  // namespace gambrel::delta_detail
