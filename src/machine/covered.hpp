// The compute capabilities of an architecture file without the architecture: what an index of many files needs.
#pragma once

#include <string_view>
#include <vector>

#include <gambrel/machine.hpp>

namespace gambrel::machine_detail {

// Reads no further than their list. Faults are left to parse_architecture, which reads the whole file.
std::vector<ComputeCapability> covered_capabilities(std::string_view json);

}  // namespace gambrel::machine_detail
