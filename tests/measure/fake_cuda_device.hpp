// A CUDA device of the stand-in library tests/measure/fakes, whose calls are recorded.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include <gtest/gtest.h>

#include "measure/device.hpp"

namespace gambrel::measure_detail {

class CudaDevice : public testing::Test {
protected:
    void SetUp() override {
        log_ = testing::TempDir() + "/fake_cuda_" + std::to_string(getpid()) + ".log";
        for (const char* name : {"GAMBREL_CUDA_DRIVER", "GAMBREL_NVRTC", "GAMBREL_NVML", "GAMBREL_CUBLASLT"})
            set(name, GAMBREL_FAKE_CUDA);
        set("FAKE_LOG", log_);
    }
    void TearDown() override {
        for (const std::string& name : set_) unsetenv(name.c_str());
        std::filesystem::remove(log_);
    }
    void set(const std::string& name, const std::string& value) {
        setenv(name.c_str(), value.c_str(), 1);
        set_.push_back(name);
    }
    std::vector<std::string> calls() const {
        std::ifstream in(log_);
        std::vector<std::string> all;
        for (std::string line; std::getline(in, line);) all.push_back(line);
        return all;
    }
    std::map<std::string, int> counts() const {
        std::map<std::string, int> all;
        for (const std::string& call : calls()) ++all[call];
        return all;
    }
    static std::string open_error(const char* name = "cuda:0") {
        const auto device = open_device(name);
        return device ? "" : to_text(device.error());
    }
    static Result<Sample> run(Device& device, const Probe& probe, double set, std::int64_t repetitions) {
        auto prepared = device.prepare(probe, Bytes(set));
        if (!prepared) return tl::unexpected(prepared.error());
        if (prepared->probe == nullptr) return failure("refused", prepared->reason);
        return prepared->probe->run(Bytes(set), repetitions);
    }
    std::string log_;
    std::vector<std::string> set_;
};

}  // namespace gambrel::measure_detail
