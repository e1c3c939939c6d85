// What hwloc says of this machine: the cores that we may use, their caches and memory. Reads, changes nothing.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gambrel/measure.hpp>

namespace gambrel::measure_detail {

class HostTopology {
public:
    static Result<std::unique_ptr<HostTopology>> load();
    ~HostTopology();
    HostTopology(const HostTopology&) = delete;
    HostTopology& operator=(const HostTopology&) = delete;

    [[nodiscard]] int cores() const;                        // within what taskset, cgroup or mpirun left to us
    [[nodiscard]] std::vector<DeviceLevel> levels() const;  // caches of the first core, then memory
    // What hwloc knows under "CPUModel", "CPUVendor", "CPUFamilyNumber"; "" if it does not.
    [[nodiscard]] std::string cpu_fact(const char* name) const;
    // Binds the calling thread to the first hardware thread of a core; false if the system refuses.
    bool bind_to(int core) const;

private:
    HostTopology();
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace gambrel::measure_detail
