#include "measure/cuda/cuda_api.hpp"

#include <array>

#include <fmt/format.h>

namespace gambrel::measure_detail {

namespace {

// The exported names; some functions changed their types once and carry a version since.
void find_functions(CudaApi& api, std::vector<std::string>& missing) {
    const auto need = [&](auto& function, const char* name) { api.library.need(function, name, missing); };
    need(api.cuInit, "cuInit");
    need(api.cuDriverGetVersion, "cuDriverGetVersion");
    need(api.cuGetErrorName, "cuGetErrorName");
    need(api.cuGetErrorString, "cuGetErrorString");
    need(api.cuDeviceGetCount, "cuDeviceGetCount");
    need(api.cuDeviceGet, "cuDeviceGet");
    need(api.cuDeviceGetName, "cuDeviceGetName");
    need(api.cuDeviceGetUuid, "cuDeviceGetUuid");
    need(api.cuDeviceTotalMem, "cuDeviceTotalMem_v2");
    need(api.cuDeviceGetAttribute, "cuDeviceGetAttribute");
    need(api.cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain");
    need(api.cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2");
    need(api.cuCtxSetCurrent, "cuCtxSetCurrent");
    need(api.cuModuleLoadData, "cuModuleLoadData");
    need(api.cuModuleUnload, "cuModuleUnload");
    need(api.cuModuleGetFunction, "cuModuleGetFunction");
    need(api.cuFuncSetAttribute, "cuFuncSetAttribute");
    need(api.cuMemAlloc, "cuMemAlloc_v2");
    need(api.cuMemFree, "cuMemFree_v2");
    need(api.cuMemAllocHost, "cuMemAllocHost_v2");
    need(api.cuMemFreeHost, "cuMemFreeHost");
    need(api.cuMemcpyHtoD, "cuMemcpyHtoD_v2");
    need(api.cuMemcpyDtoH, "cuMemcpyDtoH_v2");
    need(api.cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2");
    need(api.cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2");
    need(api.cuStreamCreate, "cuStreamCreate");
    need(api.cuStreamDestroy, "cuStreamDestroy_v2");
    need(api.cuStreamQuery, "cuStreamQuery");
    need(api.cuEventCreate, "cuEventCreate");
    need(api.cuEventDestroy, "cuEventDestroy_v2");
    need(api.cuEventRecord, "cuEventRecord");
    need(api.cuEventQuery, "cuEventQuery");
    need(api.cuEventElapsedTime, "cuEventElapsedTime");
    need(api.cuLaunchKernel, "cuLaunchKernel");
}

}  // namespace

Result<std::shared_ptr<const CudaApi>> load_cuda() {
    const std::array<std::string, 2> names{"libcuda.so.1", "libcuda.so"};
    auto library = DynamicLibrary::open("GAMBREL_CUDA_DRIVER", names);
    if (!library) {
        Errors errors = library.error();
        errors.front().what += "; it comes with NVIDIA's driver";
        return tl::unexpected(std::move(errors));
    }
    auto api = std::make_shared<CudaApi>();
    api->library = std::move(*library);
    std::vector<std::string> missing;
    find_functions(*api, missing);
    if (auto all = check_missing(api->library, missing); !all) return tl::unexpected(all.error());
    return api;
}

Result<void> start_cuda(const CudaApi& api) {
    if (const CuResult code = api.cuInit(0); code != kCuSuccess) return cuda_failure(api, "cuInit", code);
    return {};
}

Result<std::shared_ptr<const CudaApi>> open_cuda() {
    auto api = load_cuda();
    if (!api) return api;
    if (const auto started = start_cuda(**api); !started) return tl::unexpected(started.error());
    return api;
}

bool loses_context(CuResult code) {
    // Illegal address, launch timeout, assert, hardware stack error to launch failure.
    return code == 700 || code == 702 || code == 710 || (code >= 714 && code <= 719);
}

std::string cuda_error(const CudaApi& api, CuResult code) {
    const char *name = nullptr, *text = nullptr;
    if (api.cuGetErrorName(code, &name) != kCuSuccess || name == nullptr) return fmt::format("CUDA error {}", code);
    if (api.cuGetErrorString(code, &text) != kCuSuccess || text == nullptr) text = "";
    return fmt::format("{} ({}): {}", name, code, text);
}

tl::unexpected<Errors> cuda_failure(const CudaApi& api, std::string_view call, CuResult code) {
    return failure("cuda", fmt::format("{} failed: {}", call, cuda_error(api, code)));
}

}  // namespace gambrel::measure_detail
