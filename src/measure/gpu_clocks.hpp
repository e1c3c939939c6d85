// What NVML knows of the clocks of every GPU, and what follows for who measures. Reads only; without NVML there is
// none.
#pragma once

#include <optional>
#include <vector>

#include <gambrel/doctor.hpp>

namespace gambrel::measure_detail {

struct GpuClocks {  // MHz; absent: the driver does not tell
    std::optional<unsigned> now, most, application, by_default;
    std::optional<bool> persistent;
    bool idle = false, by_setting = false;  // the driver's reasons for the clock of this moment
};
Finding clocks_finding(unsigned gpu, const GpuClocks& clocks);
std::vector<Finding> gpu_clock_findings();

}  // namespace gambrel::measure_detail
