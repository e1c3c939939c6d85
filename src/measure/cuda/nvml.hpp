// NVIDIA's management library, if there: what the GPU's clock is and what holds it down. Everything here is optional; a
// system without it measures just as well and says less.
#pragma once

#include <memory>
#include <string>

#include "measure/dynamic/library.hpp"
#include "measure/gpu/backend.hpp"

namespace gambrel::measure_detail {

class Nvml {
public:
    // `uuid` as nvidia-smi prints it: "GPU-xxxxxxxx-...".
    static Result<std::unique_ptr<Nvml>> open(const std::string& uuid);
    ~Nvml();
    Nvml(const Nvml&) = delete;
    Nvml& operator=(const Nvml&) = delete;

    [[nodiscard]] Condition condition() const;
    [[nodiscard]] std::string driver_version() const;

private:
    Nvml() = default;
    struct DeviceObject;
    using Handle = DeviceObject*;

    DynamicLibrary library_;
    Handle device_ = nullptr;
    bool started_ = false;
    int (*start_)() = nullptr;
    int (*stop_)() = nullptr;
    int (*by_uuid_)(const char*, Handle*) = nullptr;
    int (*clock_)(Handle, int, unsigned*) = nullptr;
    int (*reasons_)(Handle, unsigned long long*) = nullptr;
    int (*power_)(Handle, unsigned*) = nullptr;
    int (*power_limit_)(Handle, unsigned*) = nullptr;
    int (*driver_)(char*, unsigned) = nullptr;
};

// The reasons that hold a clock down, as text; "" for none. Idleness and clocks that the user asked for are none.
std::string throttle_text(unsigned long long reasons);

}  // namespace gambrel::measure_detail
