// A test with a GPU: one that executes PTX (tests/measure/ptx_device), with a real NVRTC before it. Skips, with the
// reason, where there is no NVRTC.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "measure/characterize.hpp"
#include "measure/device.hpp"

namespace gambrel::measure_detail {

// NVRTC "12.9", as tools/fetch_nvidia.sh brings it or tools/fetch_nvrtc.sh, which brings the others. "" if it is not
// there.
inline std::string nvrtc_library(const std::string& version) {
    namespace fs = std::filesystem;
    fs::path folder = fs::path(GAMBREL_NVRTC_VERSIONS) / version;
    if (version == "12.9" && !fs::exists(folder)) folder = GAMBREL_NVIDIA_TOOLS;
    for (const char* name : {"nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "nvidia/cuda_nvrtc/lib/libnvrtc.so.11.2",
                             "nvidia/cu13/lib/libnvrtc.so.13"})
        if (fs::exists(folder / name)) return (folder / name).string();
    if (version == "13.0" && fs::exists("/usr/local/cuda-13.0/lib64/libnvrtc.so.13"))
        return "/usr/local/cuda-13.0/lib64/libnvrtc.so.13";
    return {};
}

class PtxGpu : public testing::Test {
protected:
    void SetUp() override { use_compiler("12.9"); }
    void TearDown() override {
        for (const std::string& name : set_) unsetenv(name.c_str());
    }
    void use_compiler(const std::string& version) {
        const std::string library = nvrtc_library(version);
        if (library.empty()) GTEST_SKIP() << "NVRTC " << version << " not found; tools/fetch_nvidia.sh fetches it";
        set("NVRTC_LIBRARY", library);
        set("GAMBREL_CUDA_DRIVER", GAMBREL_PTX_DEVICE);
        set("GAMBREL_NVRTC", GAMBREL_NVRTC_AS_PTX);
        set("PTX_CACHE", GAMBREL_PTX_CACHE);
        set("GAMBREL_NVML", "/nowhere/libnvidia-ml.so");
        set("GAMBREL_CUBLASLT", "/nowhere/libcublasLt.so");
    }
    void set(const std::string& name, const std::string& value) {
        setenv(name.c_str(), value.c_str(), 1);
        set_.push_back(name);
    }
    void set(const std::string& name, double value) { set(name, std::to_string(value)); }

    static Result<Sample> run(Device& device, const Probe& probe, double set, std::int64_t repetitions) {
        auto prepared = device.prepare(probe, Bytes(set));
        if (!prepared) return tl::unexpected(prepared.error());
        if (prepared->probe == nullptr) return failure("refused", prepared->reason);
        return prepared->probe->run(Bytes(set), repetitions);
    }

private:
    std::vector<std::string> set_;
};

}  // namespace gambrel::measure_detail
