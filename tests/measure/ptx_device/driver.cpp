// A libcuda that runs PTX in the model. PTX_* variables describe the GPU and its faults; cuInit reads them.
// A launch runs to its end before cuLaunchKernel returns, and as on a GPU its fault is reported by the next call that
// waits and by every call after it. PTX_HANG names a kernel that never ends: events after it are never reached.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>

#include "gpu.hpp"

namespace {

constexpr int kOutOfMemory = 2, kInvalidPtx = 218, kNotFound = 500, kNotReady = 600, kIllegalInstruction = 715,
              kLaunchFailed = 719;

struct Event {
    double seconds = 0;
    bool reached = true;
};
struct Module {
    std::shared_ptr<ptx::Kernel> kernel;
};

double variable(const char* name, double otherwise) {
    const char* text = std::getenv(name);
    return text != nullptr ? std::atof(text) : otherwise;
}
bool names(const char* variable_name, const std::string& kernel) {
    const char* text = std::getenv(variable_name);
    return text != nullptr && kernel == text;
}

struct State {
    std::unique_ptr<ptx::Gpu> gpu;
    double seconds = 0;  // of the device, since the start
    int lost = 0;        // the code that every call returns after a fault
    bool hung = false;
    std::string error;
};
State& state() {
    static State one;
    return one;
}

ptx::Description described() {
    ptx::Description d;
    d.cc = static_cast<int>(variable("PTX_CC", d.cc));
    d.sms = static_cast<int>(variable("PTX_SMS", d.sms));
    d.clock = variable("PTX_CLOCK", d.clock);
    d.l1_bytes = static_cast<int>(variable("PTX_L1", d.l1_bytes));
    d.l2_bytes = static_cast<int>(variable("PTX_L2", d.l2_bytes));
    d.l1_bytes_per_cycle = variable("PTX_L1_RATE", d.l1_bytes_per_cycle);
    d.l2_bytes_per_cycle = variable("PTX_L2_RATE", d.l2_bytes_per_cycle);
    d.dram_bytes_per_cycle = variable("PTX_DRAM_RATE", d.dram_bytes_per_cycle);
    d.products_per_cycle = variable("PTX_PRODUCTS", d.products_per_cycle);
    d.memory_bytes = static_cast<std::size_t>(variable("PTX_MEMORY", static_cast<double>(d.memory_bytes)));
    d.cuts_fp8 = variable("PTX_CUTS_FP8", 0) != 0;
    d.crowded = variable("PTX_CROWDED", 0) != 0;
    return d;
}

constexpr double kLinkBytesPerSecond = 25e9;

int copied(void* to, const void* from, std::size_t bytes, bool timed) {
    if (state().lost != 0) return state().lost;
    std::memcpy(to, from, bytes);
    if (timed) state().seconds += static_cast<double>(bytes) / kLinkBytesPerSecond;
    return 0;
}

}  // namespace

ptx::Gpu* ptx::current_gpu() { return state().gpu.get(); }

extern "C" {

int cuInit(unsigned) {
    state() = {};
    state().gpu = std::make_unique<ptx::Gpu>(described());
    return 0;
}
int cuDriverGetVersion(int* version) { return *version = static_cast<int>(variable("PTX_DRIVER", 13000)), 0; }
int cuGetErrorName(int code, const char** name) {
    static const std::map<int, const char*> kNames{{kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                   {kInvalidPtx, "CUDA_ERROR_INVALID_PTX"},
                                                   {kNotReady, "CUDA_ERROR_NOT_READY"},
                                                   {kIllegalInstruction, "CUDA_ERROR_ILLEGAL_INSTRUCTION"},
                                                   {kLaunchFailed, "CUDA_ERROR_LAUNCH_FAILED"}};
    const auto it = kNames.find(code);
    *name = it == kNames.end() ? "CUDA_ERROR_UNKNOWN" : it->second;
    return 0;
}
int cuGetErrorString(int, const char** text) { return *text = state().error.c_str(), 0; }
int cuDeviceGetCount(int* count) { return *count = 1, 0; }
int cuDeviceGet(int* device, int) { return *device = 0, 0; }
int cuDeviceGetName(char* name, int size, int) {
    const char* text = std::getenv("PTX_NAME");
    std::snprintf(name, static_cast<std::size_t>(size), "%s", text != nullptr ? text : "PTX device");
    return 0;
}
struct Uuid {
    unsigned char bytes[16];
};
int cuDeviceGetUuid(Uuid* uuid, int) { return std::memset(uuid, 0x11, sizeof *uuid), 0; }
int cuDeviceTotalMem_v2(std::size_t* bytes, int) { return *bytes = state().gpu->is.memory_bytes, 0; }
int cuDeviceGetAttribute(int* value, int attribute, int) {
    const ptx::Description& is = state().gpu->is;
    const std::map<int, int> kValues{{8, 48 * 1024},       {13, static_cast<int>(is.clock / 1e3)},
                                     {16, is.sms},         {38, is.l2_bytes},
                                     {75, is.cc / 10},     {76, is.cc % 10},
                                     {81, is.shared_bytes}};
    const auto it = kValues.find(attribute);
    return *value = it == kValues.end() ? 0 : it->second, 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) { return *context = &state(), 0; }
int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
int cuCtxSetCurrent(void*) { return 0; }

int cuModuleLoadData(Module** module, const void* image) {
    if (state().lost != 0) return state().lost;
    try {
        *module = new Module{ptx::parse(static_cast<const char*>(image))};
    } catch (const std::exception& e) {
        return state().error = e.what(), kInvalidPtx;
    }
    return 0;
}
int cuModuleUnload(Module* module) { return delete module, 0; }
int cuModuleGetFunction(Module** function, Module* module, const char* name) {
    if (module->kernel->name != name) return kNotFound;
    return *function = module, 0;
}
int cuFuncSetAttribute(Module*, int, int) { return 0; }
int cuMemAlloc_v2(unsigned long long* address, std::size_t bytes) {
    if (state().lost != 0) return state().lost;
    *address = state().gpu->allocate(bytes);
    if (*address == 0) return state().error = "out of memory", kOutOfMemory;
    return 0;
}
int cuMemFree_v2(unsigned long long address) { return state().gpu->release(address), 0; }
int cuMemAllocHost_v2(void** memory, std::size_t bytes) { return *memory = std::malloc(bytes), 0; }
int cuMemFreeHost(void* memory) { return std::free(memory), 0; }
int cuMemcpyHtoD_v2(unsigned long long to, const void* from, std::size_t bytes) {
    if (bytes > 0) state().gpu->copied_in(to, bytes);
    return copied(reinterpret_cast<void*>(to), from, bytes, false);
}
int cuMemcpyDtoH_v2(void* to, unsigned long long from, std::size_t bytes) {
    return copied(to, reinterpret_cast<void*>(from), bytes, false);
}
int cuMemcpyHtoDAsync_v2(unsigned long long to, const void* from, std::size_t bytes, void*) {
    return copied(reinterpret_cast<void*>(to), from, bytes, true);
}
int cuMemcpyDtoHAsync_v2(void* to, unsigned long long from, std::size_t bytes, void*) {
    return copied(to, reinterpret_cast<void*>(from), bytes, true);
}
int cuMemsetD8_v2(unsigned long long to, unsigned char value, std::size_t bytes) {
    if (state().lost != 0) return state().lost;
    return std::memset(reinterpret_cast<void*>(to), value, bytes), 0;
}
int cuStreamCreate(void** stream, unsigned) { return *stream = &state(), 0; }
int cuStreamDestroy_v2(void*) { return 0; }
int cuStreamQuery(void*) { return state().lost != 0 ? state().lost : state().hung ? kNotReady : 0; }
int cuStreamSynchronize(void*) { return state().lost; }
int cuEventCreate(Event** event, unsigned) { return *event = new Event, 0; }
int cuEventDestroy_v2(Event* event) { return delete event, 0; }
int cuEventRecord(Event* event, void*) {
    *event = {state().seconds, !state().hung};
    return state().lost;
}
int cuEventQuery(Event* event) { return state().lost != 0 ? state().lost : event->reached ? 0 : kNotReady; }
int cuEventSynchronize(Event*) { return state().lost; }
int cuEventElapsedTime(float* milliseconds, Event* from, Event* to) {
    return *milliseconds = static_cast<float>((to->seconds - from->seconds) * 1e3), state().lost;
}
int cuLaunchKernel(Module* function, unsigned groups, unsigned, unsigned, unsigned threads, unsigned, unsigned,
                   unsigned, void*, void** arguments, void**) {
    if (state().lost != 0) return state().lost;
    const ptx::Kernel& kernel = *function->kernel;
    if (names("PTX_HANG", kernel.name)) return state().hung = true, 0;
    if (names("PTX_ABORT", kernel.name)) std::abort();  // a driver that takes the process with it
    if (names("PTX_FAULT", kernel.name)) {
        state().error = "an illegal instruction was encountered";
        return state().lost = kIllegalInstruction, 0;
    }
    try {
        state().seconds += state().gpu->launch(kernel, groups, threads, arguments);
    } catch (const std::exception& e) {
        state().error = e.what();
        state().lost = kLaunchFailed;
    }
    return 0;
}

}  // extern "C"
