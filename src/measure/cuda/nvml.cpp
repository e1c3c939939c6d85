#include "measure/cuda/nvml.hpp"

#include <array>

#include <fmt/format.h>

namespace gambrel::measure_detail {

namespace {

constexpr int kSmClock = 1;  // NVML_CLOCK_SM

struct Reason {
    unsigned long long bit;
    const char* text;
};
// nvmlClocksThrottleReason*. 0x1 is idleness, 0x2 clocks set by the user: neither is a fault of the GPU.
constexpr std::array kReasons{Reason{0x4, "power cap"},          Reason{0x8, "hardware slowdown"},
                              Reason{0x10, "sync boost"},        Reason{0x20, "software thermal slowdown"},
                              Reason{0x40, "thermal slowdown"},  Reason{0x80, "power brake"},
                              Reason{0x100, "display clock set"}};

}  // namespace

std::string throttle_text(unsigned long long reasons) {
    std::string text;
    for (const Reason& reason : kReasons)
        if ((reasons & reason.bit) != 0) text += (text.empty() ? "" : ", ") + std::string(reason.text);
    return text;
}

Result<std::unique_ptr<Nvml>> Nvml::open(const std::string& uuid) {
    const std::array<std::string, 2> names{"libnvidia-ml.so.1", "libnvidia-ml.so"};
    auto library = DynamicLibrary::open("GAMBREL_NVML", names);
    if (!library) return tl::unexpected(library.error());
    std::unique_ptr<Nvml> made(new Nvml);
    made->library_ = std::move(*library);
    std::vector<std::string> missing;
    const auto need = [&](auto& function, const char* name) { made->library_.need(function, name, missing); };
    need(made->start_, "nvmlInit_v2");
    need(made->stop_, "nvmlShutdown");
    need(made->by_uuid_, "nvmlDeviceGetHandleByUUID");
    need(made->clock_, "nvmlDeviceGetClockInfo");
    need(made->reasons_, "nvmlDeviceGetCurrentClocksThrottleReasons");
    need(made->power_, "nvmlDeviceGetPowerUsage");
    need(made->power_limit_, "nvmlDeviceGetEnforcedPowerLimit");
    need(made->driver_, "nvmlSystemGetDriverVersion");
    if (auto all = check_missing(made->library_, missing); !all) return tl::unexpected(all.error());
    if (const int code = made->start_(); code != 0) return failure("nvml", fmt::format("nvmlInit_v2 failed: {}", code));
    made->started_ = true;
    if (const int code = made->by_uuid_(uuid.c_str(), &made->device_); code != 0)
        return failure("nvml", fmt::format("knows no GPU {}: {}", uuid, code));
    return made;
}

Nvml::~Nvml() {
    if (started_) stop_();
}

Condition Nvml::condition() const {
    Condition now;
    unsigned mhz = 0;
    if (clock_(device_, kSmClock, &mhz) == 0 && mhz > 0) now.clock = Frequency(mhz * 1e6);
    unsigned long long reasons = 0;
    if (reasons_(device_, &reasons) != 0) return now;
    std::string text = throttle_text(reasons);
    if (text.empty()) return now;
    unsigned milliwatts = 0, limit = 0;
    if (power_(device_, &milliwatts) == 0 && power_limit_(device_, &limit) == 0)
        text += fmt::format(" ({:.0f} W of {:.0f} W)", milliwatts * 1e-3, limit * 1e-3);
    now.throttled = std::move(text);
    return now;
}

std::string Nvml::driver_version() const {
    std::array<char, 96> text{};
    return driver_(text.data(), static_cast<unsigned>(text.size())) == 0 ? std::string(text.data()) : std::string();
}

}  // namespace gambrel::measure_detail
