// Whether the GPUs' clocks are held, as far as NVML tells: it has no call that reads what `nvidia-smi -lgc` has locked.
#include "measure/gpu_clocks.hpp"

#include <array>

#include <fmt/format.h>

#include "measure/dynamic/library.hpp"

namespace gambrel::measure_detail {
namespace {

constexpr int kGraphics = 0, kSm = 1;           // nvmlClockType_t
constexpr unsigned long long kIdle = 0x1;       // nvmlClocksEventReasonGpuIdle
constexpr unsigned long long kBySetting = 0x2;  // nvmlClocksEventReasonApplicationsClocksSetting

struct NvmlDevice;
using Handle = NvmlDevice*;

struct Api {
    DynamicLibrary library;
    int (*start)() = nullptr;
    int (*stop)() = nullptr;
    int (*count)(unsigned*) = nullptr;
    int (*by_index)(unsigned, Handle*) = nullptr;
    int (*clock)(Handle, int, unsigned*) = nullptr;
    int (*max_clock)(Handle, int, unsigned*) = nullptr;
    // These are missing in some versions, or not supported by some GPUs.
    int (*application_clock)(Handle, int, unsigned*) = nullptr;
    int (*default_clock)(Handle, int, unsigned*) = nullptr;
    int (*persistence)(Handle, int*) = nullptr;
    int (*reasons)(Handle, unsigned long long*) = nullptr;
};

bool open(Api& api) {
    const std::array<std::string, 2> names{"libnvidia-ml.so.1", "libnvidia-ml.so"};
    auto library = DynamicLibrary::open("GAMBREL_NVML", names);
    if (!library) return false;
    api.library = std::move(*library);
    std::vector<std::string> missing, optional;
    api.library.need(api.start, "nvmlInit_v2", missing);
    api.library.need(api.stop, "nvmlShutdown", missing);
    api.library.need(api.count, "nvmlDeviceGetCount_v2", missing);
    api.library.need(api.by_index, "nvmlDeviceGetHandleByIndex_v2", missing);
    api.library.need(api.clock, "nvmlDeviceGetClockInfo", missing);
    api.library.need(api.max_clock, "nvmlDeviceGetMaxClockInfo", missing);
    api.library.need(api.application_clock, "nvmlDeviceGetApplicationsClock", optional);
    api.library.need(api.default_clock, "nvmlDeviceGetDefaultApplicationsClock", optional);
    api.library.need(api.persistence, "nvmlDeviceGetPersistenceMode", optional);
    api.library.need(api.reasons, "nvmlDeviceGetCurrentClocksThrottleReasons", optional);
    return missing.empty() && api.start() == 0;
}

template <class F, class... A>
std::optional<unsigned> asked(F function, A... arguments) {
    unsigned value = 0;
    if (function == nullptr || function(arguments..., &value) != 0 || value == 0) return std::nullopt;
    return value;
}

GpuClocks read(const Api& api, Handle device) {
    GpuClocks c;
    c.now = asked(api.clock, device, kSm);
    c.most = asked(api.max_clock, device, kSm);
    c.application = asked(api.application_clock, device, kGraphics);
    c.by_default = asked(api.default_clock, device, kGraphics);
    int mode = 0;
    if (api.persistence != nullptr && api.persistence(device, &mode) == 0) c.persistent = mode != 0;
    unsigned long long reasons = 0;
    if (api.reasons != nullptr && api.reasons(device, &reasons) == 0) {
        c.idle = (reasons & kIdle) != 0;
        c.by_setting = (reasons & kBySetting) != 0;
    }
    return c;
}

std::string found_text(const GpuClocks& c) {
    const auto mhz = [](const std::optional<unsigned>& v) { return v ? fmt::format("{} MHz", *v) : "unknown"; };
    std::string text = fmt::format("SM clock {} now{}, {} at most", mhz(c.now), c.idle ? " (idle)" : "", mhz(c.most));
    if (c.application) text += fmt::format(", application clock {}", mhz(c.application));
    if (c.persistent) text += fmt::format(", persistence mode {}", *c.persistent ? "on" : "off");
    return text;
}

}  // namespace

Finding clocks_finding(unsigned gpu, const GpuClocks& c) {
    Finding f{Health::poor, fmt::format("clocks of GPU {}", gpu), found_text(c), "", ""};
    // An idle GPU falls to a few hundred MHz unless its clock is locked from below.
    const bool held = c.idle && c.now && c.most && 2 * *c.now > *c.most;
    if (held && c.persistent.value_or(true)) {
        f.health = Health::good;
        f.follows = "the clock stays up without work, so it seems locked: ceilings repeat, at this clock";
        return f;
    }
    const unsigned lock = c.by_default.value_or(0) > 0 ? *c.by_default : c.application.value_or(0);
    const std::string clock = lock > 0 ? std::to_string(lock) : "MHZ";
    if (c.by_setting || (c.application && c.most && *c.application < *c.most))
        f.follows = fmt::format(
            "an application clock below the most holds it down: ceilings are those of {}, not of the GPU's boost",
            c.application ? fmt::format("{} MHz", *c.application) : "that clock");
    else
        f.follows =
            "nothing shows that the clock is locked (NVML cannot read -lgc): it moves with work, power and heat, "
            "and two runs may differ by some percent. Every ceiling is stored with the clock it was measured at";
    f.mend = fmt::format(
        "sudo nvidia-smi -i {0} -pm 1 && sudo nvidia-smi -i {0} -lgc {1},{1}{2}; see nvidia-smi -q -d CLOCK; "
        "undo with -rgc",
        gpu, clock, lock > 0 ? "" : " (MHZ from nvidia-smi -q -d SUPPORTED_CLOCKS)");
    return f;
}

std::vector<Finding> gpu_clock_findings() {
    Api api;
    if (!open(api)) return {};
    std::vector<Finding> all;
    unsigned count = 0;
    if (api.count(&count) != 0) count = 0;
    for (unsigned i = 0; i < count; ++i) {
        Handle device = nullptr;
        if (api.by_index(i, &device) == 0) all.push_back(clocks_finding(i, read(api, device)));
    }
    api.stop();
    return all;
}

}  // namespace gambrel::measure_detail
