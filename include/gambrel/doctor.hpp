// What this machine can and cannot do for gambrel: what was found, what follows from it, and the command that mends it.
// Looks only: opens libraries and reads files, changes nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gambrel {

enum class Health : std::uint8_t { good, poor, missing };

struct Finding {
    Health health = Health::good;
    std::string what;     // "NVIDIA driver"
    std::string found;    // "13.0", "libcuda.so.1 cannot be opened"
    std::string follows;  // what can or cannot be done
    std::string mend;     // a command or a step; "" if nothing is to be done
};

// Libraries, devices, counters' permission, clocks, huge pages, load. The programs (ncu, mpirun) are the caller's to
// add.
std::vector<Finding> examine();

}  // namespace gambrel
