// This machine's cores and memory as a device: SIMD loops on pinned threads.
#pragma once

#include "measure/device.hpp"

namespace gambrel::measure_detail {

Result<std::unique_ptr<Device>> open_host(std::string_view rest);
std::vector<DeviceFound> find_host();
// How wide the units are that execute vectors of `vector_bytes`. Zen 4 takes a 64-byte vector in two halves. Vendor and
// family as CPUID spells them, "" where unknown.
int vector_pipe_bytes(std::string_view vendor, std::string_view family, int vector_bytes);

}  // namespace gambrel::measure_detail
