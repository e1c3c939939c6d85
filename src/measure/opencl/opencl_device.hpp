// The device kind "opencl": any device of any ICD, numbered through all platforms.
#pragma once

#include "measure/device.hpp"

namespace gambrel::measure_detail {

Result<std::unique_ptr<Device>> open_opencl_device(std::string_view rest);
std::vector<DeviceFound> find_opencl_devices();

}  // namespace gambrel::measure_detail
