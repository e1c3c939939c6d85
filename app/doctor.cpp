// What this machine can and cannot do for gambrel: what was found, what follows from it, and the command that fixes it.
// Only looks: opens libraries and reads files, changes nothing.
#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <fmt/format.h>

#include <gambrel/measure.hpp>
#include <gambrel/report.hpp>

#include "app/child_process.hpp"
#include "app/command.hpp"
#include "app/mpi_world.hpp"
#include "app/ncu_tool.hpp"
#include "app/output.hpp"
#include "app/self_test.hpp"

namespace gambrel::app {
namespace {

std::string first_line(const char* path) {
    std::ifstream in(path);
    std::string line;
    std::getline(in, line);
    return line;
}

std::string plural(int count, const char* what) { return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"); }

HealthCheck driver(const GpuSoftware& found) {
    if (!found.driver)
        return {Health::missing, "NVIDIA driver", found.driver_problem,
                "no GPU can be measured or profiled here; reports of other machines can be analysed",
                "install the driver of your distribution (Debian: apt install nvidia-driver), then reboot"};
    const std::string version = fmt::format("CUDA {}.{}, {}", found.cuda_version / 1000, found.cuda_version % 1000 / 10,
                                            plural(found.cuda_devices, "GPU"));
    if (found.cuda_devices > 0) return {Health::good, "NVIDIA driver", version, "gambrel measure --device cuda:0", ""};
    return {Health::poor, "NVIDIA driver",
            found.driver_problem.empty() ? version : fmt::format("{}; {}", version, found.driver_problem),
            "the driver is installed but shows no GPU",
            "nvidia-smi; in a container start it with --gpus all; see CUDA_VISIBLE_DEVICES"};
}

HealthCheck nvrtc(const GpuSoftware& found) {
    if (!found.nvrtc.empty())
        return {Health::good, "NVRTC", found.nvrtc, "CUDA kernels can be compiled for the GPU", ""};
    return {Health::missing, "NVRTC", "libnvrtc.so cannot be opened", "--device cuda:N cannot compile its kernels",
            "install the CUDA toolkit, or: pip install nvidia-cuda-nvrtc-cu12 and add its lib folder to "
            "LD_LIBRARY_PATH"};
}

HealthCheck nvml(const GpuSoftware& found) {
    if (found.nvml)
        return {Health::good, "NVML", "libnvidia-ml.so.1", "clocks, power and throttle reasons are recorded", ""};
    return {Health::missing, "NVML", "libnvidia-ml.so.1 cannot be opened", "GPU clocks and throttling go unrecorded",
            "it comes with the NVIDIA driver"};
}

HealthCheck ncu() {
    const auto tool = find_ncu("");
    if (tool)
        return {Health::good, "Nsight Compute", tool->path + (tool->version ? ", " + to_text(*tool->version) : ""),
                "gambrel profile can run it", ""};
    return {Health::missing, "Nsight Compute", "no ncu on PATH or where installers put it",
            "no profile can be taken here; reports of other machines can be analysed",
            "install Nsight Compute (part of the CUDA toolkit), or give gambrel profile --ncu PATH"};
}

HealthCheck counters() {
    std::ifstream in("/proc/driver/nvidia/params");
    if (!in)
        return {Health::missing, "GPU counters", "the NVIDIA kernel module is not loaded", "ncu cannot measure here",
                ""};
    for (std::string line; std::getline(in, line);)
        if (line.starts_with("RmProfilingAdminOnly: 1"))
            return {
                Health::poor, "GPU counters", "RmProfilingAdminOnly is 1",
                "ncu gives ERR_NVGPUCTRPERM to users who are not root",
                "echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee /etc/modprobe.d/gambrel.conf, "
                "then reboot; or run as root"};
    return {Health::good, "GPU counters", "open to all users", "gambrel profile can read them", ""};
}

HealthCheck opencl(const GpuSoftware& found) {
    if (found.opencl_platforms > 0)
        return {Health::good, "OpenCL", plural(found.opencl_platforms, "platform"), "gambrel measure --device opencl:0",
                ""};
    return {Health::missing, "OpenCL", found.opencl ? "no platform is installed" : "libOpenCL.so.1 cannot be opened",
            "--device opencl:N has nothing to run on", "apt install ocl-icd-libopencl1 pocl-opencl-icd"};
}

HealthCheck governor() {
    const std::string text = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    if (text.empty())
        return {Health::poor, "CPU clock", "the system does not show a governor (a virtual machine?)",
                "clocks are measured, but cannot be held", ""};
    if (text == "performance") return {Health::good, "CPU clock", "governor performance", "host ceilings repeat", ""};
    return {Health::poor, "CPU clock", "governor " + text, "clocks move while the host is measured",
            "sudo cpupower frequency-set -g performance"};
}

HealthCheck huge_pages() {
    const std::string text = first_line("/sys/kernel/mm/transparent_hugepage/enabled");
    const bool there = text.find("[always]") != std::string::npos || text.find("[madvise]") != std::string::npos;
    if (there) return {Health::good, "huge pages", text, "DRAM figures are not bound by address translation", ""};
    return {Health::poor, "huge pages", text.empty() ? "unknown" : text,
            "DRAM bandwidth and latency of the host include address translation",
            "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"};
}

HealthCheck load() {
    double average = 0;
    if (getloadavg(&average, 1) != 1) average = 0;
    const std::string text = fmt::format("load average {:.1f}", average);
    if (average < 0.5) return {Health::good, "other programs", text, "the cores are free", ""};
    return {Health::poor, "other programs", text,
            "they slow samples down; ceilings are taken from the samples that they did not slow, and marked if there "
            "are too few",
            "wait until they end"};
}

HealthCheck mpi() {
    std::string why;
    if (!MpiWorld::available(&why))
        return {Health::missing, "MPI", why, "mpirun gambrel measure starts independent single runs",
                "apt install libopenmpi-dev openmpi-bin, then build again"};
    if (const auto path = find_program("mpirun"))
        return {Health::good, "MPI", *path, "mpirun gambrel measure compares the nodes", ""};
    return {Health::poor, "MPI", "there is a library, but no mpirun on PATH", "srun may start the ranks as well",
            "apt install openmpi-bin"};
}

std::string clocks_text(const GpuClocks& c) {
    const auto mhz = [](const std::optional<unsigned>& v) { return v ? fmt::format("{} MHz", *v) : "unknown"; };
    std::string text = fmt::format("SM clock {} now{}, {} at most", mhz(c.now), c.idle ? " (idle)" : "", mhz(c.most));
    if (c.application) text += fmt::format(", application clock {}", mhz(c.application));
    if (c.persistent) text += fmt::format(", persistence mode {}", *c.persistent ? "on" : "off");
    return text;
}

HealthCheck clocks(std::size_t gpu, const GpuClocks& c) {
    HealthCheck check{Health::poor, fmt::format("clocks of GPU {}", gpu), clocks_text(c), "", ""};
    // An idle GPU falls to a few hundred MHz unless its clock is locked from below.
    const bool held = c.idle && c.now && c.most && 2 * *c.now > *c.most;
    if (held && c.persistent.value_or(true)) {
        check.health = Health::good;
        check.follows = "the clock stays up without work, so it seems locked: ceilings repeat, at this clock";
        return check;
    }
    const unsigned lock = c.by_default.value_or(0) > 0 ? *c.by_default : c.application.value_or(0);
    if (c.by_setting || (c.application && c.most && *c.application < *c.most))
        check.follows = fmt::format(
            "an application clock below the maximum holds it down: ceilings are those of {}, not of the GPU's boost",
            c.application ? fmt::format("{} MHz", *c.application) : "that clock");
    else
        check.follows =
            "nothing shows that the clock is locked (NVML cannot read -lgc): it moves with work, power and heat, "
            "and two runs may differ by some percent. Every ceiling is stored with the clock it was measured at";
    check.fix = fmt::format(
        "sudo nvidia-smi -i {0} -pm 1 && sudo nvidia-smi -i {0} -lgc {1},{1}{2}; see nvidia-smi -q -d CLOCK; "
        "undo with -rgc",
        gpu, lock > 0 ? std::to_string(lock) : "MHZ", lock > 0 ? "" : " (MHZ from nvidia-smi -q -d SUPPORTED_CLOCKS)");
    return check;
}

struct DoctorFlags {
    bool strict = false, self_test = false;
    std::string device;
    std::vector<std::string> files;
};

// The first GPU, or the host where there is none.
std::string first_device() {
    for (const DeviceFound& d : find_devices())
        if (d.argument.starts_with("cuda:")) return d.argument;
    return "cpu";
}

int self_test(const DoctorFlags& flags) {
    Errors wrong;
    for (const std::string& path : flags.files)
        if (!path.ends_with(".json")) wrong.push_back({path, "expected .json, the one file that --self-test writes"});
    if (!wrong.empty()) return bad_input(wrong);
    return run_self_test(flags.device.empty() ? first_device() : flags.device, flags.files, false);
}

int run_doctor(const DoctorFlags& flags) {
    if (flags.self_test) return self_test(flags);
    if (!flags.files.empty() || !flags.device.empty())
        return bad_input({{flags.files.empty() ? "--device" : "-o", "has a meaning only with --self-test"}});

    const GpuSoftware software = find_gpu_software();
    std::vector<HealthCheck> checks{driver(software), nvrtc(software), nvml(software), ncu(),  counters(),
                                    opencl(software), governor(),      huge_pages(),   load(), mpi()};
    for (std::size_t gpu = 0; gpu < software.clocks.size(); ++gpu) checks.push_back(clocks(gpu, software.clocks[gpu]));
    for (const DeviceFound& d : find_devices())
        checks.push_back({Health::good, "device " + d.argument, d.name, "gambrel measure --device " + d.argument, ""});
    if (!print_result(health_text(checks, terminal_style()))) return kBadInput;
    const bool sound = std::all_of(checks.begin(), checks.end(), [](auto& c) { return c.health == Health::good; });
    return flags.strict && !sound ? kNo : kDone;
}

}  // namespace

Action setup_doctor(Parser& command) {
    auto flags = std::make_shared<DoctorFlags>();
    command.add_flag("--strict", flags->strict);
    command.add_flag("--self-test", flags->self_test);
    command.add_option("--device,-d", flags->device);
    command.add_option("-o,--output", flags->files).one_value();
    return [flags] { return run_doctor(*flags); };
}

}  // namespace gambrel::app
