// The names of a machine file without the machine: what an index of many files needs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gambrel::machine_detail {

struct MachineNames {
    std::string id, name;
    std::vector<std::string> aliases;

    [[nodiscard]] std::vector<std::string> all() const;
};

// Reads no further than the last of the three keys. Faults are left to parse_machine, which reads the whole file.
MachineNames machine_names(std::string_view json);

}  // namespace gambrel::machine_detail
