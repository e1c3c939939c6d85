// What is measured on a device: arithmetic, sweeps over working sets, and memory at each level. Pure: made from what is
// known of the device before anything runs. The device decides which of these probes it supports.
#pragma once

#include <limits>
#include <vector>

#include "measure/device.hpp"

namespace gambrel::measure_detail {

struct CeilingStep {
    Probe probe;
    Bytes working_set{};  // 0 for arithmetic
};
struct SweepStep {
    Probe probe;
    std::string title;
    std::vector<Bytes> working_sets;
    std::vector<LevelWindow> windows;
    Bytes least_set{};  // below it units ask for the same lines at a time, and a cache can serve several at once
};
struct Plan {
    std::vector<CeilingStep> first;  // launch overhead, arithmetic
    std::vector<SweepStep> sweeps;   // each level they find gets a load ceiling
    std::vector<CeilingStep> last;   // other actions at each level, latency, host link
};
Plan plan_for(const DeviceInfo& info, bool quick);

// The working sets that each level serves when units share them so. A level that an inner one hides (the L2 of a V100
// holds less for each SM than its L1) has no window.
std::vector<LevelWindow> level_windows(const DeviceInfo& info, WorkingSetSharing sharing, int units);

// Where in a window to measure: well inside, `part` of the way from its inner end to its outer one on a logarithmic
// scale; in DRAM, several times the last cache and not more of it than `most`. 0 if the window is too narrow for any.
Bytes inside(const LevelWindow& window, double part = 0.5, double most = std::numeric_limits<double>::infinity());
// The sentence that says why a working set is not one of the level, or "" if it is.
std::string misfit(Bytes working_set, const LevelWindow& window);

}  // namespace gambrel::measure_detail
