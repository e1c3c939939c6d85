// Phases of kernels that stand in one view, where their names do not say which is which.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <gambrel/kernel.hpp>

namespace gambrel::report_detail {

// For each kernel its phase, where another has the same name in another phase; else "".
std::vector<std::string> telling_phases(std::span<const Kernel* const> kernels);
// Cells of a column: short enough to stand in a table. Every kernel has its phase as soon as one needs it.
std::vector<std::string> phase_cells(std::span<const Kernel* const> kernels);

}  // namespace gambrel::report_detail
