// A driver, an NVRTC and an NVML in one shared object (with fake_cublaslt.cpp), for the tests. Device memory is host
// memory; "machine code" is the source text itself, and a launch does in plain C++ what the kernel of that name would
// do. Every call goes to the file that FAKE_LOG names. FAKE_DEVICES, FAKE_CC, FAKE_ARCHS, FAKE_FAIL=function:code,
// FAKE_THROTTLE and FAKE_BROKEN steer it.
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

namespace {

struct Program {
    std::string source, log;
};
struct Function {
    std::string text, name;
    long long define(const std::string& key, long long otherwise) const {
        const auto at = text.find("#define " + key + " ");
        return at == std::string::npos ? otherwise : std::atoll(text.c_str() + at + key.size() + 9);
    }
    bool defined(const std::string& key) const { return text.find("#define " + key + "\n") != std::string::npos; }
};

template <class T>
T argument(void** arguments, int index) {
    T value;
    std::memcpy(&value, arguments[index], sizeof value);
    return value;
}
template <class T>
T* pointer(void** arguments, int index) {
    return reinterpret_cast<T*>(argument<unsigned long long>(arguments, index));
}

// What TIMED_REPORT leaves: a million cycles, no timer, and the group's number for its SM.
void report_times(void** with, int index, unsigned groups) {
    for (unsigned g = 0; g < groups; ++g) {
        auto* const words = pointer<unsigned long long>(with, index) + 3 * g;
        words[0] = 1'000'000, words[1] = 0, words[2] = g;
    }
}

template <class T>
void run_arithmetic(const Function& f, unsigned groups, unsigned threads, void** with) {
    T* out = pointer<T>(with, 0);
    const T a = argument<T>(with, 2), b = argument<T>(with, 3), lane = argument<T>(with, 4),
            chain = argument<T>(with, 5);
    const auto steps = argument<unsigned>(with, 6) * f.define("UNROLL", 1);
    const long long chains = f.define("CHAINS", 1);
    const bool fma = f.defined("STEP_FMA"), add = f.defined("STEP_ADD");
    std::vector<T> sums(4);  // threads differ by their number modulo 4
    for (unsigned lane_number = 0; lane_number < 4; ++lane_number) {
        T& sum = sums[lane_number];
        for (long long c = 0; c < chains; ++c) {
            T x = T(1) + T(lane_number) * lane + T(c) * chain;
            for (long long s = 0; s < steps; ++s) {
                if (fma)
                    x = std::fma(x, a, b);
                else if (add)
                    x = x + b;
                else
                    x = x * ((s & 1) != 0 ? b : a);
            }
            sum = c == 0 ? x : sum + x;
        }
    }
    for (unsigned t = 0; t < groups * threads; ++t) out[t] = sums[t & 3U];
    report_times(with, 1, groups);
}

struct Steps {
    unsigned group_step, step, steps, skew, rounds;
    Steps(void** with, int first)
        : group_step(argument<unsigned>(with, first)),
          step(argument<unsigned>(with, first + 1)),
          steps(argument<unsigned>(with, first + 2)),
          skew(argument<unsigned>(with, first + 3)),
          rounds(argument<unsigned>(with, first + 4)) {}
};
// Calls visit(word index of a VEC) in the order of the kernel; returns the sum of what it returns by thread.
template <class Visit>
void walk(const Function& f, unsigned groups, unsigned threads, const Steps& s, std::uint32_t* out, Visit visit) {
    const auto unroll = static_cast<unsigned>(f.define("UNROLL", 1));
    for (unsigned g = 0; g < groups; ++g)
        for (unsigned t = 0; t < threads; ++t) {
            const unsigned first = g * s.group_step + t, last = first + (s.steps - 1) * s.step;
            unsigned at = first + g * s.skew % s.steps * s.step;
            std::uint32_t sum = 0;
            for (unsigned left = s.rounds * s.steps; left != 0; --left) {
                for (unsigned u = 0; u < unroll; ++u) sum += visit((at + u * threads) * 4U);
                at = at == last ? first : at + s.step;
            }
            if (out != nullptr) out[g * threads + t] = sum;
        }
}

void run_memory(const Function& f, unsigned groups, unsigned threads, void** with) {
    auto* data = pointer<std::uint32_t>(with, 0);
    if (f.name == "fill") {
        const auto count = argument<unsigned>(with, 1) * 4U, factor = argument<unsigned>(with, 2),
                   bias = argument<unsigned>(with, 3);
        for (unsigned i = 0; i < count; ++i) data[i] = i * factor + bias;
    } else if (f.name == "load") {
        walk(f, groups, threads, Steps(with, 3), pointer<std::uint32_t>(with, 1),
             [&](unsigned w) { return data[w] + data[w + 1] + data[w + 2] + data[w + 3]; });
    } else if (f.name == "store") {
        const auto factor = argument<unsigned>(with, 7), bias = argument<unsigned>(with, 8);
        walk(f, groups, threads, Steps(with, 2), nullptr, [&](unsigned w) {
            for (unsigned i = w; i < w + 4; ++i) data[i] = i * factor + bias;
            return 0U;
        });
    } else if (f.name == "copy") {
        const auto* from = pointer<std::uint32_t>(with, 1);
        walk(f, groups, threads, Steps(with, 3), nullptr, [&](unsigned w) {
            std::memcpy(data + w, from + w, 16);
            return 0U;
        });
    }
}

// The last product of these kernels adds 3 in each of k steps to even rows, 2 to odd ones, of accumulators that begin
// at 1, 2, 4, 8.
void run_tensor(const Function& f, unsigned groups, unsigned threads, void** with) {
    int m = 0, n = 0, k = 0;
    for (auto at = f.text.find("#define MMA_"); at != std::string::npos && k == 0; at = std::string::npos) {
        const auto shape = f.text.find("_M", at);
        std::sscanf(f.text.c_str() + shape, "_M%dN%dK%d", &m, &n, &k);
    }
    for (unsigned t = 0; t < groups * threads; ++t) {
        double sum = 0;
        for (int c = 0; c < f.define("CHAINS", 1); ++c)
            sum += m * n / 32 * ((1 << (c & 3)) + (t % 32 / 4 % 2 == 0 ? 3.0 : 2.0) * k);
        pointer<double>(with, 0)[t] = sum;
    }
    report_times(with, 1, groups);
}

// The words of varied() in tensor_operands.cu.
void fill_matrix(const Function& f, void** with) {
    const std::map<std::string, std::pair<unsigned, unsigned>> kinds{{"OPERAND_FP16", {0x3c003c00U, 0x01000100U}},
                                                                     {"OPERAND_BF16", {0x3f803f80U, 0x00200020U}},
                                                                     {"OPERAND_TF32", {0x3f800000U, 0x00200000U}},
                                                                     {"OPERAND_INT8", {0x01010101U, 0x04040404U}},
                                                                     {"OPERAND_FP8", {0x38383838U, 0x02020202U}}};
    for (const auto& [name, words] : kinds) {
        if (!f.defined(name)) continue;
        for (unsigned i = 0; i < argument<unsigned>(with, 1); ++i) {
            const unsigned pick = (i + 1) * 0x9e3779b9U + (argument<unsigned>(with, 2) + 1) * 0x85ebca6bU;
            pointer<unsigned>(with, 0)[i] = words.first | (words.second & (pick ^ (pick >> 13U)));
        }
    }
}

void run(const Function& f, unsigned groups, unsigned threads, void** with) {
    if (f.name == variable("FAKE_BROKEN", "")) return;  // a kernel that does nothing
    if (f.name == "arithmetic") {
        if (f.defined("TYPE_FP64")) run_arithmetic<double>(f, groups, threads, with);
        if (f.defined("TYPE_FP32")) run_arithmetic<float>(f, groups, threads, with);
    } else if (f.name == "tensor_mma") {
        run_tensor(f, groups, threads, with);
    } else if (f.name == "chase" || f.name == "shared_chase") {
        const auto* ring = pointer<std::uint32_t>(with, 0);
        std::uint32_t at = argument<unsigned>(with, 3);
        const long long trips = argument<unsigned>(with, 4) + argument<unsigned>(with, 5);
        for (long long i = trips * f.define("UNROLL", 1); i > 0; --i) {
            std::uint64_t next = 0;  // an address; a place in shared memory
            std::memcpy(&next, ring + at, sizeof next);
            at = f.name == "chase" ? static_cast<std::uint32_t>((next - argument<std::uint64_t>(with, 0)) / 4)
                                   : static_cast<std::uint32_t>(next);
        }
        *pointer<std::uint32_t>(with, 1) = at;
    } else if (f.name == "nothing") {
        if (const auto mark = argument<unsigned>(with, 1); mark != 0) *pointer<std::uint32_t>(with, 0) = mark;
    } else if (f.name == "matrix_fill") {
        fill_matrix(f, with);
    } else {
        run_memory(f, groups, threads, with);
    }
}

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
