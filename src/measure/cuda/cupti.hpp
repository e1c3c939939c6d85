// CUPTI's range profiler, as much of it as the bytes of one launch at L1, L2 and DRAM need, found at run time. The
// structures are those of cupti_range_profiler.h and cupti_profiler_host.h (CUDA 12.6 to 13), where they are
// documented; no header or library of NVIDIA is needed to build.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "measure/cuda/cuda_api.hpp"
#include "measure/device.hpp"

namespace gambrel::measure_detail {

struct CuptiHostObject;
struct CuptiRangeObject;

// Every call has one argument: a structure that begins with its size and a null pointer.
struct CuptiHead {
    std::size_t size = 0;
    void* none = nullptr;
};
struct CuptiInitialize : CuptiHead {};
struct CuptiChipName : CuptiHead {
    std::size_t device = 0;
    const char* chip = nullptr;
};
struct CuptiChips : CuptiHead {
    std::size_t count = 0;
    const char* const* names = nullptr;
};
struct CuptiHostInitialize : CuptiHead {
    int profiler = 0;  // CUPTI_PROFILER_TYPE_RANGE_PROFILER
    const char* chip = nullptr;
    const std::uint8_t* availability = nullptr;
    CuptiHostObject* host = nullptr;
};
struct CuptiHost : CuptiHead {  // deinitialize
    CuptiHostObject* host = nullptr;
};
struct CuptiAddMetrics : CuptiHead {
    CuptiHostObject* host = nullptr;
    const char** metrics = nullptr;
    std::size_t count = 0;
};
struct CuptiImageSize : CuptiHead {
    CuptiHostObject* host = nullptr;
    std::size_t bytes = 0;
};
struct CuptiImage : CuptiHead {
    CuptiHostObject* host = nullptr;
    std::size_t bytes = 0;
    std::uint8_t* image = nullptr;
};
struct CuptiEnable : CuptiHead {
    CuContext context = nullptr;
    CuptiRangeObject* ranges = nullptr;
};
struct CuptiRange : CuptiHead {  // disable, start
    CuptiRangeObject* ranges = nullptr;
};
struct CuptiCounterSize : CuptiHead {
    CuptiRangeObject* ranges = nullptr;
    const char** metrics = nullptr;
    std::size_t count = 0, most_ranges = 0;
    std::uint32_t most_nodes = 0;
    std::size_t bytes = 0;
};
struct CuptiCounterImage : CuptiHead {
    CuptiRangeObject* ranges = nullptr;
    std::size_t bytes = 0;
    std::uint8_t* image = nullptr;
};
struct CuptiConfig : CuptiHead {
    CuptiRangeObject* ranges = nullptr;
    std::size_t config_bytes = 0;
    const std::uint8_t* config = nullptr;
    std::size_t counter_bytes = 0;
    std::uint8_t* counters = nullptr;
    int range = 0, replay = 0;
    std::size_t most_ranges = 0;
    std::uint16_t levels = 0, first_level = 0;
    std::size_t pass = 0;
    std::uint16_t target_level = 0;
};
struct CuptiStop : CuptiHead {
    CuptiRangeObject* ranges = nullptr;
    std::size_t pass = 0, target_level = 0;
    std::uint8_t all_passes = 0;
};
struct CuptiDecode : CuptiHead {
    CuptiRangeObject* ranges = nullptr;
    std::size_t dropped = 0;
};
struct CuptiEvaluate : CuptiHead {
    CuptiHostObject* host = nullptr;
    const std::uint8_t* image = nullptr;
    std::size_t bytes = 0, range = 0;
    const char** metrics = nullptr;
    std::size_t count = 0;
    double* values = nullptr;
};

struct CuptiApi {
    DynamicLibrary library;
    int (*initialize)(CuptiInitialize*) = nullptr;
    int (*chip_name)(CuptiChipName*) = nullptr;
    int (*host_initialize)(CuptiHostInitialize*) = nullptr;
    int (*host_deinitialize)(CuptiHost*) = nullptr;
    int (*add_metrics)(CuptiAddMetrics*) = nullptr;
    int (*image_size)(CuptiImageSize*) = nullptr;
    int (*image)(CuptiImage*) = nullptr;
    int (*enable)(CuptiEnable*) = nullptr;
    int (*disable)(CuptiRange*) = nullptr;
    int (*counter_size)(CuptiCounterSize*) = nullptr;
    int (*counter_image)(CuptiCounterImage*) = nullptr;
    int (*set_config)(CuptiConfig*) = nullptr;
    int (*start)(CuptiRange*) = nullptr;
    int (*stop)(CuptiStop*) = nullptr;
    int (*decode)(CuptiDecode*) = nullptr;
    int (*evaluate)(CuptiEvaluate*) = nullptr;
    int (*error_text)(int, const char**) = nullptr;
};
Result<std::shared_ptr<const CuptiApi>> open_cupti(int driver);

// Bytes that passed the L1, the L2 and the memory, in this order. GPUs that share the host's memory do not count the
// last.
inline constexpr std::array<const char*, 3> kLevelMetrics{"l1tex__t_bytes.sum", "lts__t_bytes.sum", "dram__bytes.sum"};

// The metrics of one chip as CUPTI's host library configures them. Needs no GPU.
class CounterConfig {
public:
    static Result<std::unique_ptr<CounterConfig>> make(std::shared_ptr<const CuptiApi> api, const char* chip);
    ~CounterConfig();
    CounterConfig(const CounterConfig&) = delete;
    CounterConfig& operator=(const CounterConfig&) = delete;
    [[nodiscard]] std::span<const char* const> metrics() const { return std::span(kLevelMetrics).first(count_); }
    [[nodiscard]] const std::vector<std::uint8_t>& image() const { return image_; }
    [[nodiscard]] Result<LevelBytes> evaluated(const std::vector<std::uint8_t>& counters) const;

private:
    CounterConfig(std::shared_ptr<const CuptiApi> api, CuptiHostObject* host, std::size_t count)
        : api_(std::move(api)), host_(host), count_(count) {}
    std::shared_ptr<const CuptiApi> api_;
    CuptiHostObject* host_;
    std::size_t count_;
    std::vector<std::uint8_t> image_;
};

// Counters of one GPU, for as long as this lives. A failure to open says what is missing or not permitted.
class Counters {
public:
    static Result<std::unique_ptr<Counters>> open(int driver, CuDevice device, CuContext context);
    ~Counters();
    Counters(const Counters&) = delete;
    Counters& operator=(const Counters&) = delete;
    // `launch` starts one kernel and waits for it; CUPTI may run it several times.
    Result<LevelBytes> count(const std::function<Result<void>()>& launch);

private:
    Counters(std::shared_ptr<const CuptiApi> api, std::unique_ptr<CounterConfig> config, CuptiRangeObject* ranges)
        : api_(std::move(api)), config_(std::move(config)), ranges_(ranges) {}
    std::shared_ptr<const CuptiApi> api_;
    std::unique_ptr<CounterConfig> config_;
    CuptiRangeObject* ranges_;
};

}  // namespace gambrel::measure_detail
