// Does the CUDA device call the driver, NVRTC, NVML and cuBLASLt in the right order, and say what went wrong when one
// fails? There is no GPU: tests/measure/fakes/fake_cuda.cpp stands for all four libraries.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <gambrel/measure.hpp>

#include "measure/cuda/nvml.hpp"
#include "measure/fake_cuda_device.hpp"

namespace gambrel::measure_detail {
namespace {

using testing::HasSubstr;

TEST_F(CudaDevice, is_described_by_what_the_driver_says) {
    set("FAKE_NAME", "NVIDIA A100-SXM4-40GB");
    const auto device = open_device("cuda:0");
    ASSERT_TRUE(device) << to_text(device.error());
    const DeviceInfo& info = (*device)->info();
    EXPECT_EQ(info.kind, DeviceKind::cuda);
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

TEST_F(CudaDevice, proves_every_kind_of_probe) {
    auto device = open_device("cuda:0");
    ASSERT_TRUE(device) << to_text(device.error());
    const std::vector<std::pair<Probe, double>> probes{
        {{.action = ProbeAction::fma, .pipe = Pipe::fp64}, 0},
        {{.action = ProbeAction::fma, .pipe = Pipe::fp32}, 0},
        {{.action = ProbeAction::add, .pipe = Pipe::fp32}, 0},
        {{.action = ProbeAction::multiply, .pipe = Pipe::fp64}, 0},
        {{.action = ProbeAction::mma, .pipe = Pipe::tensor_fp16, .matrix = MatrixPath::warp}, 0},
        {{.action = ProbeAction::mma, .pipe = Pipe::tensor_fp64, .matrix = MatrixPath::warp}, 0},
        {{.action = ProbeAction::load, .level = Level::l1}, 49152},
        {{.action = ProbeAction::load, .sharing = WorkingSetSharing::whole}, 300000},
        {{.action = ProbeAction::store, .sharing = WorkingSetSharing::split}, 400000},
        {{.action = ProbeAction::copy, .sharing = WorkingSetSharing::split}, 400000},
        {{.action = ProbeAction::chase, .level = Level::l2}, 8192},
        {{.action = ProbeAction::empty}, 0},
        {{.action = ProbeAction::host_to_device}, 4096},
        {{.action = ProbeAction::device_to_host}, 4096},
        {{.action = ProbeAction::gemm, .pipe = Pipe::fp32, .matrix = MatrixPath::library, .extent = 64}, 0}};
    for (const auto& [probe, set] : probes) {
        const auto sample = run(**device, probe, set, 32);
        ASSERT_TRUE(sample) << title(probe) << ": " << to_text(sample.error());
        EXPECT_FALSE(sample->fault) << title(probe) << ": " << *sample->fault;
        EXPECT_GT(sample->time.value(), 0) << title(probe);
        if (probe.action == ProbeAction::fma) {
            ASSERT_TRUE(sample->clock) << title(probe);
            EXPECT_DOUBLE_EQ(sample->clock->value(), 1e9) << "a million cycles in a millisecond";
        }
    }
    // 2 SMs, 2 groups of 8 warps, 32 products of 16 x 8 x 16 a trip.
    const auto tensor =
        run(**device, {.action = ProbeAction::mma, .pipe = Pipe::tensor_fp16, .matrix = MatrixPath::warp}, 0, 10);
    EXPECT_DOUBLE_EQ(tensor->flop, 2.0 * 2 * 8 * 32 * (2 * 16 * 8 * 16) * 10);
}

TEST_F(CudaDevice, gives_back_everything_that_it_took) {
    {
        auto device = open_device("cuda:0");
        ASSERT_TRUE(device);
        (void)run(**device, {.action = ProbeAction::fma, .pipe = Pipe::fp32}, 0, 2);
        (void)run(**device, {.action = ProbeAction::copy, .sharing = WorkingSetSharing::split}, 400000, 2);
        (void)run(**device, {.action = ProbeAction::host_to_device}, 4096, 2);
        (void)run(**device, {.action = ProbeAction::gemm, .pipe = Pipe::fp32, .extent = 32}, 0, 1);
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

TEST_F(CudaDevice, finds_out_a_kernel_that_did_nothing) {
    auto device = open_device("cuda:0");
    ASSERT_TRUE(device);
    const std::vector<std::pair<std::string, Probe>> broken{
        {"arithmetic", {.action = ProbeAction::fma, .pipe = Pipe::fp32}},
        {"tensor_mma", {.action = ProbeAction::mma, .pipe = Pipe::tensor_fp16}},
        {"load", {.action = ProbeAction::load}},
        {"store", {.action = ProbeAction::store, .sharing = WorkingSetSharing::split}},
        {"copy", {.action = ProbeAction::copy, .sharing = WorkingSetSharing::split}},
        {"chase", {.action = ProbeAction::chase, .level = Level::l2}},
        {"nothing", {.action = ProbeAction::empty}},
        {"cublasLtMatmul", {.action = ProbeAction::gemm, .pipe = Pipe::fp32, .extent = 32}}};
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

TEST_F(CudaDevice, says_what_holds_the_clock_down) {
    set("FAKE_THROTTLE", "0x4");
    auto device = open_device("cuda:0");
    const auto sample = run(**device, {.action = ProbeAction::fma, .pipe = Pipe::fp32}, 0, 2);
    ASSERT_TRUE(sample && sample->throttled);
    EXPECT_EQ(*sample->throttled, "power cap (299 W of 300 W)");
    EXPECT_EQ(throttle_text(0x3), "") << "idle, and clocks set by the user";
    EXPECT_EQ(throttle_text(0x48), "hardware slowdown, thermal slowdown");
}

TEST_F(CudaDevice, without_nvml_measures_just_as_well) {
    set("GAMBREL_NVML", "/nowhere/libnvidia-ml.so");
    auto device = open_device("cuda:0");
    ASSERT_TRUE(device) << to_text(device.error());
    EXPECT_THAT((*device)->info().detail, HasSubstr("without NVML"));
    const auto sample = run(**device, {.action = ProbeAction::fma, .pipe = Pipe::fp32}, 0, 2);
    ASSERT_TRUE(sample) << to_text(sample.error());
    EXPECT_FALSE(sample->fault);
    EXPECT_FALSE(sample->throttled);
}

TEST_F(CudaDevice, missing_libraries_are_named_with_where_they_come_from) {
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

TEST_F(CudaDevice, no_device_and_a_broken_driver_are_said) {
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

TEST_F(CudaDevice, a_failure_of_one_call_ends_the_probe_and_names_the_call) {
    auto device = open_device("cuda:0");
    for (const char* call :
         {"cuMemAlloc_v2", "cuModuleLoadData", "cuModuleGetFunction", "cuLaunchKernel", "cuEventRecord", "cuEventQuery",
          "cuEventElapsedTime", "cuMemcpyDtoH_v2", "nvrtcCreateProgram"}) {
        set("FAKE_FAIL", std::string(call) + ":2");
        const auto sample = run(**device, {.action = ProbeAction::fma, .pipe = Pipe::fp32}, 0, 2);
        ASSERT_FALSE(sample) << call;
        EXPECT_THAT(to_text(sample.error()), HasSubstr("failed")) << call;
        unsetenv("FAKE_FAIL");
    }
    EXPECT_TRUE(run(**device, {.action = ProbeAction::fma, .pipe = Pipe::fp32}, 0, 2)) << "the device lives on";
}

TEST_F(CudaDevice, a_kernel_that_does_not_compile_shows_the_compilers_log) {
    auto device = open_device("cuda:0");
    set("FAKE_FAIL", "nvrtcCompileProgram:6");
    const auto sample = run(**device, {.action = ProbeAction::fma, .pipe = Pipe::fp32}, 0, 2);
    ASSERT_FALSE(sample);
    EXPECT_THAT(to_text(sample.error()), HasSubstr("does not compile for sm_80: NVRTC_ERROR_COMPILATION"));
    EXPECT_THAT(to_text(sample.error()), HasSubstr("identifier \"x\" is undefined"));
    EXPECT_EQ(counts()["nvrtcCreateProgram"], counts()["nvrtcDestroyProgram"]);
}

TEST_F(CudaDevice, an_old_compiler_makes_ptx_and_loses_only_the_newest_instructions) {
    set("FAKE_CC", "120");
    set("FAKE_ARCHS", "75,80,86,89,90");
    auto device = open_device("cuda:0");
    ASSERT_TRUE(device) << to_text(device.error());
    EXPECT_THAT((*device)->info().detail, HasSubstr("for compute_90"));
    const auto sample = run(**device, {.action = ProbeAction::mma, .pipe = Pipe::tensor_fp16}, 0, 2);
    ASSERT_TRUE(sample) << to_text(sample.error());
    EXPECT_FALSE(sample->fault) << "mma, not wgmma, which needs sm_90a";
    EXPECT_GT(counts()["nvrtcGetPTX"], 0);
    EXPECT_EQ(counts()["nvrtcGetCUBIN"], 0);
    EXPECT_FALSE(run(**device, {.action = ProbeAction::mma, .pipe = Pipe::tensor_fp4}, 0, 2));
    set("FAKE_CC", "60");
    EXPECT_THAT(open_error(), HasSubstr("supports no architecture that a GPU of compute capability 6.0 can run"));
}

TEST_F(CudaDevice, the_strongest_instructions_are_asked_for_by_the_name_of_the_architecture) {
    set("FAKE_CC", "90");
    auto device = open_device("cuda:0");
    (void)run(**device, {.action = ProbeAction::mma, .pipe = Pipe::tensor_fp8}, 0, 1);
    EXPECT_GT(counts()["option --gpu-architecture=sm_90a"], 0);
}

TEST_F(CudaDevice, what_the_architecture_lacks_is_refused_with_a_reason) {
    auto device = open_device("cuda:0");
    const auto reason = [&](const Probe& probe) {
        auto prepared = (*device)->prepare(probe, Bytes(4096));
        return prepared && prepared->probe == nullptr ? prepared->reason : "not refused";
    };
    EXPECT_THAT(reason({.action = ProbeAction::mma, .pipe = Pipe::tensor_fp8}),
                HasSubstr("8.0 has no such instruction"));
    EXPECT_THAT(reason({.action = ProbeAction::mma, .pipe = Pipe::tensor_fp16, .matrix = MatrixPath::warpgroup}),
                HasSubstr("8.0"));
    EXPECT_THAT(reason({.action = ProbeAction::load, .vector_bytes = 8}), HasSubstr("8 B"));
    set("GAMBREL_CUBLASLT", "/nowhere/libcublasLt.so");
    EXPECT_THAT(reason({.action = ProbeAction::gemm, .pipe = Pipe::fp32, .extent = 64}),
                HasSubstr("/nowhere/libcublasLt.so"));
    set("GAMBREL_CUBLASLT", GAMBREL_FAKE_CUDA);
    device = open_device("cuda:0");  // the first one does not look for the library again
    EXPECT_THAT(reason({.action = ProbeAction::gemm, .pipe = Pipe::tensor_fp8, .extent = 32}),
                HasSubstr("8.0 has no such instruction"));
}

TEST_F(CudaDevice, the_clocks_of_every_gpu_are_read_for_the_doctor) {
    set("FAKE_CLOCK", "210");
    set("FAKE_THROTTLE", "0x1");  // idle
    GpuSoftware found = find_gpu_software();
    EXPECT_TRUE(found.driver);
    EXPECT_EQ(found.cuda_version, 12090);
    EXPECT_EQ(found.nvrtc, "12.9");
    ASSERT_EQ(found.clocks.size(), 1U);
    EXPECT_EQ(found.clocks[0].now, 210U);
    EXPECT_EQ(found.clocks[0].most, 1410U);
    EXPECT_EQ(found.clocks[0].by_default, 1095U);
    EXPECT_EQ(found.clocks[0].persistent, false);
    EXPECT_TRUE(found.clocks[0].idle);
    set("FAKE_PERSISTENCE", "1");
    set("FAKE_FAIL", "nvmlDeviceGetApplicationsClock:3");  // not supported by consumer GPUs
    found = find_gpu_software();
    EXPECT_EQ(found.clocks.at(0).persistent, true);
    EXPECT_FALSE(found.clocks.at(0).application);
    set("FAKE_FAIL", "cuInit:100");
    found = find_gpu_software();
    EXPECT_TRUE(found.driver);
    EXPECT_THAT(found.driver_problem, HasSubstr("CUDA_ERROR_NO_DEVICE"));
}

}  // namespace
}  // namespace gambrel::measure_detail
