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

TEST_F(OpenclProbes, EveryArithmeticPipeProvesItsResultAndCountsItsWork) {
    EXPECT_GT(run({.action = Action::fma, .pipe = Pipe::int32}, 0, 1000).flop, 0);
    for (const Pipe pipe : {Pipe::fp64, Pipe::fp32}) {
        for (const Action action : {Action::fma, Action::add, Action::multiply}) {
            const Probe probe{.action = action, .pipe = pipe};
            const double once = run(probe, 0, 1000).flop, twice = run(probe, 0, 2000).flop;
            EXPECT_GT(once, 0) << title(probe);
            EXPECT_DOUBLE_EQ(twice, 2 * once) << title(probe);
        }
        const double fma = run({.action = Action::fma, .pipe = pipe}, 0, 100).flop;
        EXPECT_DOUBLE_EQ(fma, 2 * run({.action = Action::add, .pipe = pipe}, 0, 100).flop) << "an FMA is two";
    }
}

TEST_F(OpenclProbes, ChainsThatHaveConvergedAndThoseThatHaveNotAreBothFollowed) {
    for (const std::int64_t trips : {1, 7, 100, 40000})
        for (const Pipe pipe : {Pipe::fp64, Pipe::fp32}) {
            run({.action = Action::fma, .pipe = pipe}, 0, trips);
            run({.action = Action::add, .pipe = pipe}, 0, trips);
        }
    run({.action = Action::add, .pipe = Pipe::fp32}, 0, 3'000'000);  // beyond 2^24 steps: one is lost in rounding
}

TEST_F(OpenclProbes, EveryMemoryActionProvesItsResultUnderEverySpread) {
    const int units = device_->info().units;
    for (const Action action : {Action::load, Action::store, Action::copy, Action::triad}) {
        for (const Spread spread : {Spread::own, Spread::whole, Spread::split}) {
            for (const Pipe pipe : {Pipe::fp32, Pipe::fp64}) {
                const Probe probe{.action = action, .pipe = pipe, .spread = spread};
                constexpr double kSet = 3 * 64 * 1024;
                const Sample sample = run(probe, kSet, 5);
                const double each = spread == Spread::split ? 1 : units;
                EXPECT_NEAR(sample.bytes.value(), kSet * each * 5, kSet * each * 0.02) << title(probe);
            }
        }
    }
}

TEST_F(OpenclProbes, OneProbeWalksSetsOfManySizes) {
    auto preparation = device_->prepare({.action = Action::load, .spread = Spread::split}, Bytes(1 << 22));
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

TEST_F(OpenclProbes, SharedMemoryLatencyLaunchAndLinkProveTheirResults) {
    EXPECT_GT(run({.action = Action::load, .level = Level::shared}, 32768, 100).bytes.value(), 0);
    for (const Level level : {Level::shared, Level::l1, Level::l2, Level::dram})
        EXPECT_EQ(run({.action = Action::chase, .level = level, .units = 1}, 16384, 16000).accesses, 16000);
    EXPECT_EQ(run({.action = Action::empty}, 0, 50).accesses, 50);
    EXPECT_EQ(run({.action = Action::host_to_device}, 65536, 4).bytes.value(), 4 * 65536);
    EXPECT_EQ(run({.action = Action::device_to_host}, 65536, 4).bytes.value(), 4 * 65536);
}

TEST_F(OpenclProbes, WhatOpenclCannotDoIsRefusedWithAReason) {
    EXPECT_NE(refused({.action = Action::mma, .pipe = Pipe::tensor_fp16}).find("CUDA"), std::string::npos);
    EXPECT_NE(refused({.action = Action::fma, .pipe = Pipe::bf16}).find("BF16"), std::string::npos);
    EXPECT_NE(refused({.action = Action::add, .pipe = Pipe::int32}).find("fold"), std::string::npos);
    EXPECT_NE(refused({.action = Action::gemm, .pipe = Pipe::fp32, .extent = 64}).find("library"), std::string::npos);
    EXPECT_NE(refused({.action = Action::load, .vector_bytes = 7}).find("7 B"), std::string::npos);
    EXPECT_NE(refused({.action = Action::store, .level = Level::shared}).find("shared"), std::string::npos);
}

TEST(OpenclNames, ADeviceThatIsNotThereIsAnErrorThatSaysWhatIs) {
    if (!open_device("opencl:0")) GTEST_SKIP() << "no OpenCL device";
    for (const char* name : {"opencl:99", "opencl:x", "opencl:0x"}) {
        const auto opened = open_device(name);
        ASSERT_FALSE(opened) << name;
        EXPECT_NE(to_text(opened.error()).find("expected opencl:0"), std::string::npos) << to_text(opened.error());
    }
}

TEST(OpenclNames, AMissingIcdLoaderIsSaidWithTheVariableThatMayNameIt) {
    setenv("GAMBREL_OPENCL", "/nowhere/libOpenCL.so", 1);
    const auto opened = open_device("opencl:0");
    unsetenv("GAMBREL_OPENCL");
    ASSERT_FALSE(opened);
    EXPECT_NE(to_text(opened.error()).find("/nowhere/libOpenCL.so"), std::string::npos);
    EXPECT_NE(to_text(opened.error()).find("GAMBREL_OPENCL"), std::string::npos);
}

}  // namespace
}  // namespace gambrel::measure_detail
