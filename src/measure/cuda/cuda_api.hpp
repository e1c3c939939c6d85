// NVIDIA's driver, as much of it as is used: prototypes declared here, functions found in libcuda at run time. No CUDA
// header or library is needed to build. Names and values are those of cuda.h, where they are documented.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "measure/dynamic/library.hpp"

namespace gambrel::measure_detail {

using CuResult = int;
using CuDevice = int;
using CuPointer = unsigned long long;
struct CuContextObject;
struct CuModuleObject;
struct CuFunctionObject;
struct CuStreamObject;
struct CuEventObject;
using CuContext = CuContextObject*;
using CuModule = CuModuleObject*;
using CuFunction = CuFunctionObject*;
using CuStream = CuStreamObject*;
using CuEvent = CuEventObject*;
struct CuUuid {
    unsigned char bytes[16];
};

inline constexpr CuResult kCuSuccess = 0, kCuNotReady = 600;
// After one of these every call of the process on this context fails.
bool loses_context(CuResult code);
// CUdevice_attribute
inline constexpr int kCuMaxSharedPerBlock = 8, kCuClockKhz = 13, kCuSms = 16, kCuMemoryClockKhz = 36, kCuBusBits = 37,
                     kCuL2Bytes = 38, kCuMajor = 75, kCuMinor = 76, kCuSharedPerSm = 81;
// CUfunction_attribute: how much of the unified L1 a kernel leaves to shared memory, in percent
inline constexpr int kCuSharedCarveout = 9;

struct CudaApi {
    DynamicLibrary library;
    CuResult (*cuInit)(unsigned) = nullptr;
    CuResult (*cuDriverGetVersion)(int*) = nullptr;
    CuResult (*cuGetErrorName)(CuResult, const char**) = nullptr;
    CuResult (*cuGetErrorString)(CuResult, const char**) = nullptr;
    CuResult (*cuDeviceGetCount)(int*) = nullptr;
    CuResult (*cuDeviceGet)(CuDevice*, int) = nullptr;
    CuResult (*cuDeviceGetName)(char*, int, CuDevice) = nullptr;
    CuResult (*cuDeviceGetUuid)(CuUuid*, CuDevice) = nullptr;
    CuResult (*cuDeviceTotalMem)(std::size_t*, CuDevice) = nullptr;
    CuResult (*cuDeviceGetAttribute)(int*, int, CuDevice) = nullptr;
    CuResult (*cuDevicePrimaryCtxRetain)(CuContext*, CuDevice) = nullptr;
    CuResult (*cuDevicePrimaryCtxRelease)(CuDevice) = nullptr;
    CuResult (*cuCtxSetCurrent)(CuContext) = nullptr;
    CuResult (*cuModuleLoadData)(CuModule*, const void*) = nullptr;
    CuResult (*cuModuleUnload)(CuModule) = nullptr;
    CuResult (*cuModuleGetFunction)(CuFunction*, CuModule, const char*) = nullptr;
    CuResult (*cuFuncSetAttribute)(CuFunction, int, int) = nullptr;
    CuResult (*cuMemAlloc)(CuPointer*, std::size_t) = nullptr;
    CuResult (*cuMemFree)(CuPointer) = nullptr;
    CuResult (*cuMemAllocHost)(void**, std::size_t) = nullptr;
    CuResult (*cuMemFreeHost)(void*) = nullptr;
    CuResult (*cuMemcpyHtoD)(CuPointer, const void*, std::size_t) = nullptr;
    CuResult (*cuMemcpyDtoH)(void*, CuPointer, std::size_t) = nullptr;
    CuResult (*cuMemcpyHtoDAsync)(CuPointer, const void*, std::size_t, CuStream) = nullptr;
    CuResult (*cuMemcpyDtoHAsync)(void*, CuPointer, std::size_t, CuStream) = nullptr;
    CuResult (*cuStreamCreate)(CuStream*, unsigned) = nullptr;
    CuResult (*cuStreamDestroy)(CuStream) = nullptr;
    CuResult (*cuStreamQuery)(CuStream) = nullptr;
    CuResult (*cuEventCreate)(CuEvent*, unsigned) = nullptr;
    CuResult (*cuEventDestroy)(CuEvent) = nullptr;
    CuResult (*cuEventRecord)(CuEvent, CuStream) = nullptr;
    CuResult (*cuEventQuery)(CuEvent) = nullptr;
    CuResult (*cuEventElapsedTime)(float*, CuEvent, CuEvent) = nullptr;
    CuResult (*cuLaunchKernel)(CuFunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                               CuStream, void**, void**) = nullptr;
};

// libcuda with its functions found, not yet initialized. A missing library and one too old are errors that say so.
Result<std::shared_ptr<const CudaApi>> load_cuda();
Result<void> start_cuda(const CudaApi& api);         // cuInit; fails where there is no GPU
Result<std::shared_ptr<const CudaApi>> open_cuda();  // both

std::string cuda_error(const CudaApi& api, CuResult code);  // "CUDA_ERROR_OUT_OF_MEMORY (2): out of memory"
tl::unexpected<Errors> cuda_failure(const CudaApi& api, std::string_view call, CuResult code);

}  // namespace gambrel::measure_detail
