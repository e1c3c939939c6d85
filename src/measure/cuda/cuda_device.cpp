#include "measure/cuda/cuda_device.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include <fmt/format.h>

#include "measure/cuda/cuda_backend.hpp"
#include "measure/gpu/device_number.hpp"
#include "measure/gpu/probes.hpp"

namespace gambrel::measure_detail {

namespace {

std::string name_of(const CudaApi& api, CuDevice device) {
    std::array<char, 256> text{};
    return api.cuDeviceGetName(text.data(), static_cast<int>(text.size()) - 1, device) == kCuSuccess ? text.data() : "";
}

int attribute(const CudaApi& api, CuDevice device, int what) {
    int value = 0;
    return api.cuDeviceGetAttribute(&value, what, device) == kCuSuccess ? value : 0;
}

std::string uuid_of(const CudaApi& api, CuDevice device) {
    CuUuid uuid{};
    if (api.cuDeviceGetUuid(&uuid, device) != kCuSuccess) return {};
    std::string text = "GPU";
    for (int i = 0; i < 16; ++i) {
        if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        text += fmt::format("{:02x}", uuid.bytes[i]);
    }
    return text;
}

int device_count(const CudaApi& api) {
    int count = 0;
    return api.cuDeviceGetCount(&count) == kCuSuccess ? count : 0;
}

// The driver does not report the size of the L1. CUDA C++ Programming Guide, technical specifications by compute
// capability.
double l1_bytes(ComputeCapability cc) {
    struct Row {
        ComputeCapability cc;
        int kib;
    };
    constexpr std::array kRows{Row{{5, 0}, 24},  Row{{5, 2}, 48},  Row{{6, 0}, 24},  Row{{6, 1}, 48},
                               Row{{7, 0}, 128}, Row{{7, 5}, 96},  Row{{8, 0}, 192}, Row{{8, 6}, 128},
                               Row{{8, 7}, 192}, Row{{8, 9}, 128}, Row{{9, 0}, 256}, Row{{10, 0}, 256},
                               Row{{12, 0}, 128}};
    double found = 0;
    for (const Row& row : kRows)
        if (row.cc <= cc) found = row.kib * 1024.0;
    return found;
}

DeviceInfo info_of(const CudaApi& api, CuDevice device, ComputeCapability cc) {
    DeviceInfo info;
    info.kind = DeviceKind::cuda;
    info.compute_capability = cc;
    info.name = name_of(api, device);
    info.id = uuid_of(api, device);
    info.units = std::max(1, attribute(api, device, kCuSms));
    if (const int khz = attribute(api, device, kCuClockKhz); khz > 0) info.clock = Frequency(khz * 1e3);
    if (const Machine* known = find_in_catalogue(info.name)) info.theoretical = *known;
    const auto add = [&](Level level, double bytes, int sharers) {
        if (bytes > 0) info.levels.push_back({level, Bytes(bytes), sharers});
    };
    add(Level::shared, attribute(api, device, kCuSharedPerSm), 1);
    const MemoryLevel* l1 = info.theoretical ? info.theoretical->find(Level::l1) : nullptr;
    add(Level::l1, l1 != nullptr && l1->capacity ? l1->capacity->value.value() : l1_bytes(cc), 1);
    add(Level::l2, attribute(api, device, kCuL2Bytes), info.units);
    std::size_t total = 0;
    api.cuDeviceTotalMem(&total, device);
    add(Level::dram, static_cast<double>(total), info.units);
    return info;
}

// "sm_90a", "compute_80": kernels are chosen by what the compiler makes, not by what the GPU could do.
Target target_of(const CudaApi& api, CuDevice device, std::string_view architecture, int compiler) {
    Target target;
    target.dialect = Dialect::cuda;
    const std::string_view digits = architecture.substr(architecture.find('_') + 1);
    int number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    target.cc = {number / 10, number % 10};
    target.accelerated = architecture.ends_with('a');
    target.compiler = compiler;
    // Accesses of 256 bits came with sm_100 and NVRTC 12.9.
    target.vec_words = number >= 100 && compiler >= 1209 ? 8 : 4;
    // What a kernel may declare without asking; more needs memory given at launch, and changes nothing about the rate.
    target.shared_bytes = std::clamp(attribute(api, device, kCuMaxSharedPerBlock), 16 * 1024, 48 * 1024);
    return target;
}

}  // namespace

Result<std::unique_ptr<Device>> open_cuda_in_process(std::string_view rest) {
    const auto api = open_cuda();
    if (!api) return tl::unexpected(api.error());
    const auto number = device_number("cuda", rest, static_cast<std::size_t>(std::max(0, device_count(**api))));
    if (!number) return tl::unexpected(number.error());
    CudaParts parts;
    parts.api = *api;
    if (const CuResult code = (*api)->cuDeviceGet(&parts.device, static_cast<int>(*number)); code != kCuSuccess)
        return cuda_failure(**api, "cuDeviceGet", code);
    (*api)->cuDriverGetVersion(&parts.driver);
    auto compiler = Nvrtc::open(parts.driver);
    if (!compiler) return tl::unexpected(compiler.error());
    parts.compiler = *compiler;
    const ComputeCapability cc{attribute(**api, parts.device, kCuMajor), attribute(**api, parts.device, kCuMinor)};
    parts.architecture = (*compiler)->architecture_for(cc);
    if (parts.architecture.empty())
        return failure(
            "nvrtc " + (*compiler)->version(),
            fmt::format("supports no architecture that a GPU of compute capability {} can run; an older version does",
                        to_text(cc)));
    parts.target = target_of(**api, parts.device, parts.architecture, (*compiler)->version_number());
    DeviceInfo info = info_of(**api, parts.device, cc);
    if (auto nvml = Nvml::open(info.id)) parts.nvml = std::move(*nvml);
    info.detail =
        fmt::format("compute capability {}, driver {} (CUDA {}.{}), NVRTC {} for {}", to_text(cc),
                    parts.nvml != nullptr ? parts.nvml->driver_version() : "without NVML", parts.driver / 1000,
                    parts.driver % 1000 / 10, (*compiler)->version(), parts.architecture);
    parts.units = info.units;
    if (const char* limit = std::getenv("GAMBREL_LAUNCH_LIMIT"))
        if (const auto seconds = parse_quantity<Seconds>(limit)) parts.longest_launch = *seconds;
    auto backend = make_cuda_backend(std::move(parts));
    if (!backend) return tl::unexpected(backend.error());
    const int units = info.units;
    return make_gpu_device(std::move(info), {std::move(*backend), units});
}

std::vector<DeviceFound> find_cuda_devices() {
    const auto api = open_cuda();
    if (!api) return {};
    std::vector<DeviceFound> found;
    for (int i = 0; i < device_count(**api); ++i) {
        CuDevice device = 0;
        if ((*api)->cuDeviceGet(&device, i) == kCuSuccess)
            found.push_back({fmt::format("cuda:{}", i), name_of(**api, device)});
    }
    return found;
}

}  // namespace gambrel::measure_detail
