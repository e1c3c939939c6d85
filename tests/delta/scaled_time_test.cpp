// Products in FP8 by kernels that are known from their source: clusters, whole waves, what they read again, and the
// kernels that quantize their input. H100 has 132 SMs, 66 clusters of two.
#include <cmath>

#include <gtest/gtest.h>
#include <gambrel/delta.hpp>

namespace gambrel {
namespace {

Prediction on_h100(std::int64_t m, std::int64_t n, std::int64_t k, InputScales scales = InputScales::tensor) {
    static const Machine& machine = *find_in_catalogue("h100-sxm");
    static const ModelInputs inputs = *model_inputs(machine);
    Layer layer;
    layer.op = Gemm{.m = m, .n = n, .k = k};
    layer.precision = Precision::fp8;
    layer.hints.quantizes_input = scales;
    layer.hints.timing = Timing::graph;
    const Mapping mapping = mapping_for(layer, machine, inputs.limits);
    return predict(layer, mapping, occupancy(inputs.limits, mapping), inputs);
}
double busy(const Prediction& p) { return p.terms[Term::latency] / Seconds{1}; }

// 66 rows of tiles are one whole wave of 132 CTAs with two columns; one row of the matrix more has a tile of its own,
// and the cluster of two that it needs is filled up: 68 rows of tiles, a second wave. SMs that are idle in it leave
// their power to the others.
TEST(ScaledProducts, have_whole_waves_of_whole_clusters) {
    const double even = busy(on_h100(66 * 128, 256, 1024)), more = busy(on_h100(66 * 128 + 1, 256, 1024));
    EXPECT_GT(more / even, 1.7);
    EXPECT_LT(more / even, 2);
}

// 256 x 64 x 65,536 has two CTAs, which multiply at 2,000 TFLOP/s for 132 SMs, as at boost clock; full waves reach
// 1,330.
TEST(ScaledProducts, of_few_ctas_have_the_power_of_idle_sms) {
    const double few = busy(on_h100(256, 64, 4096)), half = busy(on_h100(256, 64 * 128, 4096)),
                 all = busy(on_h100(256, 66 * 128, 4096));
    EXPECT_NEAR(few / all, 0.83, 0.02);
    EXPECT_LT(few, half);
    EXPECT_LT(half, all);
}

// Measured: 1,600 TFLOP/s with 8,192 rows, 690 with 4,096 and 804 with 16,384, N and K of 51,200. Tiles of 128 x 128
// wait for L2, those of 256 x 128 multiply all the time, unless their DRAM traffic is too much for that.
TEST(ScaledProducts, read_their_rows_again_where_ctas_wait_for_memory) {
    const auto rate = [](std::int64_t m) {
        const Prediction p = on_h100(m, 51200, 51200);
        return p.flop.value() / p.time.value() / 1e12;
    };
    EXPECT_NEAR(rate(8192), 1600, 200);
    EXPECT_NEAR(rate(4096), 690, 160);
    EXPECT_NEAR(rate(16384), 804, 160);
}

// 32,768 x 16,384: 128 rows and as many columns of tiles are walked along the columns, B is read by one cluster at a
// time; four times the columns are walked along the rows, of which a wave has all.
TEST(ScaledProducts, walk_along_the_shorter_side_of_their_grid) {
    const auto share_of_dram = [](std::int64_t n) {
        const Prediction p = on_h100(32768, n, 65536);
        return p.terms[Term::dram] / p.terms[Term::latency];
    };
    EXPECT_LT(share_of_dram(16384), 0.8);
    EXPECT_GT(share_of_dram(65536), 1.5);
}

// M = 128 m + 1 reaches a fifth to a third less than M = 128 m; of 2,305 rows the further cluster is a ninth.
TEST(ScaledProducts, lose_step_where_a_cluster_reaches_past_the_last_row) {
    const double more = on_h100(2305, 12288, 7168).time / on_h100(2304, 12288, 7168).time;
    EXPECT_GT(more, 1.15);
    EXPECT_LT(more, 1.45);
}

// 2 x 32 x 65,536 takes 52 us on H100, of which bytes would be 1 us: two CTAs wait for their rows, 64 times for four
// elements a thread and 16 times for sixteen.
TEST(ScaledProducts, wait_for_each_step_of_long_rows_to_be_quantized) {
    const double longer = on_h100(2, 32, 65536).time.value(), shorter = on_h100(2, 32, 1024).time.value();
    EXPECT_GT(longer, 38e-6);
    EXPECT_LT(longer, 60e-6);
    EXPECT_LT(shorter, 10e-6);
}

// 1,024 x 4,096 in BF16 is 8 MB: the second kernel finds it in L2. Sixteen times as many columns it does not: five
// bytes an element at 2.9 TB/s.
TEST(ScaledProducts, find_a_short_input_in_l2_when_it_is_read_again) {
    const auto quantized = [](std::int64_t k) {
        return (on_h100(1024, 128, k).terms[Term::launch] - on_h100(1024, 128, 32).terms[Term::launch]).value();
    };
    EXPECT_GT(quantized(65536), 1.5e-12 * 1024 * 65536);
    EXPECT_LT(quantized(4096), 1.5e-12 * 1024 * 4096 / 2);
}

}  // namespace
}  // namespace gambrel
