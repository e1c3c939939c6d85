// This machine's cores and memory as a device: SIMD loops on pinned threads.
#pragma once

#include "measure/device.hpp"

namespace gambrel::measure_detail {

Result<std::unique_ptr<Device>> open_host(std::string_view rest);
std::vector<DeviceFound> find_host();

}  // namespace gambrel::measure_detail
