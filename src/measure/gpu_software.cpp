#include <array>

#include <gambrel/measure.hpp>

#include "measure/cuda/cuda_api.hpp"
#include "measure/cuda/nvml.hpp"
#include "measure/cuda/nvrtc.hpp"

namespace gambrel {

using namespace measure_detail;

namespace {

std::string in_one_line(const Errors& faults) {
    std::string text;
    for (const Error& fault : faults) text += (text.empty() ? "" : "; ") + to_text(fault);
    return text;
}

}  // namespace

GpuSoftware find_gpu_software() {
    GpuSoftware found;
    if (const auto cuda = load_cuda()) {
        found.driver = true;
        (*cuda)->cuDriverGetVersion(&found.cuda_version);
        if (const auto started = start_cuda(**cuda); !started)
            found.driver_problem = in_one_line(started.error());
        else
            (*cuda)->cuDeviceGetCount(&found.cuda_devices);
    } else {
        found.driver_problem = in_one_line(cuda.error());
    }
    if (const auto nvrtc = Nvrtc::open()) found.nvrtc = (*nvrtc)->version();
    if (const auto nvml = open_nvml()) {
        found.nvml = true;
        found.clocks = clocks_of_all(**nvml);
    }
    const std::array<std::string, 2> names{"libOpenCL.so.1", "libOpenCL.so"};
    if (const auto opencl = DynamicLibrary::open("GAMBREL_OPENCL", names)) {
        found.opencl = true;
        unsigned platforms = 0;
        if (auto* const get = opencl->find<int(unsigned, void*, unsigned*)>("clGetPlatformIDs"))
            if (get(0, nullptr, &platforms) == 0) found.opencl_platforms = static_cast<int>(platforms);
    }
    return found;
}

}  // namespace gambrel
