#include "app/nsys_command.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "app/child_process.hpp"

namespace gambrel::app {
namespace {

namespace fs = std::filesystem;

// Folders like /opt/nvidia/nsight-systems/2025.1.1, the newest first.
std::vector<std::string> installed() {
    std::vector<std::string> found;
    std::error_code none;
    for (const char* root : {"/opt/nvidia/nsight-systems", "/opt/nvidia/nsight-systems-cli"})
        for (fs::directory_iterator it(root, none), end; !none && it != end; it.increment(none))
            found.push_back((it->path() / "bin" / "nsys").string());
    std::sort(found.rbegin(), found.rend());
    for (const char* path : {"/usr/local/cuda/bin/nsys", "/usr/lib/nsight-systems/bin/nsys"}) found.emplace_back(path);
    return found;
}

}  // namespace

Result<std::string> find_nsys(const std::string& flag) {
    if (!flag.empty()) {
        if (const auto found = find_program(flag)) return *found;
        return failure("--nsys", "\"" + flag + "\" is not a program that can be run");
    }
    if (const auto found = find_program("nsys")) return *found;
    for (const std::string& path : installed())
        if (is_executable(path)) return path;
    return failure(
        "nsys",
        "Nsight Systems was not found: install NVIDIA's package nsight-systems-cli, or name it with --nsys PATH. A "
        "PyTorch program can take a trace without it: torch.profiler.profile(record_shapes=True, "
        "with_modules=True), then export_chrome_trace(\"trace.json\") and `gambrel analyze trace.json`");
}

std::string NsysRun::exported() const { return fs::path(report).replace_extension(".sqlite").string(); }

bool can_record_shapes(const std::string& nsys) {
    const ChildResult help = run_child({nsys, "profile", "--help"}, Echo::no);
    return help.started && help.output.find("--pytorch") != std::string::npos;
}

std::vector<std::string> record_arguments(const NsysRun& run) {
    std::vector<std::string> out = {run.nsys, "profile", "--trace=cuda,nvtx", "--sample=none", "--cpuctxsw=none"};
    if (run.records_shapes) out.emplace_back("--pytorch=autograd-shapes-nvtx");
    out.insert(out.end(), {"--cuda-graph-trace=node", "--force-overwrite=true", "--output=" + run.report});
    out.insert(out.end(), run.program.begin(), run.program.end());
    return out;
}

std::vector<std::string> export_arguments(const NsysRun& run) {
    return {run.nsys, "export", "--type=sqlite", "--force-overwrite=true", "--output=" + run.exported(), run.report};
}

std::string why_no_counters() {
    if (::geteuid() == 0) return {};
    std::ifstream in("/proc/driver/nvidia/params");
    for (std::string line; std::getline(in, line);)
        if (line.starts_with("RmProfilingAdminOnly:") && line.ends_with('1'))
            return "counters are for the administrator on this machine (RmProfilingAdminOnly: 1)";
    return {};
}

}  // namespace gambrel::app
