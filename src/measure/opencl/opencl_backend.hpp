// The Backend over OpenCL 1.2: one context and one profiling queue on one device of any ICD.
#pragma once

#include <memory>

#include "measure/gpu/backend.hpp"
#include "measure/opencl/opencl_api.hpp"

namespace gambrel::measure_detail {

Result<std::shared_ptr<Backend>> make_opencl_backend(std::shared_ptr<const OpenclApi> api, cl_device_id device,
                                                     const Target& target);

}  // namespace gambrel::measure_detail
