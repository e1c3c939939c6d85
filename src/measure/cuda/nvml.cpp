#include "measure/cuda/nvml.hpp"

#include <array>

#include <fmt/format.h>

namespace gambrel::measure_detail {

namespace {

constexpr int kGraphicsClock = 0, kSmClock = 1;              // nvmlClockType_t
constexpr unsigned long long kIdle = 0x1, kBySetting = 0x2;  // nvmlClocksEventReason*

struct Reason {
    unsigned long long bit;
    const char* text;
};
// nvmlClocksThrottleReason*, but for idleness and clocks set by the user: neither is a fault of the GPU.
constexpr std::array kReasons{Reason{0x4, "power cap"},          Reason{0x8, "hardware slowdown"},
                              Reason{0x10, "sync boost"},        Reason{0x20, "software thermal slowdown"},
                              Reason{0x40, "thermal slowdown"},  Reason{0x80, "power brake"},
                              Reason{0x100, "display clock set"}};

// The answer of one call; nothing if the library lacks it, the GPU does not support it or it is zero.
template <class Value, class... Parameters, class... Arguments>
std::optional<Value> asked(int (*function)(Parameters...), Arguments... arguments) {
    Value value{};
    if (function == nullptr || function(arguments..., &value) != 0 || value == Value{}) return std::nullopt;
    return value;
}

}  // namespace

std::string throttle_text(unsigned long long reasons) {
    std::string text;
    for (const Reason& reason : kReasons)
        if ((reasons & reason.bit) != 0) text += (text.empty() ? "" : ", ") + std::string(reason.text);
    return text;
}

Result<std::shared_ptr<const NvmlApi>> open_nvml() {
    const std::array<std::string, 2> names{"libnvidia-ml.so.1", "libnvidia-ml.so"};
    auto library = DynamicLibrary::open("GAMBREL_NVML", names);
    if (!library) return tl::unexpected(library.error());
    auto api = std::make_shared<NvmlApi>();
    api->library = std::move(*library);
    std::vector<std::string> missing, optional;
    const DynamicLibrary& from = api->library;
    from.need(api->start, "nvmlInit_v2", missing);
    from.need(api->stop, "nvmlShutdown", missing);
    from.need(api->count, "nvmlDeviceGetCount_v2", missing);
    from.need(api->by_index, "nvmlDeviceGetHandleByIndex_v2", missing);
    from.need(api->by_uuid, "nvmlDeviceGetHandleByUUID", missing);
    from.need(api->clock, "nvmlDeviceGetClockInfo", missing);
    from.need(api->max_clock, "nvmlDeviceGetMaxClockInfo", missing);
    from.need(api->application_clock, "nvmlDeviceGetApplicationsClock", optional);
    from.need(api->default_clock, "nvmlDeviceGetDefaultApplicationsClock", optional);
    from.need(api->persistence, "nvmlDeviceGetPersistenceMode", optional);
    from.need(api->reasons, "nvmlDeviceGetCurrentClocksThrottleReasons", optional);
    from.need(api->power, "nvmlDeviceGetPowerUsage", optional);
    from.need(api->power_limit, "nvmlDeviceGetEnforcedPowerLimit", optional);
    from.need(api->driver, "nvmlSystemGetDriverVersion", optional);
    if (auto all = check_missing(from, missing); !all) return tl::unexpected(all.error());
    if (const int code = api->start(); code != 0) return failure("nvml", fmt::format("nvmlInit_v2 failed: {}", code));
    api->started = true;
    return api;
}

Result<std::unique_ptr<Nvml>> Nvml::open(const std::string& uuid) {
    auto api = open_nvml();
    if (!api) return tl::unexpected(api.error());
    auto made = std::make_unique<Nvml>();
    if (const int code = (*api)->by_uuid(uuid.c_str(), &made->device_); code != 0)
        return failure("nvml", fmt::format("does not list GPU {}: {}", uuid, code));
    made->api_ = std::move(*api);
    return made;
}

Condition Nvml::condition() const {
    Condition now;
    if (const auto mhz = asked<unsigned>(api_->clock, device_, kSmClock)) now.clock = Frequency(*mhz * 1e6);
    std::string text = throttle_text(asked<unsigned long long>(api_->reasons, device_).value_or(0));
    if (text.empty()) return now;
    const auto milliwatts = asked<unsigned>(api_->power, device_), limit = asked<unsigned>(api_->power_limit, device_);
    if (milliwatts && limit) text += fmt::format(" ({:.0f} W of {:.0f} W)", *milliwatts * 1e-3, *limit * 1e-3);
    now.throttled = std::move(text);
    return now;
}

std::string Nvml::driver_version() const {
    std::array<char, 96> text{};
    if (api_->driver == nullptr || api_->driver(text.data(), static_cast<unsigned>(text.size())) != 0) return {};
    return text.data();
}

// NVML has no call that reads what `nvidia-smi -lgc` has locked, so that is not among them.
std::vector<GpuClocks> clocks_of_all(const NvmlApi& api) {
    std::vector<GpuClocks> all;
    const unsigned count = asked<unsigned>(api.count).value_or(0);
    for (unsigned i = 0; i < count; ++i) {
        NvmlDevice device = nullptr;
        if (api.by_index(i, &device) != 0) continue;
        GpuClocks c;
        c.now = asked<unsigned>(api.clock, device, kSmClock);
        c.most = asked<unsigned>(api.max_clock, device, kSmClock);
        c.application = asked<unsigned>(api.application_clock, device, kGraphicsClock);
        c.by_default = asked<unsigned>(api.default_clock, device, kGraphicsClock);
        int mode = 0;
        if (api.persistence != nullptr && api.persistence(device, &mode) == 0) c.persistent = mode != 0;
        const auto reasons = asked<unsigned long long>(api.reasons, device).value_or(0);
        c.idle = (reasons & kIdle) != 0;
        c.by_setting = (reasons & kBySetting) != 0;
        all.push_back(c);
    }
    return all;
}

}  // namespace gambrel::measure_detail
