// A device whose risky probes run in another process, so that one that crashes or hangs takes nothing else along. A
// helper process is forked before the driver is initialized here; it forks a worker that opens the device for itself,
// and another one when a worker has died. Where the worker cannot open the device, the probes run in this process.
#pragma once

#include <memory>
#include <string_view>

#include "measure/device.hpp"

namespace gambrel::measure_detail {

using OpenDevice = Result<std::unique_ptr<Device>> (*)(std::string_view rest);

// The helper; starts at once. Null if there can be none.
class ProbeProcess;
std::shared_ptr<ProbeProcess> start_probe_process(OpenDevice open, std::string_view rest);

std::unique_ptr<Device> isolate(std::unique_ptr<Device> device, std::shared_ptr<ProbeProcess> process);

}  // namespace gambrel::measure_detail
