// The machine characterizes itself: micro-benchmarks on a device, statistics, and the Machine they give.
// Invariant: a ceiling without a fault proved itself (result checked, working set fits its level, enough samples); a
// failed one is kept with its reason and never becomes part of the Machine. Prints nothing; progress is a callback.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gambrel/error.hpp>
#include <gambrel/machine.hpp>
#include <gambrel/units.hpp>
#include <gambrel/vocabulary.hpp>

namespace gambrel {

// What the operating system, the driver or the catalogue say of a device before anything is measured.
struct DeviceLevel {
    Level level = Level::dram;
    Bytes capacity{};
    int sharers = 1;  // compute units that share one instance: 1 for L1 of an SM, all of them for the L2 of a GPU
};
struct DeviceInfo {
    std::string kind;                    // "host", "cuda", "opencl", "simulated"
    std::string name;                    // as a driver prints it
    std::string id;                      // UUID, or host name: tells two equal devices of a cluster apart
    std::string detail;                  // driver, instruction set: what a reader needs to trust the numbers
    int units = 1;                       // SMs, cores
    std::vector<DeviceLevel> levels;     // those known, from the units outwards
    std::optional<Frequency> clock;      // nominal, of the units
    std::optional<Machine> theoretical;  // catalogue entry or what the driver's attributes give
};

// A device that could be opened, for lists and `gambrel doctor`.
struct DeviceFound {
    std::string argument;  // "cuda:0"
    std::string name;
};
std::vector<DeviceFound> find_devices();

}  // namespace gambrel
