// The Backend over NVIDIA's driver and NVRTC: one primary context, one stream, events for time.
#pragma once

#include <memory>

#include "measure/cuda/cuda_api.hpp"
#include "measure/cuda/nvml.hpp"
#include "measure/cuda/nvrtc.hpp"
#include "measure/gpu/backend.hpp"

namespace gambrel::measure_detail {

struct CudaParts {
    std::shared_ptr<const CudaApi> api;
    std::shared_ptr<const Nvrtc> compiler;
    std::unique_ptr<Nvml> nvml;  // may be null
    CuDevice device = 0;
    std::string architecture;  // "sm_90a"
    Target target;
    int units = 1;
    int driver = 0;  // CUDA version that the driver supports: 12040
    Seconds longest_launch = kLongestLaunch;
};
Result<std::shared_ptr<Backend>> make_cuda_backend(CudaParts parts);

CuPointer address_of(const Buffer& buffer);  // of a buffer of this backend

}  // namespace gambrel::measure_detail
