#include "app/ncu_tool.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>
#include <gambrel/machine.hpp>

#include "app/child_process.hpp"

namespace gambrel::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNoNcu =
    "not found in PATH, $CUDA_HOME/bin, /usr/local/cuda*/bin or /opt/nvidia/nsight-compute. It is NVIDIA's profiler "
    "Nsight Compute: part of "
    "the CUDA Toolkit, package nsight-compute of Debian and Ubuntu, or module cuda or nvhpc on a cluster. Name it with "
    "--ncu PATH, or see "
    "the command with --dry-run and run it where ncu is";

std::vector<std::string> installed_places() {
    std::vector<std::string> places;
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
        if (const char* home = std::getenv(variable); home && *home) places.push_back(std::string(home) + "/bin/ncu");
    // Newest first: versions in folder names compare as numbers, "12.10" after "12.9".
    const auto folders = [&](const char* parent, const std::string& prefix, const char* file) {
        std::vector<std::pair<std::vector<int>, std::string>> found;
        std::error_code ec;
        for (fs::directory_iterator it(parent, ec), end; !ec && it != end; it.increment(ec)) {
            const fs::path entry = it->path();
            std::string folder = entry.filename().string();
            if (!folder.starts_with(prefix)) continue;
            std::replace_if(
                folder.begin(), folder.end(), [](unsigned char c) { return !std::isdigit(c); }, ' ');
            std::istringstream digits(folder);
            std::vector<int> version;
            for (int n = 0; digits >> n;) version.push_back(n);
            found.emplace_back(std::move(version), (entry / file).string());
        }
        std::sort(found.rbegin(), found.rend());
        for (auto& f : found) places.push_back(std::move(f.second));
    };
    folders("/usr/local", "cuda", "bin/ncu");
    folders("/opt/nvidia/nsight-compute", "", "ncu");
    places.emplace_back("/usr/lib/nsight-compute/ncu");
    return places;
}

std::string trimmed(const std::string& text) {
    const auto first = text.find_first_not_of(" \t\r");
    if (first == std::string::npos) return "";
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

void add_chip(TargetGpu& gpu) {
    if (const Machine* known = find_in_catalogue(gpu.name)) gpu.chip = known->chip;
}

// "NVIDIA A100-SXM4-40GB, 8.0"; drivers before 510 do not know compute_cap, and then the catalogue must.
std::optional<TargetGpu> gpu_of_line(const std::string& line) {
    TargetGpu gpu;
    const auto comma = line.rfind(',');
    const auto cc =
        comma == std::string::npos ? std::nullopt : parse_compute_capability(trimmed(line.substr(comma + 1)));
    gpu.name = trimmed(cc ? line.substr(0, comma) : line);
    add_chip(gpu);
    if (cc) {
        gpu.cc = *cc;
        return gpu;
    }
    const Machine* known = find_in_catalogue(gpu.name);
    if (!known || !known->compute_capability) return std::nullopt;
    gpu.cc = *known->compute_capability;
    return gpu;
}

std::vector<TargetGpu> gpus_of_driver() {
    const auto smi = find_program("nvidia-smi");
    if (!smi) return {};
    for (const char* query : {"--query-gpu=name,compute_cap", "--query-gpu=name"}) {
        const ChildResult run = run_child({*smi, query, "--format=csv,noheader"}, Echo::no);
        if (!run.started || run.status != 0 || run.signal != 0) continue;
        std::vector<TargetGpu> gpus;
        std::istringstream lines(run.output);
        for (std::string line; std::getline(lines, line);)
            if (auto gpu = gpu_of_line(line)) gpus.push_back(std::move(*gpu));
        if (!gpus.empty()) return gpus;
    }
    return {};
}

Result<TargetGpu> gpu_of_flags(const std::string& machine, const std::string& cc) {
    TargetGpu gpu;
    std::optional<ComputeCapability> known;
    if (!machine.empty()) {
        const auto named = machine_from(machine);
        if (!named) return tl::unexpected(named.error());
        gpu.name = named->name;
        known = named->compute_capability;
        gpu.chip = named->chip;
    }
    if (!cc.empty()) {
        const auto parsed = parse_compute_capability(cc);
        if (!parsed)
            return failure("--cc",
                           fmt::format("\"{}\" is not a valid compute capability: expected one such as 8.0", cc));
        if (known && *parsed != *known) gpu.chip.clear();
        known = parsed;
    }
    if (!known)
        return failure("--gpu",
                       fmt::format("{} has no compute capability; give it with --cc, such as --cc 8.0", gpu.name));
    gpu.cc = *known;
    return gpu;
}

}  // namespace

Result<NcuTool> find_ncu(const std::string& flag) {
    std::optional<std::string> path = find_program(flag.empty() ? "ncu" : flag);
    if (!flag.empty() && !path) return failure("--ncu", fmt::format("\"{}\" is not a program that can be run", flag));
    if (!path)
        for (const auto& place : installed_places())
            if (!path && is_executable(place)) path = place;
    if (!path) return failure("ncu", kNoNcu);
    const ChildResult run = run_child({*path, "--version"}, Echo::no);
    // npm-check-updates installs a program of the same name.
    if (run.started && run.output.find("Nsight Compute") == std::string::npos && !parse_ncu_version(run.output))
        return failure(
            *path,
            fmt::format(
                "is not NVIDIA's ncu, or does not run: --version says \"{}\". Name the right one with --ncu PATH",
                run.output.substr(0, run.output.find('\n'))));
    return NcuTool{*path, run.started ? parse_ncu_version(run.output) : std::nullopt};
}

Result<TargetGpu> find_gpu(const std::string& machine, const std::string& cc) {
    if (!machine.empty() || !cc.empty()) return gpu_of_flags(machine, cc);
    auto gpus = gpus_of_driver();
    if (gpus.empty())
        return failure(
            "GPU",
            "nvidia-smi was not found, or names no GPU that gambrel knows. On a cluster ask for a node with a "
            "GPU; to see the "
            "command for one that is not here, name it: --gpu a100, or --cc 8.0, with --dry-run");
    TargetGpu gpu = gpus.front();
    const bool alike =
        std::all_of(gpus.begin(), gpus.end(), [&](const auto& g) { return g.cc == gpu.cc && g.chip == gpu.chip; });
    if (!alike)
        gpu.notes.push_back(fmt::format(
            "this machine has GPUs of several kinds; the metrics are those of {}; --gpu names another", gpu.name));
    return gpu;
}

}  // namespace gambrel::app
