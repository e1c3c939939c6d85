// What boards make of the same work: the size of L2, and the clock that their power leaves.
#include <algorithm>
#include <optional>

#include <gtest/gtest.h>
#include <gambrel/delta.hpp>

#include "mapping/sample.hpp"

namespace gambrel {
namespace {

using namespace test;

// 2 MB of each operand beside 1 GB of output: of the 48 MB or more of L2 little passes between two readings of an
// operand.
TEST(LargeCaches, keep_an_operand_that_fits_between_two_readings) {
    Layer layer;
    layer.op = Gemm{.m = 16384, .n = 16384, .k = 32};
    for (const char* id : {"l40s", "rtx-4090", "h100-sxm", "a100-sxm4-80gb"}) {
        const Prediction p = predict(layer, machine(id), *model_inputs(machine(id)));
        EXPECT_LT(p.traffic.dram.total() / Bytes{4.0 * (16384.0 * 16384 + 2 * 16384 * 32)}, 1.01) << id;
    }
    // 4 MB of T4 hold less than what passes.
    const Prediction t4 = predict(layer, machine("t4"), *model_inputs(machine("t4")));
    EXPECT_GT(t4.traffic.reads_of_a + t4.traffic.reads_of_b, 3);
}

TEST(PowerLimitedBoards, are_those_of_75_watts_and_those_that_promise_little) {
    const auto inputs = [](const char* id) { return *model_inputs(machine(id)); };
    EXPECT_NEAR(inputs("t4").clock.value(), 1109e6, 1e6);
    EXPECT_NEAR(inputs("t4").clock.value() * inputs("t4").burst, 1590e6, 1e6);
    EXPECT_EQ(inputs("p4").clock, machine("p4").clocks.boost->value);  // never above it
    // 300 W, but its base clock is less than a third of boost. A10, of 150 W, promises more than half.
    EXPECT_LT(inputs("l40").clock, 0.7 * machine("l40").clocks.boost->value);
    EXPECT_EQ(inputs("a10").clock, machine("a10").clocks.boost->value);
    EXPECT_EQ(inputs("a10").burst, 1);
}

FlopRate rate_in_fp32(const char* id, std::int64_t size, std::optional<Timing> timing = {}) {
    Layer layer;
    layer.op = Gemm{.m = size, .n = size, .k = size};
    layer.hints.timing = timing;
    const double n = static_cast<double>(size);
    return Flops{2 * n * n * n} / predict(layer, machine(id), *model_inputs(machine(id))).time;
}

// Of products of 1024 to 10240 by PyTorch the fastest, in TFLOP/s (github.com/zzc0721/torch-performance-test-data and
// its issues): boards that their power limits and boards that it does not.
TEST(ProductsOnCudaCores, are_as_fast_as_the_board_can_feed_them) {
    const struct {
        const char* id;
        double measured;
    } kBoards[] = {{"a100-pcie-40gb", 17.6}, {"a100-sxm4-80gb", 19.2},
                   {"v100-sxm2-16gb", 14.5}, {"h100-pcie", 37.0},
                   {"h100-sxm", 52.0},       {"h200", 51.3},
                   {"l40s", 46.9},           {"l4", 10.9},
                   {"rtx-a6000", 23.9},      {"a40", 23.7},
                   {"rtx-3080", 21.1},       {"rtx-3090", 24.8},
                   {"rtx-4090", 54.0},       {"a10g", 23.4}};
    for (const auto& board : kBoards) {
        FlopRate fastest;
        for (const std::int64_t size : {1024, 2048, 4096, 8192, 10240})
            fastest = std::max(fastest, rate_in_fp32(board.id, size));
        EXPECT_NEAR(fastest.value() / (board.measured * 1e12), 1, 0.1) << board.id;
    }
}

// gemm_time_tiles_fp32, T4, 19.9 ms: multiplications and bytes from L2 with V100's energies could be fed in 17 ms.
TEST(ProductsOnCudaCores, wait_for_the_power_that_gddr_takes) {
    Layer layer;
    layer.op = Gemm{.m = 103, .n = 484, .k = 566, .batch = 857};
    layer.hints.kernel = "volta_sgemm_128x64_nn";
    layer.hints.timing = Timing::framework;
    const Machine& t4 = machine("t4");
    ModelInputs inputs = *model_inputs(t4);
    const Seconds time = predict(layer, t4, inputs).time;
    EXPECT_NEAR(time.value(), 19.9e-3, 0.05 * 19.9e-3);
    Architecture without = *inputs.architecture;
    without.dram_byte_energy = 0;
    inputs.architecture = &without;
    EXPECT_LT(predict(layer, t4, inputs).time.value(), 0.9 * time.value());
}

// The same kernel by a framework's calls, with pauses between them, and in a stream without.
TEST(ProductsOnCudaCores, run_on_what_pauses_left_while_they_are_short) {
    EXPECT_GT(rate_in_fp32("t4", 1024, Timing::framework) / rate_in_fp32("t4", 1024), 1.2);
    EXPECT_NEAR(rate_in_fp32("t4", 8192, Timing::framework) / rate_in_fp32("t4", 8192), calibration().power_share,
                0.02);
    // A clock that is given is held.
    Layer layer;
    layer.op = Gemm{.m = 8192, .n = 8192, .k = 8192};
    const Frequency boost = machine("t4").clocks.boost->value;
    const Prediction held = predict(layer, machine("t4"), *model_inputs(machine("t4"), boost));
    EXPECT_GT((Flops{2 * 8192.0 * 8192 * 8192} / held.time).value(), 7e12);
}

// Frameworks sum in FP32. P4 has FP16 at a sixty-fourth of the rate of FP32, and runs such products as fast as these.
TEST(ProductsInFp16, are_multiplied_in_fp32_without_tensor_cores) {
    for (const char* id : {"p4", "p40", "gtx-1080-ti", "p100-pcie-16gb"}) {
        Layer layer;
        layer.op = Gemm{.m = 4096, .n = 4096, .k = 4096};
        const Seconds single = predict(layer, machine(id), *model_inputs(machine(id))).time;
        layer.precision = Precision::fp16;
        EXPECT_EQ(pipe_for(layer, machine(id))->pipe, Pipe::fp32) << id;
        EXPECT_NE(pipe_for(layer, machine(id))->note.find("multiplied in FP32"), std::string::npos) << id;
        EXPECT_NEAR(predict(layer, machine(id), *model_inputs(machine(id))).time / single, 1, 0.1) << id;
    }
}

}  // namespace
}  // namespace gambrel
