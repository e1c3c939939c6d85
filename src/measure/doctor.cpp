#include <gambrel/doctor.hpp>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <dlfcn.h>
#include <fmt/format.h>

#include <gambrel/measure.hpp>

#include "measure/gpu_clocks.hpp"

namespace gambrel {
namespace {

std::string first_line(const char* path) {
    std::ifstream in(path);
    std::string line;
    std::getline(in, line);
    return line;
}

class Library {
public:
    explicit Library(std::initializer_list<const char*> names) {
        for (const char* name : names)
            if (!handle_) handle_ = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    }
    ~Library() {
        if (handle_) dlclose(handle_);
    }
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;
    explicit operator bool() const { return handle_ != nullptr; }
    template <class F>
    F* function(const char* name) const {
        return handle_ ? reinterpret_cast<F*>(dlsym(handle_, name)) : nullptr;
    }

private:
    void* handle_ = nullptr;
};

std::string cuda_version(int number) { return fmt::format("{}.{}", number / 1000, number % 1000 / 10); }

Finding driver() {
    const Library cuda{"libcuda.so.1", "libcuda.so"};
    Finding f{Health::missing, "NVIDIA driver", "libcuda.so.1 cannot be opened",
              "no GPU can be measured or profiled here; reports of other machines can be analysed",
              "install the driver of your distribution (Debian: apt install nvidia-driver), then reboot"};
    if (!cuda) return f;
    int version = 0, count = 0;
    auto* const init = cuda.function<int(unsigned)>("cuInit");
    auto* const get_version = cuda.function<int(int*)>("cuDriverGetVersion");
    auto* const get_count = cuda.function<int(int*)>("cuDeviceGetCount");
    if (get_version) get_version(&version);
    const int status = init ? init(0) : -1;
    if (status == 0 && get_count) get_count(&count);
    f.found = fmt::format("CUDA {}, {} GPU{}", cuda_version(version), count, count == 1 ? "" : "s");
    if (count > 0) return {Health::good, f.what, f.found, "gambrel measure --device cuda:0", ""};
    f.health = Health::poor;
    f.found += fmt::format(", cuInit gives {}", status);
    f.follows = "the driver is there but shows no GPU";
    f.mend = "nvidia-smi; in a container start it with --gpus all; see CUDA_VISIBLE_DEVICES";
    return f;
}

Finding nvrtc() {
    const Library library{"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"};
    int major = 0, minor = 0;
    if (auto* const version = library.function<int(int*, int*)>("nvrtcVersion");
        version && version(&major, &minor) == 0)
        return {Health::good, "NVRTC", fmt::format("{}.{}", major, minor), "CUDA kernels can be compiled for the GPU",
                ""};
    return {
        Health::missing, "NVRTC", "libnvrtc.so cannot be opened", "--device cuda:N cannot compile its kernels",
        "install the CUDA toolkit, or: pip install nvidia-cuda-nvrtc-cu12 and add its lib folder to LD_LIBRARY_PATH"};
}

Finding nvml() {
    const Library library{"libnvidia-ml.so.1", "libnvidia-ml.so"};
    if (library)
        return {Health::good, "NVML", "libnvidia-ml.so.1", "clocks, power and throttle reasons are recorded", ""};
    return {Health::missing, "NVML", "libnvidia-ml.so.1 cannot be opened", "GPU clocks and throttling go unrecorded",
            "it comes with the NVIDIA driver"};
}

Finding counters() {
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

Finding opencl() {
    const Library library{"libOpenCL.so.1", "libOpenCL.so"};
    unsigned platforms = 0;
    if (auto* const get = library.function<int(unsigned, void*, unsigned*)>("clGetPlatformIDs"))
        get(0, nullptr, &platforms);
    if (platforms > 0)
        return {Health::good, "OpenCL", fmt::format("{} platform{}", platforms, platforms == 1 ? "" : "s"),
                "gambrel measure --device opencl:0", ""};
    return {Health::missing, "OpenCL", library ? "no platform is installed" : "libOpenCL.so.1 cannot be opened",
            "--device opencl:N has nothing to run on", "apt install ocl-icd-libopencl1 pocl-opencl-icd"};
}

Finding governor() {
    const std::string text = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    if (text.empty())
        return {Health::poor, "CPU clock", "the system does not show a governor (a virtual machine?)",
                "clocks are measured, but cannot be held", ""};
    if (text == "performance") return {Health::good, "CPU clock", "governor performance", "host ceilings repeat", ""};
    return {Health::poor, "CPU clock", "governor " + text, "clocks move while the host is measured",
            "sudo cpupower frequency-set -g performance"};
}

Finding huge_pages() {
    const std::string text = first_line("/sys/kernel/mm/transparent_hugepage/enabled");
    const bool there = text.find("[always]") != std::string::npos || text.find("[madvise]") != std::string::npos;
    if (there) return {Health::good, "huge pages", text, "DRAM figures are not bound by address translation", ""};
    return {Health::poor, "huge pages", text.empty() ? "unknown" : text,
            "DRAM bandwidth and latency of the host include address translation",
            "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"};
}

Finding load() {
    double average = 0;
    if (getloadavg(&average, 1) != 1) average = 0;
    const std::string text = fmt::format("load average {:.1f}", average);
    if (average < 0.5) return {Health::good, "other programs", text, "the cores are free", ""};
    return {Health::poor, "other programs", text, "runs that they disturb are set aside, and fewer are left",
            "wait until they end"};
}

}  // namespace

std::vector<Finding> examine() {
    std::vector<Finding> all{driver(), nvrtc(), nvml(), counters(), opencl(), governor(), huge_pages(), load()};
    for (Finding& f : measure_detail::gpu_clock_findings()) all.push_back(std::move(f));
    for (const DeviceFound& d : find_devices())
        all.push_back({Health::good, "device " + d.argument, d.name, "gambrel measure --device " + d.argument, ""});
    return all;
}

}  // namespace gambrel
