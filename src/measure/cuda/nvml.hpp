// NVIDIA's management library, if it is here: the GPU's clock and what holds it down. Everything in it is optional; a
// system without it measures just as well and reports less.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "measure/dynamic/library.hpp"
#include "measure/gpu/backend.hpp"

namespace gambrel::measure_detail {

struct NvmlDeviceObject;
using NvmlDevice = NvmlDeviceObject*;

// The functions that are used, with NVML started for as long as the object lives.
struct NvmlApi {
    DynamicLibrary library;
    int (*start)() = nullptr;
    int (*stop)() = nullptr;
    int (*count)(unsigned*) = nullptr;
    int (*by_index)(unsigned, NvmlDevice*) = nullptr;
    int (*by_uuid)(const char*, NvmlDevice*) = nullptr;
    int (*clock)(NvmlDevice, int, unsigned*) = nullptr;
    int (*max_clock)(NvmlDevice, int, unsigned*) = nullptr;
    // Null where the library does not have them; some GPUs do not support them.
    int (*application_clock)(NvmlDevice, int, unsigned*) = nullptr;
    int (*default_clock)(NvmlDevice, int, unsigned*) = nullptr;
    int (*persistence)(NvmlDevice, int*) = nullptr;
    int (*reasons)(NvmlDevice, unsigned long long*) = nullptr;
    int (*power)(NvmlDevice, unsigned*) = nullptr;
    int (*power_limit)(NvmlDevice, unsigned*) = nullptr;
    int (*driver)(char*, unsigned) = nullptr;

    NvmlApi() = default;
    NvmlApi(const NvmlApi&) = delete;
    NvmlApi& operator=(const NvmlApi&) = delete;
    ~NvmlApi() {
        if (started) stop();
    }
    bool started = false;
};
Result<std::shared_ptr<const NvmlApi>> open_nvml();

// One GPU.
class Nvml {
public:
    // `uuid` as nvidia-smi prints it: "GPU-xxxxxxxx-...".
    static Result<std::unique_ptr<Nvml>> open(const std::string& uuid);

    [[nodiscard]] Condition condition() const;
    [[nodiscard]] std::string driver_version() const;

private:
    std::shared_ptr<const NvmlApi> api_;
    NvmlDevice device_ = nullptr;
};

// The reasons that hold a clock down, as text; "" for none. Idleness and clocks that the user set do not count.
std::string throttle_text(unsigned long long reasons);

std::vector<GpuClocks> clocks_of_all(const NvmlApi& api);

}  // namespace gambrel::measure_detail
