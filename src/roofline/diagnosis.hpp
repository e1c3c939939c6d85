// Why a point may stand above its roof. Impossible points are explained, never clamped.
#pragma once

#include <gambrel/roofline.hpp>

namespace gambrel {

void diagnose_above_roof(const Machine& machine, const Kernel& kernel, Roofline& verdict);

}  // namespace gambrel
