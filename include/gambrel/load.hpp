// Files of any kind to a Run: traces, profiler reports, saved results, recognised by their content, with the machine
// that they ran on found in the catalogue or chosen by the caller. Computes no verdict.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <gambrel/base.hpp>
#include <gambrel/ingest.hpp>
#include <gambrel/kernel.hpp>
#include <gambrel/machine.hpp>
#include <gambrel/trace.hpp>

namespace gambrel {

struct LoadOptions {
    std::optional<Machine> machine = {};  // instead of the one that the files name
    FlopRule flop_rule = FlopRule::corrected;
    int nvtx_depth = 1;
    std::vector<std::string> operator_files = {};       // of traces: operator tables beside the built-in one
    std::function<bool(const std::string&)> keep = {};  // only kernels whose name this accepts
    std::vector<Layer> network = {};   // of traces: what ran, in order, for kernels that have no shapes
    bool shapes_in_operators = false;  // of traces: an operator is named with its module and shapes
    TraceShare share = {};             // of traces: which part of the files this process reads
    std::function<void(const Kernel&, const LaunchLayer&)> on_modelled = {};  // of traces: TraceOptions has it
};
// Several files are one run: the ranks of a trace, or reports that are joined.
Result<Run> load_run(std::span<const std::string> paths, const LoadOptions& options = {});

}  // namespace gambrel
