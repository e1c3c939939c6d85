// How far measured times lie from predicted ones, by regime: the 10th and 90th percentile of measured over predicted.
// Learned from the rows of shared/data/measured by `gambrel validate --intervals`; docs/model.md names the rows.
#pragma once

#include <gambrel/delta.hpp>

namespace gambrel::delta_detail {

struct TimeInterval {
    double low, high;
};
TimeInterval time_interval(Regime regime);

}  // namespace gambrel::delta_detail
