// A driver, an NVRTC and an NVML in one shared object (with fake_cublaslt.cpp), for the tests. Device memory is host
// memory, and a launch runs what fake_kernels.cpp has for the kernel of that name. Every call goes to the file that
// FAKE_LOG names. FAKE_DEVICES, FAKE_CC, FAKE_ARCHS, FAKE_FAIL=function:code, FAKE_THROTTLE and FAKE_BROKEN steer it.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "measure/cuda/cuda_api.hpp"
#include "measure/fakes/fake.hpp"
#include "measure/fakes/fake_kernels.hpp"

namespace {

struct Program {
    std::string source, log;
};

using Pointer = unsigned long long;

}  // namespace

extern "C" {

// The driver.
int cuInit(unsigned) {
    CALLED(cuInit);
    return 0;
}
int cuDriverGetVersion(int* version) { return *version = 12090, 0; }
int cuGetErrorName(int code, const char** name) {
    return *name = code == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : code == 100 ? "CUDA_ERROR_NO_DEVICE" : "CUDA_ERROR_FAKE", 0;
}
int cuGetErrorString(int code, const char** text) { return *text = code == 2 ? "out of memory" : "said the fake", 0; }
int cuDeviceGetCount(int* count) {
    CALLED(cuDeviceGetCount);
    return *count = std::atoi(variable("FAKE_DEVICES", "1").c_str()), 0;
}
int cuDeviceGet(int* device, int number) {
    CALLED(cuDeviceGet);
    return *device = number, 0;
}
int cuDeviceGetName(char* name, int size, int) {
    return std::snprintf(name, static_cast<std::size_t>(size), "%s", variable("FAKE_NAME", "Fake GPU").c_str()), 0;
}
// The types of pointers are those of the declarations in src/measure/cuda: UBSan compares them.
int cuDeviceGetUuid(gambrel::measure_detail::CuUuid* uuid, int) {
    for (unsigned char i = 0; i < 16; ++i) uuid->bytes[i] = i;
    return 0;
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int) { return *bytes = std::size_t{16} << 30U, 0; }
int cuDeviceGetAttribute(int* value, int what, int) {
    CALLED(cuDeviceGetAttribute);
    const int cc = std::atoi(variable("FAKE_CC", "80").c_str());
    const std::map<int, int> known{{8, 49152},    {13, 1410000}, {16, 2},     {38, 1 << 20},
                                   {75, cc / 10}, {76, cc % 10}, {81, 167936}};
    const auto at = known.find(what);
    return *value = at == known.end() ? 0 : at->second, 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
    CALLED(cuDevicePrimaryCtxRetain);
    return *context = context, 0;
}
int cuDevicePrimaryCtxRelease_v2(int) {
    CALLED(cuDevicePrimaryCtxRelease_v2);
    return 0;
}
int cuCtxSetCurrent(void*) {
    CALLED(cuCtxSetCurrent);
    return 0;
}
int cuModuleLoadData(Function** module, const void* image) {
    CALLED(cuModuleLoadData);
    *module = new Function{static_cast<const char*>(image), ""};
    return 0;
}
int cuModuleUnload(Function* module) {
    CALLED(cuModuleUnload);
    delete module;
    return 0;
}
int cuModuleGetFunction(Function** function, Function* module, const char* name) {
    CALLED(cuModuleGetFunction);
    if (module->text.find(std::string(name) + "(") == std::string::npos) return 500;
    module->name = name;
    return *function = module, 0;
}
int cuFuncSetAttribute(Function*, int, int) {
    CALLED(cuFuncSetAttribute);
    return 0;
}
int cuMemAlloc_v2(Pointer* at, std::size_t bytes) {
    CALLED(cuMemAlloc_v2);
    return *at = reinterpret_cast<Pointer>(std::calloc(1, bytes)), 0;
}
int cuMemFree_v2(Pointer at) {
    CALLED(cuMemFree_v2);
    std::free(reinterpret_cast<void*>(at));
    return 0;
}
int cuMemAllocHost_v2(void** at, std::size_t bytes) {
    CALLED(cuMemAllocHost_v2);
    return *at = std::malloc(bytes), 0;
}
int cuMemFreeHost(void* at) {
    CALLED(cuMemFreeHost);
    std::free(at);
    return 0;
}
int cuMemcpyHtoD_v2(Pointer to, const void* from, std::size_t bytes) {
    CALLED(cuMemcpyHtoD_v2);
    called(("wrote " + std::to_string(bytes) + " B").c_str());
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    return 0;
}
int cuMemcpyDtoH_v2(void* to, Pointer from, std::size_t bytes) {
    CALLED(cuMemcpyDtoH_v2);
    called(("read " + std::to_string(bytes) + " B").c_str());
    std::memcpy(to, reinterpret_cast<void*>(from), bytes);
    return 0;
}
int cuMemcpyHtoDAsync_v2(Pointer to, const void* from, std::size_t bytes, void*) {
    CALLED(cuMemcpyHtoDAsync_v2);
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    return 0;
}
int cuMemcpyDtoHAsync_v2(void* to, Pointer from, std::size_t bytes, void*) {
    CALLED(cuMemcpyDtoHAsync_v2);
    std::memcpy(to, reinterpret_cast<void*>(from), bytes);
    return 0;
}
int cuStreamCreate(void** stream, unsigned) {
    CALLED(cuStreamCreate);
    return *stream = stream, 0;
}
int cuStreamDestroy_v2(void*) {
    CALLED(cuStreamDestroy_v2);
    return 0;
}
int cuStreamQuery(void*) {
    CALLED(cuStreamQuery);
    return 0;
}
int cuEventCreate(void** event, unsigned) {
    CALLED(cuEventCreate);
    return *event = event, 0;
}
int cuEventDestroy_v2(void*) {
    CALLED(cuEventDestroy_v2);
    return 0;
}
int cuEventRecord(void*, void*) {
    CALLED(cuEventRecord);
    return 0;
}
int cuEventQuery(void*) {
    CALLED(cuEventQuery);
    return 0;
}
int cuEventElapsedTime(float* milliseconds, void*, void*) {
    CALLED(cuEventElapsedTime);
    return *milliseconds = event_milliseconds, 0;
}
int cuLaunchKernel(Function* f, unsigned gx, unsigned, unsigned, unsigned bx, unsigned, unsigned, unsigned, void*,
                   void** with, void**) {
    CALLED(cuLaunchKernel);
    run(*f, gx, bx, with);
    return 0;
}

// NVRTC.
int nvrtcVersion(int* major, int* minor) { return *major = 12, *minor = 9, 0; }
const char* nvrtcGetErrorString(int code) { return code == 6 ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR_FAKE"; }
int nvrtcGetNumSupportedArchs(int* count) {
    *count = 1;
    for (const char c : variable("FAKE_ARCHS", "75,80,86,89,90")) *count += c == ',' ? 1 : 0;
    return 0;
}
int nvrtcGetSupportedArchs(int* archs) {
    const std::string list = variable("FAKE_ARCHS", "75,80,86,89,90");
    for (std::size_t at = 0; at < list.size();
         at = list.find(',', at) == std::string::npos ? list.size() : list.find(',', at) + 1)
        *archs++ = std::atoi(list.c_str() + at);
    return 0;
}
int nvrtcCreateProgram(Program** program, const char* text, const char*, int, const char* const*, const char* const*) {
    CALLED(nvrtcCreateProgram);
    return *program = new Program{text, ""}, 0;
}
int nvrtcDestroyProgram(Program** program) {
    CALLED(nvrtcDestroyProgram);
    delete *program;
    return 0;
}
int nvrtcCompileProgram(Program* program, int count, const char* const* options) {
    for (int i = 0; i < count; ++i) called((std::string("option ") + options[i]).c_str());
    if (const int code = called("nvrtcCompileProgram"); code != 0)
        return program->log = "arithmetic.cu(7): error: identifier \"x\" is undefined\n", code;
    return 0;
}
int nvrtcGetProgramLogSize(Program* program, std::size_t* size) { return *size = program->log.size() + 1, 0; }
int nvrtcGetProgramLog(Program* program, char* log) {
    return std::memcpy(log, program->log.c_str(), program->log.size() + 1), 0;
}
int nvrtcGetPTXSize(Program* program, std::size_t* size) { return *size = program->source.size() + 1, 0; }
int nvrtcGetPTX(Program* program, char* text) {
    called("nvrtcGetPTX");
    return std::memcpy(text, program->source.c_str(), program->source.size() + 1), 0;
}
int nvrtcGetCUBINSize(Program* program, std::size_t* size) { return *size = program->source.size() + 1, 0; }
int nvrtcGetCUBIN(Program* program, char* text) {
    called("nvrtcGetCUBIN");
    return std::memcpy(text, program->source.c_str(), program->source.size() + 1), 0;
}

// NVML.
int nvmlInit_v2() {
    CALLED(nvmlInit_v2);
    return 0;
}
int nvmlShutdown() {
    CALLED(nvmlShutdown);
    return 0;
}
int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
    called((std::string("uuid ") + uuid).c_str());
    return *device = device, 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) { return *count = 1, 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned, void** device) { return *device = device, 0; }
int nvmlDeviceGetClockInfo(void*, int, unsigned* mhz) {
    CALLED(nvmlDeviceGetClockInfo);
    return *mhz = static_cast<unsigned>(std::atoi(variable("FAKE_CLOCK", "1350").c_str())), 0;
}
int nvmlDeviceGetMaxClockInfo(void*, int, unsigned* mhz) { return *mhz = 1410, 0; }
int nvmlDeviceGetApplicationsClock(void*, int, unsigned* mhz) {
    CALLED(nvmlDeviceGetApplicationsClock);
    return *mhz = 1410, 0;
}
int nvmlDeviceGetDefaultApplicationsClock(void*, int, unsigned* mhz) { return *mhz = 1095, 0; }
int nvmlDeviceGetPersistenceMode(void*, int* mode) {
    return *mode = std::atoi(variable("FAKE_PERSISTENCE", "0").c_str()), 0;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
    return *reasons = std::strtoull(variable("FAKE_THROTTLE", "0").c_str(), nullptr, 0), 0;
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) { return *milliwatts = 298'600, 0; }
int nvmlDeviceGetEnforcedPowerLimit(void*, unsigned* milliwatts) { return *milliwatts = 300'000, 0; }
int nvmlSystemGetDriverVersion(char* text, unsigned size) { return std::snprintf(text, size, "575.57.08"), 0; }

}  // extern "C"
