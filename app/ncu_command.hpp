// The ncu command line for a set of metrics, what its settings mean for the result, and what its error messages mean.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <gambrel/ingest.hpp>

#include "app/ncu_tool.hpp"

namespace gambrel::app {

struct NcuSettings {
    std::string clock_control = "base", cache_control = "all", replay_mode = "kernel";
    std::string kernel;  // regular expression, empty: all
    std::vector<std::string> nvtx_include;
    std::optional<std::uint64_t> launch_skip, launch_count;
};

struct ProfileRun {
    NcuTool ncu;
    TargetGpu gpu;
    Collection collection;
    NcuSettings settings;
    std::string report;
    std::vector<std::string> program;  // APP and its arguments
};

std::vector<std::string> ncu_arguments(const ProfileRun& run);

// Lines for stderr: GPU, metrics and passes, and the settings of clock and caches under which the numbers are measured.
std::string statement(const ProfileRun& run);

// What to do about an error that ncu printed, or "".
std::string advice(const std::string& ncu_output);

}  // namespace gambrel::app
