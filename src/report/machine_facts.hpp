// What a machine's sheet lists, before it is laid out: every number as text with its origin and citation. The terminal
// and the page show the same lines. Citations are as the file has them: the renderer makes them printable.
#pragma once

#include <string>
#include <vector>

#include <gambrel/machine.hpp>

namespace gambrel::report_detail {

struct MachineLine {
    std::string what, value, origin, cite;
};
struct MachineSection {
    std::string heading;
    std::vector<MachineLine> lines;
};
std::vector<MachineSection> machine_facts(const Machine& machine);
std::string machine_about(const Machine& machine);  // "Volta, GV100, compute capability 7.0, source: catalogue"

}  // namespace gambrel::report_detail
