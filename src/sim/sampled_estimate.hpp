// What a sampled simulation knows: the start, counted in full, and windows of the rest, scaled by the work of their
// CTAs. Invariant: the error covers both the spread between windows and every miss that a longer past could have made a
// hit.
#pragma once

#include <vector>

#include <gambrel/sim.hpp>

#include "sim/hierarchy.hpp"

namespace gambrel::sim_detail {

class SampledEstimate {
public:
    // `others` are CTAs that ran before or after the counted ones; `work` and `other_work` are how much the two do.
    // Write-backs cannot be attributed to counted or uncounted CTAs, so they are divided in proportion to work.
    SampledEstimate(const TensorCounts& start, const TensorCounts& others, double work, double other_work);
    void add(const TensorCounts& counted, const TensorCounts& others, double work, double other_work);
    // `rest`: the work of all CTAs after the start.
    [[nodiscard]] TensorCounts total(double rest) const;
    [[nodiscard]] SamplingError error(double rest) const;

private:
    struct Window {
        TensorCounts counts;
        double work;
    };
    static Window window(const TensorCounts& counted, const TensorCounts& others, double work, double other_work);
    Window start_;
    std::vector<Window> windows_;
};

}  // namespace gambrel::sim_detail
