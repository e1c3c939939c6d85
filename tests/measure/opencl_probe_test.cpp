// Does the whole path of a GPU device, from probe to proved sample, run on a real OpenCL device (PoCL on this CPU)?
#include <cstdlib>
#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include "measure/device.hpp"

namespace gambrel::measure_detail {
namespace {

class OpenclProbes : public testing::Test {
protected:
    void SetUp() override {
        auto opened = open_device("opencl:0");
        if (!opened) GTEST_SKIP() << "no OpenCL device: " << to_text(opened.error());
        device_ = std::move(*opened);
    }
    Sample run(const Probe& probe, double working_set, std::int64_t repetitions) {
        auto preparation = device_->prepare(probe, Bytes(working_set));
        if (!preparation) {
            ADD_FAILURE() << title(probe) << ": " << to_text(preparation.error());
            return {};
        }
        if (preparation->probe == nullptr) {
            ADD_FAILURE() << title(probe) << " refused: " << preparation->reason;
            return {};
        }
        auto sample = preparation->probe->run(Bytes(working_set), repetitions);
        if (!sample) {
            ADD_FAILURE() << title(probe) << ": " << to_text(sample.error());
            return {};
        }
        EXPECT_FALSE(sample->fault) << title(probe) << ": " << sample->fault.value_or("");
        EXPECT_GT(sample->time.value(), 0) << title(probe);
        return *sample;
    }
    std::string refused(const Probe& probe) {
        auto preparation = device_->prepare(probe, Bytes(1 << 20));
        if (!preparation) return "error: " + to_text(preparation.error());
        return preparation->probe == nullptr ? preparation->reason : "";
    }
    std::unique_ptr<Device> device_;
};

TEST_F(OpenclProbes, every_arithmetic_pipe_proves_its_result_and_counts_its_work) {
    EXPECT_GT(run({.action = ProbeAction::fma, .pipe = Pipe::int32}, 0, 1000).flop, 0);
    for (const Pipe pipe : {Pipe::fp64, Pipe::fp32}) {
        for (const ProbeAction action : {ProbeAction::fma, ProbeAction::add, ProbeAction::multiply}) {
            const Probe probe{.action = action, .pipe = pipe};
            const double once = run(probe, 0, 1000).flop, twice = run(probe, 0, 2000).flop;
            EXPECT_GT(once, 0) << title(probe);
            EXPECT_DOUBLE_EQ(twice, 2 * once) << title(probe);
        }
        const double fma = run({.action = ProbeAction::fma, .pipe = pipe}, 0, 100).flop;
        EXPECT_DOUBLE_EQ(fma, 2 * run({.action = ProbeAction::add, .pipe = pipe}, 0, 100).flop) << "an FMA is two";
    }
}

TEST_F(OpenclProbes, chains_that_have_converged_and_those_that_have_not_are_both_followed) {
    for (const std::int64_t trips : {1, 7, 100, 40000})
        for (const Pipe pipe : {Pipe::fp64, Pipe::fp32}) {
            run({.action = ProbeAction::fma, .pipe = pipe}, 0, trips);
            run({.action = ProbeAction::add, .pipe = pipe}, 0, trips);
        }
    run({.action = ProbeAction::add, .pipe = Pipe::fp32}, 0, 3'000'000);  // beyond 2^24 steps: one is lost in rounding
}

TEST_F(OpenclProbes, every_memory_action_proves_its_result_under_every_spread) {
    const int units = device_->info().units;
    for (const ProbeAction action : {ProbeAction::load, ProbeAction::store, ProbeAction::copy, ProbeAction::triad}) {
        for (const WorkingSetSharing sharing :
             {WorkingSetSharing::own, WorkingSetSharing::whole, WorkingSetSharing::split}) {
            for (const Pipe pipe : {Pipe::fp32, Pipe::fp64}) {
                const Probe probe{.action = action, .pipe = pipe, .sharing = sharing};
                constexpr double kSet = 3 * 64 * 1024;
                const Sample sample = run(probe, kSet, 5);
                const double each = sharing == WorkingSetSharing::split ? 1 : units;
                EXPECT_NEAR(sample.bytes.value(), kSet * each * 5, kSet * each * 0.02) << title(probe);
            }
        }
    }
}

TEST_F(OpenclProbes, one_probe_walks_sets_of_many_sizes) {
    auto preparation =
        device_->prepare({.action = ProbeAction::load, .sharing = WorkingSetSharing::split}, Bytes(1 << 22));
    ASSERT_TRUE(preparation) << to_text(preparation.error());
    for (const double set : {1024.0, 5000.0, 65536.0, 1e6, 4194304.0}) {
        const auto sample = preparation->probe->run(Bytes(set), 3);
        ASSERT_TRUE(sample) << to_text(sample.error());
        EXPECT_FALSE(sample->fault) << *sample->fault;
        EXPECT_LE(sample->bytes.value(), set * 3);
        EXPECT_GE(sample->bytes.value(), set * 3 * 0.7);
    }
    const auto beyond = preparation->probe->run(Bytes(1 << 23), 1);
    ASSERT_FALSE(beyond);
    EXPECT_NE(to_text(beyond.error()).find("prepared for"), std::string::npos);
    EXPECT_FALSE(preparation->probe->run(Bytes(16), 1)) << "less than one tile";
}

TEST_F(OpenclProbes, shared_memory_latency_launch_and_link_prove_their_results) {
    EXPECT_GT(run({.action = ProbeAction::load, .level = Level::shared}, 32768, 100).bytes.value(), 0);
    for (const Level level : {Level::shared, Level::l1, Level::l2, Level::dram})
        EXPECT_EQ(run({.action = ProbeAction::chase, .level = level, .units = 1}, 16384, 16000).accesses, 16000);
    EXPECT_EQ(run({.action = ProbeAction::empty}, 0, 50).accesses, 50);
    EXPECT_EQ(run({.action = ProbeAction::host_to_device}, 65536, 4).bytes.value(), 4 * 65536);
    EXPECT_EQ(run({.action = ProbeAction::device_to_host}, 65536, 4).bytes.value(), 4 * 65536);
}

TEST_F(OpenclProbes, what_opencl_cannot_do_is_refused_with_a_reason) {
    EXPECT_NE(refused({.action = ProbeAction::mma, .pipe = Pipe::tensor_fp16}).find("CUDA"), std::string::npos);
    EXPECT_NE(refused({.action = ProbeAction::fma, .pipe = Pipe::bf16}).find("BF16"), std::string::npos);
    EXPECT_NE(refused({.action = ProbeAction::add, .pipe = Pipe::int32}).find("fold"), std::string::npos);
    EXPECT_NE(refused({.action = ProbeAction::gemm, .pipe = Pipe::fp32, .extent = 64}).find("library"),
              std::string::npos);
    EXPECT_NE(refused({.action = ProbeAction::load, .vector_bytes = 7}).find("7 B"), std::string::npos);
    EXPECT_NE(refused({.action = ProbeAction::store, .level = Level::shared}).find("shared"), std::string::npos);
}

TEST(OpenclNames, a_device_that_is_not_there_is_an_error_that_says_what_is) {
    if (!open_device("opencl:0")) GTEST_SKIP() << "no OpenCL device";
    for (const char* name : {"opencl:99", "opencl:x", "opencl:0x"}) {
        const auto opened = open_device(name);
        ASSERT_FALSE(opened) << name;
        EXPECT_NE(to_text(opened.error()).find("expected opencl:0"), std::string::npos) << to_text(opened.error());
    }
}

TEST(OpenclNames, a_missing_icd_loader_is_said_with_the_variable_that_may_name_it) {
    setenv("GAMBREL_OPENCL", "/nowhere/libOpenCL.so", 1);
    const auto opened = open_device("opencl:0");
    unsetenv("GAMBREL_OPENCL");
    ASSERT_FALSE(opened);
    EXPECT_NE(to_text(opened.error()).find("/nowhere/libOpenCL.so"), std::string::npos);
    EXPECT_NE(to_text(opened.error()).find("GAMBREL_OPENCL"), std::string::npos);
}

}  // namespace
}  // namespace gambrel::measure_detail
