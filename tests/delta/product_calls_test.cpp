// Products on CUDA cores: what issues, what the host adds and how fast the clock falls, each mechanism on rows of
// gemm_time_tiles_fp32 or gemm_traffic_a100 that show it alone.
#include <gtest/gtest.h>
#include <gambrel/delta.hpp>

#include "mapping/sample.hpp"

namespace gambrel {
namespace {

using namespace test;

Prediction predicted(const char* id, const Gemm& gemm, const char* kernel = "", std::optional<Timing> timing = {}) {
    Layer layer = layer_of(gemm);
    layer.hints.kernel = kernel;
    layer.hints.timing = timing;
    return predict(layer, machine(id), *model_inputs(machine(id)));
}

// P100: 32x128_tn, whose operands both lie along k, takes 1.48 slots for each multiplication, 1.36 where rows begin
// with sectors, and 128x64_nn 1.06 in its loop.
TEST(ProductsOnPascal, issue_more_for_elements_that_lie_along_k) {
    const auto slots = [](std::int64_t k, bool transposed, const char* kernel) {
        const Machine& p100 = machine("p100-pcie-16gb");
        const Gemm gemm{.m = 4096, .n = 4096, .k = k, .b_transposed = transposed};
        const Seconds issue = predicted("p100-pcie-16gb", gemm, kernel).terms[Term::issue];
        return issue * compute_ceiling(p100, Pipe::fp32)->value / Flops{2 * 4096.0 * 4096 * static_cast<double>(k)};
    };
    EXPECT_NEAR(slots(1025, true, "maxwell_sgemm_32x128_tn"), 1.48, 0.08);
    EXPECT_NEAR(slots(1024, true, "maxwell_sgemm_32x128_tn"), 1.36, 0.05);
    EXPECT_NEAR(slots(1024, false, "maxwell_sgemm_128x64_nn"), 1.06, 0.03);
}

// What a framework's call takes beside its kernel and the kernel's launch: 35 us for a batched product beside P100, 21
// us beside A100. Linear layers take 12 us more beside A100 and 22 beside P100 and V100, those with a split 10 to 20 us
// more than others.
TEST(FrameworkCalls, take_the_host_longer_for_linear_layers_and_for_splits) {
    const auto beside_kernel = [](const char* id, std::int64_t batch, std::int32_t parts = 1) {
        Layer layer = layer_of(Gemm{.m = 256, .n = 256, .k = 4096, .batch = batch});
        layer.hints.kernel = "sgemm_64x64_tn";
        layer.hints.split_k = parts;
        const auto time = [&](Timing timing) {
            layer.hints.timing = timing;
            return predict(layer, machine(id), *model_inputs(machine(id))).time.value();
        };
        return time(Timing::framework) - time(Timing::kernel);
    };
    EXPECT_NEAR(beside_kernel("p100-pcie-16gb", 2), 35e-6, 1e-6);
    EXPECT_NEAR(beside_kernel("a100-pcie-40gb", 2), 22e-6, 2e-6);
    EXPECT_NEAR(beside_kernel("p100-pcie-16gb", 3), beside_kernel("p100-pcie-16gb", 2), 1e-7);
    for (const auto& [id, linear] :
         {std::pair{"a100-pcie-40gb", 12e-6}, {"p100-pcie-16gb", 22e-6}, {"v100-pcie-32gb", 20e-6}}) {
        EXPECT_NEAR(beside_kernel(id, 1) - beside_kernel(id, 2), linear, 1.5e-6) << id;
        const double split = beside_kernel(id, 1, 4) - beside_kernel(id, 1);
        EXPECT_GT(split, 8e-6) << id;
        EXPECT_LT(split, 20e-6) << id;
    }
}

// A100: 895 MB of outputs of a product with k of 5, in 656 us with the call. Stored once more beside what waits for
// DRAM they would take 970.
TEST(ProductsOnAmpere, store_their_outputs_while_others_wait_for_memory) {
    const Gemm gemm{.m = 367, .n = 712, .k = 5, .batch = 856};
    const Seconds time = predicted("a100-pcie-40gb", gemm, "ampere_sgemm_128x128_nn", Timing::framework).time;
    EXPECT_NEAR(time.value(), 656e-6, 0.2 * 656e-6);
}

// A100 and 128x128_nn, of which an SM holds two: three CTAs on each SM take 1.5 times as long as two, and five 2.5
// times. A last wave between even and full would make rows of three and five 1.05 to 1.1 times too slow.
TEST(LastWaves, of_products_are_even) {
    const auto busy = [](std::int64_t ctas_per_sm) {
        const Gemm gemm{.m = 128, .n = 128, .k = 512, .batch = 108 * ctas_per_sm};
        return predicted("a100-pcie-40gb", gemm, "ampere_sgemm_128x128_nn", Timing::graph).terms[Term::compute];
    };
    EXPECT_NEAR(busy(3) / busy(2), 1.5, 1e-9);
    EXPECT_NEAR(busy(5) / busy(2), 2.5, 1e-9);
}

// P100 and 128x64_nn: beside its multiplications each CTA of an SM takes 1.9 us, by the best line through 2,900 rows,
// of which the stores of its outputs are 0.2 to 0.8 us.
TEST(ProductsOnPascal, issue_few_instructions_around_the_loop) {
    const auto issue = [](std::int64_t k) {
        const Gemm gemm{.m = 64, .n = 128, .k = k, .batch = 56};
        return predicted("p100-pcie-16gb", gemm, "maxwell_sgemm_128x64_nn").terms[Term::issue].value();
    };
    EXPECT_NEAR(issue(8) - (issue(1032) - issue(8)) / 128, 1.7e-6, 0.1e-6);
}

// T4, products by 128 x 128: 1.1 times as long as at boost clock where they take 0.2 ms, 1.4 at 0.6 ms, 1.6 at 1.5
// ms, 2.0 at 8 ms and 2.2 in the end; other T4 boards are 10 to 20 % faster, and the energies lie between them.
TEST(FrameworkCalls, lose_their_boost_clock_step_by_step) {
    const auto slower = [](std::int64_t k) {
        Layer layer = layer_of(Gemm{.m = 2048, .n = 2048, .k = k, .b_transposed = true});
        layer.hints.kernel = "volta_sgemm_128x128_tn";
        layer.hints.timing = Timing::framework;
        const Machine& t4 = machine("t4");
        const Prediction boosted = predict(layer, t4, *model_inputs(t4, t4.clocks.boost->value));
        return predict(layer, t4, *model_inputs(t4)).terms[Term::latency] / boosted.terms[Term::latency];
    };
    EXPECT_NEAR(slower(128), 1.1, 0.1);
    EXPECT_NEAR(slower(1024), 1.45, 0.15);
    EXPECT_NEAR(slower(4096), 1.75, 0.15);
    EXPECT_NEAR(slower(65536), 1.85, 0.15);
}

// A100 counts 505,000 bytes at L1 for ten vectors of 1,024 elements and a matrix of 49 rows, 14.5 million for four of
// 768 and 3,072 rows, and 151 million for one of 8,192 and 4,096 rows.
TEST(ProductsWithFewVectors, read_them_for_every_eight_rows_of_the_matrix) {
    const auto l1 = [](std::int64_t vectors, std::int64_t rows, std::int64_t k, const char* kernel) {
        return predicted("a100-sxm4-80gb", {.m = vectors, .n = rows, .k = k, .b_transposed = true}, kernel)
            .traffic.l1.total()
            .value();
    };
    EXPECT_NEAR(l1(10, 49, 1024, "gemmSN_TN_kernel_64addr<float, 128, 16, 2, 4, 10, 11>"), 505e3, 0.05 * 505e3);
    EXPECT_NEAR(l1(4, 3072, 768, "gemmSN_TN_kernel_64addr<float, 128, 16, 2, 4, 4, 4>"), 14.5e6, 0.05 * 14.5e6);
    EXPECT_NEAR(l1(1, 4096, 8192, "gemv2T_kernel_val<int, int, float>"), 151e6, 0.02 * 151e6);
    // Where rows lie side by side, a CTA has one for each of its 256 threads.
    const Gemm beside{.m = 1, .n = 4096, .k = 8192};
    EXPECT_EQ(predicted("a100-sxm4-80gb", beside).traffic.l1.a, Bytes{4.0 * (4096 * 8192 + 16 * 8192)});
}

// With five to fourteen vectors of 1,024 elements: 20 to 30 us in a profile, whatever their number, and 12 us with 512
// elements.
TEST(ProductsWithFewVectors, wait_for_every_32_elements_of_k) {
    Layer layer = layer_of(Gemm{.m = 10, .n = 49, .k = 1024, .b_transposed = true});
    layer.hints.kernel = "gemmSN_TN_kernel_64addr<float, 128, 16, 2, 4, 10, 11>";
    layer.hints.cold = layer.hints.profiled = true;
    const Machine& a100 = machine("a100-sxm4-80gb");
    const auto time = [&] { return predict(layer, a100, *model_inputs(a100, Frequency{1155e6})).time.value(); };
    EXPECT_NEAR(time(), 21e-6, 2e-6);
    std::get<Gemm>(layer.op).k = 512;
    EXPECT_NEAR(time(), 12.3e-6, 1.2e-6);
}

}  // namespace
}  // namespace gambrel
