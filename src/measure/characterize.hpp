// The whole run on an open device: plan, sweeps, ceilings, proofs. `measure` is this on a device opened by its name.
#pragma once

#include "measure/device.hpp"

namespace gambrel::measure_detail {

Measurement characterize(Device& device, const MeasureOptions& options);

}  // namespace gambrel::measure_detail
