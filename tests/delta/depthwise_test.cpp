// cuDNN 7's depthwise kernel, which has a CTA for each image and channel: calls of conv_time_cudnn_fp32 by
// IMPLICIT_GEMM.
#include <gtest/gtest.h>
#include <gambrel/delta.hpp>

#include "mapping/sample.hpp"

namespace gambrel {
namespace {

using namespace test;

Prediction depthwise(const char* gpu, double mhz, std::int64_t images, std::int64_t channels, std::int64_t side) {
    Convolution v = square(images, channels, side, channels, 3, 1);
    v.groups = channels;
    Layer layer = layer_of(v, Pass::fwd, Precision::fp32);
    layer.hints.algorithm = "IMPLICIT_GEMM";
    layer.hints.timing = Timing::call;
    return predict(layer, machine(gpu), *model_inputs(machine(gpu), Frequency{mhz * 1e6}));
}

// M60 takes 173 cycles of an SM for 32 outputs of 7 x 7 planes, which occupy two of a CTA's eight warps, and 48 of
// 28 x 28 planes: 925 us for 32 x 960 planes, 1.0 ms for 32 x 384.
TEST(Depthwise, planes_of_a_warp_or_two_wait_for_their_taps_where_l1_keeps_nothing) {
    const Prediction small = depthwise("m60", 557, 32, 960, 7);
    EXPECT_EQ(small.bound, Term::latency);
    EXPECT_NEAR(small.time.value(), 925e-6, 0.2 * 925e-6);
    const double of_small = small.time.value() / 49, of_large = depthwise("m60", 557, 32, 960, 28).time.value() / 784;
    EXPECT_GT(of_small, 2.5 * of_large);
    const double kept = depthwise("v100-sxm2-16gb", 1312, 32, 960, 7).time.value() / 49;
    EXPECT_LT(kept, 2 * depthwise("v100-sxm2-16gb", 1312, 32, 960, 28).time.value() / 784);
}

// One image of 32 planes of 112 x 112 takes 34 us on V100 and 115 us on M60, where many images take 10 and 68 us each:
// a thread goes through 49 outputs one after the other. L2 holds the tensors of one image on V100 and T4, and not those
// of two, which take 45 us on V100 and 84 on T4, 55 with one, as each of the 49 waits for DRAM.
TEST(Depthwise, few_large_planes_take_as_long_as_one_cta) {
    EXPECT_NEAR(depthwise("v100-sxm2-16gb", 1312, 1, 32, 112).time.value(), 34e-6, 0.3 * 34e-6);
    EXPECT_NEAR(depthwise("m60", 557, 1, 32, 112).time.value(), 115e-6, 0.25 * 115e-6);
    const auto second = [](const char* gpu, double mhz) {
        return (depthwise(gpu, mhz, 2, 32, 112).time - depthwise(gpu, mhz, 1, 32, 112).time).value();
    };
    EXPECT_NEAR(second("v100-sxm2-16gb", 1312), 11e-6, 0.4 * 11e-6);
    EXPECT_NEAR(second("t4", 585), 28.5e-6, 0.3 * 28.5e-6);
}

// 256 x 960 planes of 7 x 7 take 98 cycles of an SM each on V100 and 97 on TITAN V, and 128 of 112 x 112 take 50 for 32
// outputs: 196 and 201 issue slots for each warp's outputs, wherever they lie.
TEST(Depthwise, warps_of_a_plane_take_the_same_slots_in_small_and_in_large_ones) {
    const auto cycles = [](const Prediction& p, double warps) { return p.time.value() * 1312e6 * 80 / warps; };
    EXPECT_NEAR(cycles(depthwise("v100-sxm2-16gb", 1312, 256, 960, 7), 256 * 960 * 2), 49, 0.1 * 49);
    EXPECT_NEAR(cycles(depthwise("v100-sxm2-16gb", 1312, 128, 32, 112), 128 * 32 * 392), 50, 0.1 * 50);
}

// A100 runs cuDNN 8, whose CTAs have 1,024 outputs in the order of memory: only their number counts.
TEST(Depthwise, planes_make_no_difference_to_cudnn_8) {
    const double few = depthwise("a100-sxm4-80gb", 1410, 64, 16 * 64, 14).time.value();
    EXPECT_NEAR(depthwise("a100-sxm4-80gb", 1410, 64, 64 * 64, 7).time.value() / few, 1, 0.1);
}

}  // namespace
}  // namespace gambrel
