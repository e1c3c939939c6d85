// A device whose truth is known: the catalogue's ceilings, capacities and latencies, a launch overhead, and noise from
// a seed. Its time is its own, so that a run of minutes takes milliseconds. It exists to test everything above Device.
#pragma once

#include "measure/device.hpp"

namespace gambrel::measure_detail {

struct SimulatedOptions {
    double noise = 0.01;  // standard deviation of the logarithm of a time
    std::uint64_t seed = 1;
    Seconds launch_overhead{5e-6};
};
std::unique_ptr<Device> simulated_device(const Machine& machine, const SimulatedOptions& options);

// What an endless, noiseless run of the probe within the level would give, or nullopt if the device has no such thing.
std::optional<double> simulated_truth(const Machine& machine, const Probe& probe);

// "v100" or "v100,noise=0.03,seed=7,launch=5us"
Result<std::unique_ptr<Device>> open_simulated(std::string_view rest);

}  // namespace gambrel::measure_detail
