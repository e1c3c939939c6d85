#include "app/ncu_command.hpp"

#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gambrel::app {
namespace {

// ncu expands %p, %h, %i and %q{NAME} in the name of its report; ours is meant literally.
std::string without_macros(const std::string& path) {
    std::string out;
    for (const char c : path) out += c == '%' ? std::string("%%") : std::string(1, c);
    return out;
}

std::string passes_text(const Collection& collection) {
    if (!collection.passes) return "a number of passes that is not known beforehand";
    // CUPTI's own count; profiler__replayer_passes was one more in six of six reports of ncu 2024.1 to 2025.2.
    return fmt::format("{} to {} passes", *collection.passes, *collection.passes + 1);
}

std::string_view clock_text(const std::string& control) {
    if (control == "base")
        return "locked to base while a kernel is measured, so times repeat but are longer than at boost clock; "
               "ceilings use the clock that ncu measured";
    return "left alone: it may boost or throttle from pass to pass; ceilings use the clock that ncu measured";
}

std::string_view cache_text(const std::string& control) {
    if (control == "all")
        return "flushed before every pass: each kernel starts cold, with more DRAM bytes than in the running program "
               "if it "
               "finds data of its predecessor in L2";
    return "left as they are: a kernel replayed in place finds its own data of the pass before, so L2 may look better "
           "than it is";
}

struct Complaint {
    std::string_view mark, advice;
};
constexpr Complaint kComplaints[] = {
    {"ERR_NVGPUCTRPERM",
     "the driver lets only the administrator read performance counters. One of these:\n"
     "  - run it as root: sudo -E $(command -v gambrel) profile ...\n"
     "  - let everybody: write \"options nvidia NVreg_RestrictProfilingToAdminUsers=0\" into "
     "/etc/modprobe.d/nvidia-profiling.conf, make the\n"
     "    initial ramdisk again (update-initramfs -u, or dracut -f) and reboot\n"
     "  - in a container: start it with --cap-add=SYS_ADMIN, or lift the restriction on the host as above\n"
     "  - a cluster or cloud may forbid it altogether: ask for a node or partition for profiling\n"
     "https://developer.nvidia.com/ERR_NVGPUCTRPERM has NVIDIA's words."},
    {"driver resource was unavailable",
     "another tool uses the counters: a second profiler, or DCGM that monitors the node. Pause it (dcgmi profile "
     "--pause) and run again."},
    {"failed to connect to the CUDA driver",
     "there is no usable NVIDIA driver here: nvidia-smi must work first (in a container: start it with --gpus all)."},
    {"Failed to find metric",
     "this ncu does not know one of the metrics; please report its version and the GPU to the authors of gambrel. "
     "--tensor-by "
     "instructions asks for fewer."},
    {"No kernels were profiled",
     "the program launched no CUDA kernel that the filters let through (--kernel, --nvtx-include, --launch-skip)."},
};

}  // namespace

std::vector<std::string> ncu_arguments(const ProfileRun& run) {
    const NcuSettings& s = run.settings;
    // No --set and no --section: with --metrics alone ncu adds none (2022.3: --list-metrics).
    std::vector<std::string> arguments{run.ncu.path, "--metrics",
                                       fmt::format("{}", fmt::join(run.collection.metrics, ",")), "--nvtx"};
    for (const auto& range : s.nvtx_include) arguments.insert(arguments.end(), {"--nvtx-include", range});
    arguments.insert(arguments.end(), {"--clock-control", s.clock_control, "--cache-control", s.cache_control});
    arguments.insert(arguments.end(), {"--replay-mode", s.replay_mode, "--target-processes", "all"});
    // The report holds demangled names and analyze filters by them, so ncu does too.
    if (!s.kernel.empty())
        arguments.insert(arguments.end(), {"--kernel-name-base", "demangled", "--kernel-name", "regex:" + s.kernel});
    if (s.launch_skip) arguments.insert(arguments.end(), {"--launch-skip", std::to_string(*s.launch_skip)});
    if (s.launch_count) arguments.insert(arguments.end(), {"--launch-count", std::to_string(*s.launch_count)});
    arguments.insert(arguments.end(), {"-f", "-o", without_macros(run.report)});
    // No "--" before the program: ncu 2022.3 refuses it, and takes all behind the first word that is not an option.
    arguments.insert(arguments.end(), run.program.begin(), run.program.end());
    if (run.program.front().starts_with("-")) arguments[arguments.size() - run.program.size()].insert(0, "./");
    return arguments;
}

std::string statement(const ProfileRun& run) {
    const std::string chip = run.gpu.chip.empty() ? "" : run.gpu.chip + ", ";
    const std::string gpu = run.gpu.name.empty()
                                ? fmt::format("compute capability {}", to_text(run.gpu.cc))
                                : fmt::format("{} ({}compute capability {})", run.gpu.name, chip, to_text(run.gpu.cc));
    std::string text = fmt::format("gpu: {}\nncu: {}{}\n", gpu, run.ncu.path,
                                   run.ncu.version ? ", version " + to_text(*run.ncu.version) : "");
    text += fmt::format("metrics: {}, in {} of {}\n", run.collection.metrics.size(), passes_text(run.collection),
                        run.settings.replay_mode == "application" ? "the whole program" : "each kernel launch");
    text += fmt::format("clock (--clock-control {}): {}\n", run.settings.clock_control,
                        clock_text(run.settings.clock_control));
    text += fmt::format("caches (--cache-control {}): {}\n", run.settings.cache_control,
                        cache_text(run.settings.cache_control));
    text += fmt::format("report: {}\n", run.report);
    for (const auto& note : run.collection.notes) text += fmt::format("note: {}\n", note);
    for (const auto& note : run.gpu.notes) text += fmt::format("note: {}\n", note);
    return text;
}

std::string advice(const std::string& ncu_output) {
    for (const auto& complaint : kComplaints)
        if (ncu_output.find(complaint.mark) != std::string::npos) return std::string(complaint.advice);
    return "";
}

}  // namespace gambrel::app
