// What holds a kernel up when no roof is near, and the verdict of a launch whose counters are missing but whose
// profiler stored its own percentages.
#pragma once

#include <gambrel/roofline.hpp>

namespace gambrel {

// Needs the judged roofs; fills in Roofline::bound and why, and nearest where only the profiler knows it.
void settle_bound(const Machine& machine, const Kernel& kernel, Roofline& verdict);

}  // namespace gambrel
