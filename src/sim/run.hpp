// A stream of addresses through a hierarchy, whole or sampled. The part of simulate() that knows no Layer and no
// Machine, so that tests can give it caches of a few lines.
#pragma once

#include <gambrel/sim.hpp>

#include "sim/hierarchy.hpp"

namespace gambrel::sim_detail {

struct Device {
    CacheShape caches;
    std::uint32_t ctas_per_sm = 1;
    Contention contention;
};

struct RunResult {
    TensorCounts counts{};
    std::uint64_t accesses = 0;  // that were simulated and counted
    std::int64_t ctas_done = 0;
    double shared_memory_bytes = 0;
    SamplingError error;
    bool partial = false;
};
RunResult run(const AddressStream& stream, const Device& device, const SimulationOptions& options);

}  // namespace gambrel::sim_detail
