#include "measure/cuda/cupti.hpp"

#include <fmt/format.h>

namespace gambrel::measure_detail {

namespace {

constexpr int kAutoRange = 1, kKernelReplay = 2;                       // CUpti_ProfilerRange, CUpti_ProfilerReplayMode
constexpr int kNotSupported = 27, kVirtualGpu = 33, kNotAllowed = 35;  // CUptiResult

// Up to the end of the last field: a compiler may pad the structure, and CUPTI wants the size without.
template <class Parameters, class Field>
Parameters sized(Field Parameters::*last) {
    Parameters p;
    const auto* begin = reinterpret_cast<const char*>(&p);
    const auto* end = reinterpret_cast<const char*>(&(p.*last)) + sizeof(Field);
    p.size = static_cast<std::size_t>(end - begin);
    return p;
}

tl::unexpected<Errors> cupti_failure(const CuptiApi& api, const char* what, int code) {
    if (code == kNotAllowed)
        return failure("CUPTI",
                       "the driver lets only administrators read counters (`gambrel doctor` says how to "
                       "change that)");
    const char* text = nullptr;
    if (api.error_text != nullptr) api.error_text(code, &text);
    const std::string_view why = code == kNotSupported || code == kVirtualGpu ? " (not supported on this GPU)" : "";
    return failure("CUPTI", fmt::format("{} failed: {}{}", what, text != nullptr ? text : std::to_string(code), why));
}

}  // namespace

Result<std::shared_ptr<const CuptiApi>> open_cupti(int driver) {
    auto library = DynamicLibrary::open("GAMBREL_CUPTI", cuda_library_names("libcupti.so", {"13", "12"}, driver));
    if (!library) {
        Errors errors = library.error();
        errors.front().what += "; it comes with the CUDA toolkit (extras/CUPTI/lib64)";
        return tl::unexpected(std::move(errors));
    }
    auto api = std::make_shared<CuptiApi>();
    api->library = std::move(*library);
    std::vector<std::string> missing;
    const auto need = [&](auto& function, const char* name) { api->library.need(function, name, missing); };
    need(api->initialize, "cuptiProfilerInitialize");
    need(api->chip_name, "cuptiDeviceGetChipName");
    need(api->host_initialize, "cuptiProfilerHostInitialize");
    need(api->host_deinitialize, "cuptiProfilerHostDeinitialize");
    need(api->add_metrics, "cuptiProfilerHostConfigAddMetrics");
    need(api->image_size, "cuptiProfilerHostGetConfigImageSize");
    need(api->image, "cuptiProfilerHostGetConfigImage");
    need(api->enable, "cuptiRangeProfilerEnable");
    need(api->disable, "cuptiRangeProfilerDisable");
    need(api->counter_size, "cuptiRangeProfilerGetCounterDataSize");
    need(api->counter_image, "cuptiRangeProfilerCounterDataImageInitialize");
    need(api->set_config, "cuptiRangeProfilerSetConfig");
    need(api->start, "cuptiRangeProfilerStart");
    need(api->stop, "cuptiRangeProfilerStop");
    need(api->decode, "cuptiRangeProfilerDecodeData");
    need(api->evaluate, "cuptiProfilerHostEvaluateToGpuValues");
    if (auto all = check_missing(api->library, missing); !all) return tl::unexpected(all.error());
    api->error_text = api->library.find<int(int, const char**)>("cuptiGetResultString");
    return api;
}

Result<std::unique_ptr<CounterConfig>> CounterConfig::make(std::shared_ptr<const CuptiApi> api, const char* chip) {
    int code = 0;
    // A metric that the chip lacks spoils the object, so each attempt has one of its own.
    for (std::size_t count = kLevelMetrics.size(); count >= 2; --count) {
        auto begin = sized(&CuptiHostInitialize::host);
        begin.chip = chip;
        if (code = api->host_initialize(&begin); code != 0) break;
        std::unique_ptr<CounterConfig> made(new CounterConfig(api, begin.host, count));
        auto names = kLevelMetrics;
        auto add = sized(&CuptiAddMetrics::count);
        add.host = begin.host;
        add.metrics = names.data();
        add.count = count;
        if (code = api->add_metrics(&add); code != 0) continue;
        auto size = sized(&CuptiImageSize::bytes);
        size.host = begin.host;
        if (code = api->image_size(&size); code != 0) continue;
        made->image_.resize(size.bytes);
        auto image = sized(&CuptiImage::image);
        image.host = begin.host;
        image.bytes = size.bytes;
        image.image = made->image_.data();
        if (code = api->image(&image); code == 0) return made;
    }
    return cupti_failure(*api, fmt::format("choosing counters of {}", chip).c_str(), code);
}

CounterConfig::~CounterConfig() {
    auto end = sized(&CuptiHost::host);
    end.host = host_;
    api_->host_deinitialize(&end);
}

Result<LevelBytes> CounterConfig::evaluated(const std::vector<std::uint8_t>& counters) const {
    std::array<double, kLevelMetrics.size()> values{};
    auto names = kLevelMetrics;
    auto evaluate = sized(&CuptiEvaluate::values);
    evaluate.host = host_;
    evaluate.image = counters.data();
    evaluate.bytes = counters.size();
    evaluate.metrics = names.data();
    evaluate.count = count_;
    evaluate.values = values.data();
    if (const int code = api_->evaluate(&evaluate); code != 0) return cupti_failure(*api_, "reading counters", code);
    LevelBytes bytes{Bytes(values[0]), Bytes(values[1]), std::nullopt};
    if (count_ == values.size()) bytes.dram = Bytes(values[2]);
    return bytes;
}

Result<std::unique_ptr<Counters>> Counters::open(int driver, CuDevice device, CuContext context) {
    const auto api = open_cupti(driver);
    if (!api) return tl::unexpected(api.error());
    CuptiInitialize begin;
    begin.size = sizeof begin;
    if (const int code = (*api)->initialize(&begin); code != 0)
        return cupti_failure(**api, "cuptiProfilerInitialize", code);
    auto chip = sized(&CuptiChipName::chip);
    chip.device = static_cast<std::size_t>(device);
    if (const int code = (*api)->chip_name(&chip); code != 0)
        return cupti_failure(**api, "cuptiDeviceGetChipName", code);
    auto config = CounterConfig::make(*api, chip.chip);
    if (!config) return tl::unexpected(config.error());
    auto enable = sized(&CuptiEnable::ranges);
    enable.context = context;
    if (const int code = (*api)->enable(&enable); code != 0)
        return cupti_failure(**api, "cuptiRangeProfilerEnable", code);
    return std::unique_ptr<Counters>(new Counters(*api, std::move(*config), enable.ranges));
}

Counters::~Counters() {
    auto end = sized(&CuptiRange::ranges);
    end.ranges = ranges_;
    api_->disable(&end);
}

Result<LevelBytes> Counters::count(const std::function<Result<void>()>& launch) {
    auto names = kLevelMetrics;
    auto size = sized(&CuptiCounterSize::bytes);
    size.ranges = ranges_;
    size.metrics = names.data();
    size.count = config_->metrics().size();
    size.most_ranges = size.most_nodes = 1;
    if (const int code = api_->counter_size(&size); code != 0) return cupti_failure(*api_, "sizing counters", code);
    std::vector<std::uint8_t> counters(size.bytes);
    auto image = sized(&CuptiCounterImage::image);
    image.ranges = ranges_;
    image.bytes = counters.size();
    image.image = counters.data();
    if (const int code = api_->counter_image(&image); code != 0) return cupti_failure(*api_, "making counters", code);
    auto config = sized(&CuptiConfig::target_level);
    config.ranges = ranges_;
    config.config = config_->image().data();
    config.config_bytes = config_->image().size();
    config.counters = counters.data();
    config.counter_bytes = counters.size();
    config.range = kAutoRange;  // each launch is a range, and CUPTI repeats it as often as the counters need
    config.replay = kKernelReplay;
    config.most_ranges = config.levels = config.first_level = 1;
    if (const int code = api_->set_config(&config); code != 0) return cupti_failure(*api_, "setting counters", code);
    auto start = sized(&CuptiRange::ranges);
    start.ranges = ranges_;
    if (const int code = api_->start(&start); code != 0) return cupti_failure(*api_, "starting counters", code);
    const auto launched = launch();
    auto stop = sized(&CuptiStop::all_passes);
    stop.ranges = ranges_;
    const int stopped = api_->stop(&stop);
    if (!launched) return tl::unexpected(launched.error());
    if (stopped != 0) return cupti_failure(*api_, "stopping counters", stopped);
    auto decode = sized(&CuptiDecode::dropped);
    decode.ranges = ranges_;
    if (const int code = api_->decode(&decode); code != 0) return cupti_failure(*api_, "decoding counters", code);
    if (decode.dropped != 0) return failure("CUPTI", "the counters of the launch were dropped");
    return config_->evaluated(counters);
}

}  // namespace gambrel::measure_detail
