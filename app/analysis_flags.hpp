// The flags that every command with profiler files takes, and the path from files to output that they share.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <gambrel/ingest.hpp>
#include <gambrel/roofline.hpp>
#include <gambrel/trace.hpp>

#include "app/output.hpp"

namespace gambrel::app {

struct AnalysisFlags {
    std::string machine, clock, kernel, roofs = "auto";
    std::string group = "kernel", flop_rule = "corrected";
    std::vector<std::string> operators;  // tables of operators beside the built-in one
    int nvtx_depth = 1;
    std::vector<Layer> network;  // what ran, for kernels of traces that have no shapes
    bool explain = false, shapes_in_operators = false;
    OutputFlags output;

    void add_to(Parser& command);
    void add_reading_to(Parser& command);  // without output: for commands that have no table of kernels to shape
};

// What is wrong with the flags themselves, for commands that have long work to do before the analysis.
Errors faults(const AnalysisFlags& flags);
// Which kernels --kernel keeps; no function: all.
Result<std::function<bool(const std::string&)>> kernel_filter(const std::string& pattern);
Grouping grouping_of(const AnalysisFlags& flags);
// Files to Analysis; what is wrong with the flags or the files comes back as errors. `layers`: gets those of a trace.
Result<Analysis> analysis_of(const std::vector<std::string>& files, const AnalysisFlags& flags,
                             const TraceShare& share = {}, LaunchLayers* layers = nullptr);
int run_analysis(const std::vector<std::string>& files, const AnalysisFlags& flags, const TraceShare& share = {});

}  // namespace gambrel::app
