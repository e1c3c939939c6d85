// The device kind "cuda": an NVIDIA GPU through the driver and NVRTC, both opened at run time.
#pragma once

#include "measure/device.hpp"

namespace gambrel::measure_detail {

// Kernels that could take the GPU's context along run in a process of their own; see isolated_device.hpp.
Result<std::unique_ptr<Device>> open_cuda_device(std::string_view rest);
// All kernels run in this process.
Result<std::unique_ptr<Device>> open_cuda_in_process(std::string_view rest);
std::vector<DeviceFound> find_cuda_devices();

}  // namespace gambrel::measure_detail
