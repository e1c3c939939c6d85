// Why a point may stand above its roof. Impossible points are explained, never clamped.
#pragma once

#include <gambrel/roofline.hpp>

namespace gambrel {

// Counters of separate replay passes and rounded clocks disagree by a little; only more than this is a finding.
inline constexpr double kRoofTolerance = 1.02;

void diagnose_above_roof(const Machine& machine, const Kernel& kernel, Roofline& verdict);

}  // namespace gambrel
