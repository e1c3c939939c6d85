// Is a fault of the GPU, of its driver or of its compiler reported once, with the rest of the run kept?
#include <cstdlib>
#include <set>

#include <gmock/gmock.h>

#include "measure/cuda/nvrtc.hpp"
#include "measure/cuda/wire.hpp"
#include "ptx_gpu.hpp"

namespace gambrel::measure_detail {
namespace {

using testing::HasSubstr;
using testing::Not;

class PtxFaults : public PtxGpu {
protected:
    static Measurement quick_run() {
        auto device = open_device("cuda:0");
        EXPECT_TRUE(device) << to_text(device.error());
        if (!device) return {};
        MeasureOptions options;
        options.quick = true;
        options.budget = Seconds{1};
        return characterize(**device, options);
    }
    static std::vector<std::string> faults(const Measurement& m) {
        std::vector<std::string> all;
        for (const MeasuredCeiling& c : m.ceilings)
            if (c.fault) all.push_back(c.title + ": " + *c.fault);
        return all;
    }
};

TEST_F(PtxFaults, a_kernel_that_loses_the_context_in_its_own_process_loses_nothing_else) {
    if (IsSkipped()) return;
    if (!std::getenv("GAMBREL_TEST_ALL_GPUS")) GTEST_SKIP() << "a whole run takes half a minute: make test-gpu-model";
    set("PTX_CC", 90);
    set("PTX_L1", 256 * 1024);
    set("PTX_FAULT", "tensor_wgmma");
    const Measurement m = quick_run();
    const auto found = faults(m);
    EXPECT_EQ(found.size(), 5U) << "the five wgmma rows, each in a fresh process";
    for (const std::string& fault : found) {
        EXPECT_THAT(fault, HasSubstr("wgmma"));
        EXPECT_THAT(fault, HasSubstr("CUDA_ERROR_ILLEGAL_INSTRUCTION"));
        EXPECT_THAT(fault, Not(HasSubstr("\n")));
    }
    std::set<Level> roofs;
    for (const MeasuredCeiling& c : m.ceilings)
        if (c.primary && c.level) roofs.insert(*c.level);
    EXPECT_TRUE(roofs.contains(Level::l1) && roofs.contains(Level::l2) && roofs.contains(Level::dram));
}

TEST_F(PtxFaults, a_process_that_is_killed_by_its_driver_is_reported_with_the_signal) {
    if (IsSkipped()) return;
    set("PTX_CC", 90);
    set("PTX_ABORT", "tensor_wgmma");
    auto device = open_device("cuda:0");
    ASSERT_TRUE(device);
    const Probe wgmma{.action = ProbeAction::mma, .pipe = Pipe::tensor_fp16, .matrix = MatrixPath::warpgroup};
    for (int i = 0; i < 2; ++i) {  // and the next one has a process again
        const auto sample = run(**device, wgmma, 0, 1);
        ASSERT_FALSE(sample);
        EXPECT_THAT(to_text(sample.error()), HasSubstr("signal 6"));
    }
    EXPECT_TRUE(run(**device, {.action = ProbeAction::fma, .pipe = Pipe::fp32}, 0, 2)) << "the device itself lives on";
}

TEST_F(PtxFaults, two_devices_at_a_time_end_in_any_order) {
    if (IsSkipped()) return;
    auto first = open_device("cuda:0"), second = open_device("cuda:0");
    ASSERT_TRUE(first && second);
    first = failure("test", "closed");
    EXPECT_TRUE(run(**second, {.action = ProbeAction::empty}, 0, 1));
}

TEST_F(PtxFaults, a_context_lost_in_this_process_is_said_once_and_ends_the_run) {
    if (IsSkipped()) return;
    set("PTX_CC", 80);
    set("PTX_FAULT", "load");
    const Measurement m = quick_run();
    EXPECT_EQ(
        faults(m).size() +
            [&] {
                std::size_t count = 0;
                for (const MeasuredSweep& s : m.sweeps) count += s.faults.empty() ? 0 : 1;
                return count;
            }(),
        1U);
    std::set<std::string> reasons;
    for (const Skipped& s : m.skipped)
        if (s.reason.find("context was lost") != std::string::npos) reasons.insert(s.reason);
    ASSERT_EQ(reasons.size(), 1U);
    EXPECT_THAT(*reasons.begin(),
                HasSubstr("the GPU's context was lost in kernel load, CUDA_ERROR_ILLEGAL_INSTRUCTION"));
}

TEST_F(PtxFaults, a_kernel_that_does_not_end_is_given_up) {
    if (IsSkipped()) return;
    set("PTX_CC", 80);
    set("PTX_HANG", "arithmetic");
    set("GAMBREL_LAUNCH_LIMIT", "100 ms");
    auto device = open_device("cuda:0");
    ASSERT_TRUE(device);
    const auto sample = run(**device, {.action = ProbeAction::fma, .pipe = Pipe::fp32}, 0, 2);
    ASSERT_FALSE(sample);
    EXPECT_THAT(to_text(sample.error()), HasSubstr("kernel arithmetic did not end within 100 ms"));
    ASSERT_TRUE((*device)->lost());
    EXPECT_THAT(*(*device)->lost(), HasSubstr("not usable any more"));
}

TEST_F(PtxFaults, two_groups_on_one_sm_are_noticed_where_each_needs_its_own) {
    if (IsSkipped()) return;
    set("PTX_CC", 100);
    set("PTX_CROWDED", 1);
    auto device = open_device("cuda:0");
    ASSERT_TRUE(device);
    const Probe product{.action = ProbeAction::mma, .pipe = Pipe::tensor_fp16, .matrix = MatrixPath::tensor_memory},
        own_sets{.action = ProbeAction::load, .sharing = WorkingSetSharing::own};
    for (const auto& [probe, bytes] : {std::pair{product, 0.0}, {own_sets, 40'000.0}}) {
        const auto sample = run(**device, probe, bytes, 2);
        ASSERT_TRUE(sample) << title(probe) << ": " << to_text(sample.error());
        EXPECT_EQ(sample->fault.value_or(""), "two groups ran on SM 0, but each needs one of its own") << title(probe);
    }
    const auto any = run(**device, {.action = ProbeAction::fma, .pipe = Pipe::fp32}, 0, 2);
    ASSERT_TRUE(any);
    EXPECT_FALSE(any->fault) << "arithmetic has several groups on each SM";
}

TEST_F(PtxFaults, out_of_memory_ends_one_probe_only) {
    if (IsSkipped()) return;
    set("PTX_MEMORY", 8e6);
    auto device = open_device("cuda:0");
    ASSERT_TRUE(device);
    const Probe load{.action = ProbeAction::load, .sharing = WorkingSetSharing::split};
    const auto large = run(**device, load, 64e6, 1);
    ASSERT_FALSE(large);
    EXPECT_THAT(to_text(large.error()), HasSubstr("CUDA_ERROR_OUT_OF_MEMORY"));
    EXPECT_FALSE((*device)->lost());
    EXPECT_TRUE(run(**device, load, 1e6, 1));
}

TEST_F(PtxFaults, a_missing_matrix_library_is_looked_for_once_and_named_in_one_line) {
    if (IsSkipped()) return;
    auto device = open_device("cuda:0");
    ASSERT_TRUE(device);
    for (int i = 0; i < 2; ++i) {
        const auto gemm = (*device)->prepare({.action = ProbeAction::gemm, .pipe = Pipe::fp32, .extent = 64}, Bytes(0));
        ASSERT_TRUE(gemm);
        EXPECT_EQ(gemm->probe, nullptr);
        EXPECT_THAT(gemm->reason, HasSubstr("/nowhere/libcublasLt.so"));
        EXPECT_THAT(gemm->reason, Not(HasSubstr("\n")));
        set("GAMBREL_CUBLASLT", "/elsewhere/libcublasLt.so");  // not looked at again
    }
}

TEST_F(PtxFaults, the_self_test_runs_every_kernel_once_and_says_which_failed) {
    if (IsSkipped()) return;
    set("PTX_CC", 90);
    set("PTX_SMS", 1);
    set("PTX_L1", 256 * 1024);
    set("PTX_MEMORY", 80e6);
    set("PTX_FAULT", "tensor_wgmma");
    const auto test = self_test("cuda:0");
    ASSERT_TRUE(test) << to_text(test.error());
    int proved = 0, failed = 0;
    for (const KernelCheck& k : test->kernels) {
        proved += k.outcome == KernelOutcome::proved ? 1 : 0;
        failed += k.outcome == KernelOutcome::failed ? 1 : 0;
        EXPECT_EQ(k.outcome == KernelOutcome::failed,
                  k.title.find("wgmma") != std::string::npos && k.detail.find("no such") == std::string::npos)
            << k.title << ": " << k.detail;
        if (k.outcome == KernelOutcome::proved && !k.groups.empty()) {
            EXPECT_NE(k.code, 0U) << k.title;
        }
    }
    EXPECT_EQ(failed, 5);
    EXPECT_GE(proved, 20);
    EXPECT_TRUE(has_failures(*test));
}

class OtherCompilers : public PtxGpu {};

TEST_F(OtherCompilers, nvrtc_11_8_measures_hopper_without_its_a) {
    if (IsSkipped()) return;
    use_compiler("11.8");
    if (IsSkipped()) return;
    set("PTX_CC", 90);
    auto device = open_device("cuda:0");
    ASSERT_TRUE(device) << to_text(device.error());
    EXPECT_THAT((*device)->info().detail, HasSubstr("NVRTC 11.8 for sm_90"));
    EXPECT_THAT((*device)->info().detail, Not(HasSubstr("sm_90a")));
    for (const Probe& probe :
         {Probe{.action = ProbeAction::empty}, Probe{.action = ProbeAction::fma, .pipe = Pipe::fp32},
          Probe{.action = ProbeAction::mma, .pipe = Pipe::tensor_fp16, .matrix = MatrixPath::warp}}) {
        const auto sample = run(**device, probe, 0, 2);
        ASSERT_TRUE(sample) << title(probe) << ": " << to_text(sample.error());
        EXPECT_FALSE(sample->fault) << title(probe);
    }
    const Probe wgmma{.action = ProbeAction::mma, .pipe = Pipe::tensor_fp16, .matrix = MatrixPath::warpgroup};
    const auto refused = (*device)->prepare(wgmma, Bytes(0));
    ASSERT_TRUE(refused) << to_text(refused.error());
    EXPECT_EQ(refused->probe, nullptr);
}

TEST_F(OtherCompilers, fp8_that_an_older_nvrtc_lacks_is_not_measured_instead_of_failed) {
    if (IsSkipped()) return;
    const Probe fp8{.action = ProbeAction::mma, .pipe = Pipe::tensor_fp8, .matrix = MatrixPath::warp},
        acc16{.action = ProbeAction::mma, .pipe = Pipe::tensor_fp8_acc16, .matrix = MatrixPath::warp};
    struct RowState {
        const char* version;
        bool fp8, acc16;
    };
    for (const RowState& e :
         {RowState{"11.8", false, false}, {"12.4", true, false}, {"12.9", true, true}, {"13.0", true, true}}) {
        SCOPED_TRACE(e.version);
        if (nvrtc_library(e.version).empty()) continue;
        use_compiler(e.version);
        set("PTX_CC", 89);
        auto device = open_device("cuda:0");
        ASSERT_TRUE(device) << to_text(device.error());
        for (const auto& [probe, there] : {std::pair{fp8, e.fp8}, {acc16, e.acc16}}) {
            const auto made = (*device)->prepare(probe, Bytes(0));
            ASSERT_TRUE(made) << to_text(made.error());
            EXPECT_EQ(made->probe != nullptr, there) << title(probe);
            if (!there) {
                EXPECT_THAT(made->reason, HasSubstr("needs NVRTC 12."));
            }
        }
    }
}

TEST(CudaLibraryNames, prefer_the_version_of_the_driver_and_end_with_newer_ones) {
    const auto names = cuda_library_names("libnvrtc.so", {"13", "12", "11.2"}, 12040);
    ASSERT_EQ(names.size(), 5U);
    EXPECT_EQ(names.front(), "libnvrtc.so.12");
    EXPECT_EQ(names.back(), "libnvrtc.so.13");
    EXPECT_EQ(cuda_library_names("libnvrtc.so", {"13", "12"}, 0).front(), "libnvrtc.so.13");
}

TEST(Wire, a_sample_survives_its_way_between_processes_and_a_short_message_does_no_harm) {
    Sample sample;
    sample.time = Seconds{1.5};
    sample.flop = 2;
    sample.clock = Frequency{1e9};
    sample.fault = "sum is 3";
    sample.groups = {{1, 2, 3}, {4, 5, 6}};
    Message m;
    m.put(sample);
    for (std::size_t size = 0; size <= m.bytes().size(); ++size) {
        const Sample again = Message(m.bytes().substr(0, size)).get_sample();
        if (size != m.bytes().size()) continue;
        EXPECT_EQ(again.time.value(), 1.5);
        EXPECT_EQ(again.clock->value(), 1e9);
        EXPECT_FALSE(again.throttled);
        EXPECT_EQ(*again.fault, "sum is 3");
        ASSERT_EQ(again.groups.size(), 2U);
        EXPECT_EQ(again.groups[1].unit, 6U);
    }
}

}  // namespace
}  // namespace gambrel::measure_detail
