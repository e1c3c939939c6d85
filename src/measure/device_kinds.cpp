#include <gambrel/measure.hpp>

#include <string>

#include <fmt/format.h>

#include "measure/cuda/cuda_device.hpp"
#include "measure/device.hpp"
#include "measure/host/host.hpp"
#include "measure/opencl/opencl_device.hpp"
#include "measure/simulated/simulated.hpp"

namespace gambrel::measure_detail {

std::vector<DeviceOpener> device_openers() {
    const auto none = [] { return std::vector<DeviceFound>{}; };
    return {
        {"cpu", "cpu  this machine's cores and memory", open_host, find_host},
        {"cuda", "cuda:N  NVIDIA GPU N, through the driver and NVRTC", open_cuda_device, find_cuda_devices},
        {"opencl", "opencl:N  OpenCL device N, of any vendor", open_opencl_device, find_opencl_devices},
        {"sim", "sim:NAME[,noise=0.01][,seed=1]  a simulated device with the ceilings of a catalogue entry",
         open_simulated, none},
    };
}

Result<std::unique_ptr<Device>> open_device(std::string_view name) {
    const auto colon = name.find(':');
    const std::string_view prefix = name.substr(0, colon);
    const std::string_view rest = colon == std::string_view::npos ? std::string_view{} : name.substr(colon + 1);
    std::vector<std::string> known;
    for (const DeviceOpener& kind : device_openers()) {
        if (kind.prefix == prefix) return kind.open(rest);
        known.emplace_back(kind.prefix);
    }
    return failure("--device", fmt::format("\"{}\" is not a device{}; expected one of {}", name,
                                           did_you_mean(prefix, known), fmt::join(known, ", ")));
}

}  // namespace gambrel::measure_detail

namespace gambrel {

std::vector<DeviceFound> find_devices() {
    std::vector<DeviceFound> all;
    for (const auto& kind : measure_detail::device_openers())
        for (DeviceFound& found : kind.find()) all.push_back(std::move(found));
    return all;
}

}  // namespace gambrel
