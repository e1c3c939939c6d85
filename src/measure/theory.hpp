// What the device's data sheet or instruction set promises, set beside a measured ceiling. Pure.
#pragma once

#include "measure/device.hpp"

namespace gambrel::measure_detail {

// Fills `theoretical` and its citation where something is known of the probe.
void compare_with_theory(MeasuredCeiling& ceiling, const Probe& probe, const DeviceInfo& device);

}  // namespace gambrel::measure_detail
