// Does the CUDA device call the driver, NVRTC, NVML and cuBLASLt in the right order, and say what went wrong when one
// fails? There is no GPU: tests/measure/fakes/fake_cuda.cpp stands for all four libraries.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <gambrel/doctor.hpp>

#include "measure/cuda/nvml.hpp"
#include "measure/device.hpp"

namespace gambrel::measure_detail {
namespace {

using testing::HasSubstr;

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

TEST_F(CudaDevice, IsDescribedByWhatTheDriverSays) {
    set("FAKE_NAME", "NVIDIA A100-SXM4-40GB");
    const auto device = open_device("cuda:0");
    ASSERT_TRUE(device) << to_text(device.error());
    const DeviceInfo& info = (*device)->info();
    EXPECT_EQ(info.kind, "cuda");
    EXPECT_EQ(info.id, "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f");
    EXPECT_EQ(info.units, 2);
    EXPECT_THAT(info.detail, HasSubstr("compute capability 8.0, driver 575.57.08 (CUDA 12.9), NVRTC 12.9 for sm_80"));
    ASSERT_TRUE(info.theoretical);
    EXPECT_EQ(info.theoretical->id, "a100-sxm4-40gb");
    ASSERT_EQ(info.levels.size(), 4U);
    EXPECT_EQ(info.levels[1].level, Level::l1);
    EXPECT_EQ(info.levels[1].capacity.value(), 192 * 1024);
    EXPECT_EQ(info.levels[2].capacity.value(), 1 << 20);
    EXPECT_EQ(info.levels[2].sharers, 2);
}

TEST_F(CudaDevice, ProvesEveryKindOfProbe) {
    auto device = open_device("cuda:0");
    ASSERT_TRUE(device) << to_text(device.error());
    const std::vector<std::pair<Probe, double>> probes{
        {{.action = Action::fma, .pipe = Pipe::fp64}, 0},
        {{.action = Action::fma, .pipe = Pipe::fp32}, 0},
        {{.action = Action::add, .pipe = Pipe::fp32}, 0},
        {{.action = Action::multiply, .pipe = Pipe::fp64}, 0},
        {{.action = Action::mma, .pipe = Pipe::tensor_fp16, .matrix = MatrixPath::warp}, 0},
        {{.action = Action::mma, .pipe = Pipe::tensor_fp64, .matrix = MatrixPath::warp}, 0},
        {{.action = Action::load, .level = Level::l1}, 49152},
        {{.action = Action::load, .spread = Spread::whole}, 300000},
        {{.action = Action::store, .spread = Spread::split}, 400000},
        {{.action = Action::copy, .spread = Spread::split}, 400000},
        {{.action = Action::chase, .level = Level::l2}, 8192},
        {{.action = Action::empty}, 0},
        {{.action = Action::host_to_device}, 4096},
        {{.action = Action::device_to_host}, 4096},
        {{.action = Action::gemm, .pipe = Pipe::fp32, .matrix = MatrixPath::library, .extent = 64}, 0}};
    for (const auto& [probe, set] : probes) {
        const auto sample = run(**device, probe, set, 32);
        ASSERT_TRUE(sample) << title(probe) << ": " << to_text(sample.error());
        EXPECT_FALSE(sample->fault) << title(probe) << ": " << *sample->fault;
        EXPECT_GT(sample->time.value(), 0) << title(probe);
        if (probe.action == Action::fma) {
            ASSERT_TRUE(sample->clock) << title(probe);
            EXPECT_DOUBLE_EQ(sample->clock->value(), 1e9) << "a million cycles in a millisecond";
        }
    }
    // 2 SMs, 2 groups of 8 warps, 32 products of 16 x 8 x 16 a trip.
    const auto tensor =
        run(**device, {.action = Action::mma, .pipe = Pipe::tensor_fp16, .matrix = MatrixPath::warp}, 0, 10);
    EXPECT_DOUBLE_EQ(tensor->flop, 2.0 * 2 * 8 * 32 * (2 * 16 * 8 * 16) * 10);
}

TEST_F(CudaDevice, GivesBackEverythingThatItTook) {
    {
        auto device = open_device("cuda:0");
        ASSERT_TRUE(device);
        (void)run(**device, {.action = Action::fma, .pipe = Pipe::fp32}, 0, 2);
        (void)run(**device, {.action = Action::copy, .spread = Spread::split}, 400000, 2);
        (void)run(**device, {.action = Action::host_to_device}, 4096, 2);
        (void)run(**device, {.action = Action::gemm, .pipe = Pipe::fp32, .extent = 32}, 0, 1);
    }
    auto made = counts();
    const auto pair = [&](const char* take, const char* give) {
        EXPECT_GT(made[take], 0) << take;
        EXPECT_EQ(made[take], made[give]) << take << " and " << give;
    };
    pair("cuMemAlloc_v2", "cuMemFree_v2");
    pair("cuMemAllocHost_v2", "cuMemFreeHost");
    pair("cuModuleLoadData", "cuModuleUnload");
    pair("cuEventCreate", "cuEventDestroy_v2");
    pair("cuStreamCreate", "cuStreamDestroy_v2");
    pair("cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRelease_v2");
    pair("nvrtcCreateProgram", "nvrtcDestroyProgram");
    pair("nvmlInit_v2", "nvmlShutdown");
    pair("cublasLtCreate", "cublasLtDestroy");
    pair("cublasLtMatrixLayoutCreate", "cublasLtMatrixLayoutDestroy");
    pair("cublasLtMatmulDescCreate", "cublasLtMatmulDescDestroy");
    EXPECT_EQ(calls().front(), "cuInit");
}

TEST_F(CudaDevice, FindsOutAKernelThatDidNothing) {
    auto device = open_device("cuda:0");
    ASSERT_TRUE(device);
    const std::vector<std::pair<std::string, Probe>> broken{
        {"arithmetic", {.action = Action::fma, .pipe = Pipe::fp32}},
        {"tensor_mma", {.action = Action::mma, .pipe = Pipe::tensor_fp16}},
        {"load", {.action = Action::load}},
        {"store", {.action = Action::store, .spread = Spread::split}},
        {"copy", {.action = Action::copy, .spread = Spread::split}},
        {"chase", {.action = Action::chase, .level = Level::l2}},
        {"nothing", {.action = Action::empty}},
        {"cublasLtMatmul", {.action = Action::gemm, .pipe = Pipe::fp32, .extent = 32}}};
    for (const auto& [kernel, probe] : broken) {
        auto prepared = (*device)->prepare(probe, Bytes(400000));
        ASSERT_TRUE(prepared && prepared->probe != nullptr) << kernel;
        const auto good = prepared->probe->run(Bytes(400000), 4);
        ASSERT_TRUE(good) << kernel << to_text(good.error());
        EXPECT_FALSE(good->fault) << kernel << ": " << *good->fault;
        set("FAKE_BROKEN", kernel);
        const auto bad = prepared->probe->run(Bytes(400000), 4);
        unsetenv("FAKE_BROKEN");
        ASSERT_TRUE(bad) << kernel << to_text(bad.error());
        ASSERT_TRUE(bad->fault) << kernel
                                << " did nothing and was believed, because the result of the run before was there";
        EXPECT_THAT(*bad->fault, HasSubstr("expected")) << kernel;
    }
}

TEST_F(CudaDevice, SaysWhatHoldsTheClockDown) {
    set("FAKE_THROTTLE", "0x4");
    auto device = open_device("cuda:0");
    const auto sample = run(**device, {.action = Action::fma, .pipe = Pipe::fp32}, 0, 2);
    ASSERT_TRUE(sample && sample->throttled);
    EXPECT_EQ(*sample->throttled, "power cap (299 W of 300 W)");
    EXPECT_EQ(throttle_text(0x3), "") << "idle, and clocks set by the user";
    EXPECT_EQ(throttle_text(0x48), "hardware slowdown, thermal slowdown");
}

TEST_F(CudaDevice, WithoutNvmlMeasuresJustAsWell) {
    set("GAMBREL_NVML", "/nowhere/libnvidia-ml.so");
    auto device = open_device("cuda:0");
    ASSERT_TRUE(device) << to_text(device.error());
    EXPECT_THAT((*device)->info().detail, HasSubstr("without NVML"));
    const auto sample = run(**device, {.action = Action::fma, .pipe = Pipe::fp32}, 0, 2);
    ASSERT_TRUE(sample) << to_text(sample.error());
    EXPECT_FALSE(sample->fault);
    EXPECT_FALSE(sample->throttled);
}

TEST_F(CudaDevice, MissingLibrariesAreNamedWithWhereTheyComeFrom) {
    set("GAMBREL_CUDA_DRIVER", "/nowhere/libcuda.so.1");
    EXPECT_THAT(open_error(), HasSubstr("/nowhere/libcuda.so.1"));
    EXPECT_THAT(open_error(), HasSubstr("comes with NVIDIA's driver"));
    set("GAMBREL_CUDA_DRIVER", GAMBREL_FAKE_CUDA);
    set("GAMBREL_NVRTC", "/nowhere/libnvrtc.so");
    EXPECT_THAT(open_error(), HasSubstr("/nowhere/libnvrtc.so"));
    EXPECT_THAT(open_error(), HasSubstr("GAMBREL_NVRTC"));
    set("GAMBREL_NVRTC", "libm.so.6");
    EXPECT_THAT(open_error(), HasSubstr("lacks nvrtcVersion"));
}

TEST_F(CudaDevice, NoDeviceAndABrokenDriverAreSaid) {
    set("FAKE_DEVICES", "0");
    EXPECT_THAT(open_error(), HasSubstr("no device was found"));
    EXPECT_TRUE(find_devices().empty() || find_devices().front().argument.find("cuda") == std::string::npos);
    set("FAKE_DEVICES", "2");
    EXPECT_THAT(open_error("cuda:2"), HasSubstr("expected cuda:0 to cuda:1"));
    set("FAKE_FAIL", "cuInit:100");
    EXPECT_THAT(open_error(), HasSubstr("cuInit failed: CUDA_ERROR_NO_DEVICE (100)"));
    set("FAKE_FAIL", "cuDevicePrimaryCtxRetain:2");
    EXPECT_THAT(open_error(), HasSubstr("CUDA_ERROR_OUT_OF_MEMORY (2): out of memory"));
}

TEST_F(CudaDevice, AFailureOfOneCallEndsTheProbeAndNamesTheCall) {
    auto device = open_device("cuda:0");
    for (const char* call :
         {"cuMemAlloc_v2", "cuModuleLoadData", "cuModuleGetFunction", "cuLaunchKernel", "cuEventRecord",
          "cuEventSynchronize", "cuEventElapsedTime", "cuMemcpyDtoH_v2", "nvrtcCreateProgram"}) {
        set("FAKE_FAIL", std::string(call) + ":2");
        const auto sample = run(**device, {.action = Action::fma, .pipe = Pipe::fp32}, 0, 2);
        ASSERT_FALSE(sample) << call;
        EXPECT_THAT(to_text(sample.error()), HasSubstr("failed")) << call;
        unsetenv("FAKE_FAIL");
    }
    EXPECT_TRUE(run(**device, {.action = Action::fma, .pipe = Pipe::fp32}, 0, 2)) << "the device lives on";
}

TEST_F(CudaDevice, AKernelThatDoesNotCompileShowsTheCompilersLog) {
    auto device = open_device("cuda:0");
    set("FAKE_FAIL", "nvrtcCompileProgram:6");
    const auto sample = run(**device, {.action = Action::fma, .pipe = Pipe::fp32}, 0, 2);
    ASSERT_FALSE(sample);
    EXPECT_THAT(to_text(sample.error()), HasSubstr("does not compile for sm_80: NVRTC_ERROR_COMPILATION"));
    EXPECT_THAT(to_text(sample.error()), HasSubstr("identifier \"x\" is undefined"));
    EXPECT_EQ(counts()["nvrtcCreateProgram"], counts()["nvrtcDestroyProgram"]);
}

TEST_F(CudaDevice, AnOldCompilerMakesPtxAndLosesOnlyTheNewestInstructions) {
    set("FAKE_CC", "120");
    set("FAKE_ARCHS", "75,80,86,89,90");
    auto device = open_device("cuda:0");
    ASSERT_TRUE(device) << to_text(device.error());
    EXPECT_THAT((*device)->info().detail, HasSubstr("for compute_90"));
    const auto sample = run(**device, {.action = Action::mma, .pipe = Pipe::tensor_fp16}, 0, 2);
    ASSERT_TRUE(sample) << to_text(sample.error());
    EXPECT_FALSE(sample->fault) << "mma, not wgmma, which needs sm_90a";
    EXPECT_GT(counts()["nvrtcGetPTX"], 0);
    EXPECT_EQ(counts()["nvrtcGetCUBIN"], 0);
    EXPECT_FALSE(run(**device, {.action = Action::mma, .pipe = Pipe::tensor_fp4}, 0, 2));
    set("FAKE_CC", "60");
    EXPECT_THAT(open_error(), HasSubstr("knows no architecture that a GPU of compute capability 6.0 can run"));
}

TEST_F(CudaDevice, TheStrongestInstructionsAreAskedForByTheNameOfTheArchitecture) {
    set("FAKE_CC", "90");
    auto device = open_device("cuda:0");
    (void)run(**device, {.action = Action::mma, .pipe = Pipe::tensor_fp8}, 0, 1);
    EXPECT_GT(counts()["option --gpu-architecture=sm_90a"], 0);
}

TEST_F(CudaDevice, WhatTheArchitectureLacksIsRefusedWithAReason) {
    auto device = open_device("cuda:0");
    const auto reason = [&](const Probe& probe) {
        auto prepared = (*device)->prepare(probe, Bytes(4096));
        return prepared && prepared->probe == nullptr ? prepared->reason : "not refused";
    };
    EXPECT_THAT(reason({.action = Action::mma, .pipe = Pipe::tensor_fp8}), HasSubstr("8.0 has no such instruction"));
    EXPECT_THAT(reason({.action = Action::mma, .pipe = Pipe::tensor_fp16, .matrix = MatrixPath::warpgroup}),
                HasSubstr("8.0"));
    EXPECT_THAT(reason({.action = Action::load, .vector_bytes = 8}), HasSubstr("8 B"));
    set("GAMBREL_CUBLASLT", "/nowhere/libcublasLt.so");
    EXPECT_THAT(reason({.action = Action::gemm, .pipe = Pipe::fp32, .extent = 64}),
                HasSubstr("/nowhere/libcublasLt.so"));
    set("GAMBREL_CUBLASLT", GAMBREL_FAKE_CUDA);
    EXPECT_THAT(reason({.action = Action::gemm, .pipe = Pipe::tensor_fp8, .extent = 32}),
                HasSubstr("8.0 has no such instruction"));
}

TEST_F(CudaDevice, LibraryProductsOfEveryTypeKeepTheLibrarysRules) {
    set("FAKE_CC", "90");
    auto device = open_device("cuda:0");
    ASSERT_TRUE(device) << to_text(device.error());
    for (const Pipe pipe :
         {Pipe::fp32, Pipe::tensor_tf32, Pipe::tensor_fp16, Pipe::tensor_bf16, Pipe::tensor_fp8, Pipe::tensor_int8}) {
        const auto sample = run(**device, {.action = Action::gemm, .pipe = pipe, .extent = 48}, 0, 2);
        ASSERT_TRUE(sample) << title(pipe) << ": " << to_text(sample.error());
        EXPECT_FALSE(sample->fault) << title(pipe) << ": " << *sample->fault;
        EXPECT_DOUBLE_EQ(sample->flop, 2 * 2.0 * 48 * 48 * 48);
    }
    EXPECT_EQ(counts()["product of type 28 to 0"], 2) << "E4M3 to FP32";
    EXPECT_EQ(counts()["product of type 3 to 10"], 2) << "INT8 to INT32";
    set("FAKE_BROKEN", "cublasLtMatmul");
    const auto bad = run(**device, {.action = Action::gemm, .pipe = Pipe::tensor_fp8, .extent = 32}, 0, 1);
    ASSERT_TRUE(bad);
    EXPECT_TRUE(bad->fault);
}

TEST_F(CudaDevice, ALibraryTooOldForATypeIsAReasonAndNoFault) {
    set("FAKE_CC", "90");
    set("FAKE_LT_OLD", "1");
    auto device = open_device("cuda:0");
    const auto fp8 = (*device)->prepare({.action = Action::gemm, .pipe = Pipe::tensor_fp8, .extent = 32}, Bytes(0));
    ASSERT_TRUE(fp8) << to_text(fp8.error());
    EXPECT_EQ(fp8->probe, nullptr);
    EXPECT_THAT(fp8->reason, HasSubstr("knows no such matrices"));
    EXPECT_TRUE(run(**device, {.action = Action::gemm, .pipe = Pipe::tensor_int8, .extent = 32}, 0, 1));
}

TEST_F(CudaDevice, TensorTypesThatTheGpuLacksAreNotMeasuredByAFallback) {
    set("FAKE_CC", "70");
    set("FAKE_ARCHS", "70,75,80");
    auto device = open_device("cuda:0");
    ASSERT_TRUE(device) << to_text(device.error());
    const auto tf32 = (*device)->prepare({.action = Action::gemm, .pipe = Pipe::tensor_tf32, .extent = 32}, Bytes(0));
    ASSERT_TRUE(tf32);
    EXPECT_EQ(tf32->probe, nullptr) << "cuBLASLt would take FP32";
}

TEST_F(CudaDevice, TheDoctorTellsWhetherAClockSeemsHeld) {
    const auto clocks = [] {
        for (const Finding& f : examine())
            if (f.what == "clocks of GPU 0") return f;
        return Finding{};
    };
    set("FAKE_CLOCK", "210");
    set("FAKE_THROTTLE", "0x1");  // idle
    Finding f = clocks();
    EXPECT_EQ(f.health, Health::poor);
    EXPECT_EQ(f.found,
              "SM clock 210 MHz now (idle), 1410 MHz at most, application clock 1410 MHz, persistence mode off");
    EXPECT_THAT(f.follows, HasSubstr("nothing shows that the clock is locked"));
    EXPECT_THAT(f.mend, HasSubstr("sudo nvidia-smi -i 0 -pm 1 && sudo nvidia-smi -i 0 -lgc 1095,1095"));
    set("FAKE_CLOCK", "1095");
    set("FAKE_PERSISTENCE", "1");
    f = clocks();
    EXPECT_EQ(f.health, Health::good) << "idle and yet not slow";
    EXPECT_EQ(f.mend, "");
    set("FAKE_FAIL", "nvmlDeviceGetApplicationsClock:3");  // not supported by consumer GPUs
    EXPECT_EQ(clocks().found, "SM clock 1095 MHz now (idle), 1410 MHz at most, persistence mode on");
}

}  // namespace
}  // namespace gambrel::measure_detail
