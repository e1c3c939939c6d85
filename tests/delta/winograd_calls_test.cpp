// Calls of cuDNN 7 by Winograd's algorithm, each mechanism on rows of conv_time_cudnn_fp32 that nothing else explains.
#include <gtest/gtest.h>
#include <gambrel/delta.hpp>

#include "mapping/sample.hpp"

namespace gambrel {
namespace {

using namespace test;

Prediction on(const char* gpu, double mhz, const Convolution& v, const char* algorithm) {
    Layer layer = layer_of(v);
    layer.hints.algorithm = algorithm;
    return predict(layer, machine(gpu), *model_inputs(machine(gpu), Frequency{mhz * 1e6}));
}
double microseconds(const Prediction& p) { return p.time.value() * 1e6; }

// An SM of T4 holds one CTA of the fused kernel, that of V100 two: only there one multiplies while the other stores.
// The fewer channels, the more of a CTA is before and after its loop: T4 took 1.39 times as long as its multiplications
// and loads with 16 channels, 1.17 times with 64 and 1.05 times with 256.
TEST(FusedWinograd, multiplies_nothing_before_and_after_the_loop_of_a_cta_that_is_alone) {
    struct Row {
        Convolution layer;
        double t4, v100;  // us
    };
    const Row rows[] = {{square(1, 16, 208, 32, 3, 1), 216.79, 44.98},
                        {square(8, 64, 112, 64, 3, 1), 2093.08, 350.68},
                        {square(16, 256, 56, 256, 3, 1), 15396.85, 2672.52}};
    for (const auto& [layer, t4, v100] : rows) {
        EXPECT_NEAR(microseconds(on("t4", 585, layer, "WINOGRAD")) / t4, 1, 0.1) << layer.c;
        EXPECT_NEAR(microseconds(on("v100-sxm2-16gb", 1312, layer, "WINOGRAD")) / v100, 1, 0.1) << layer.c;
    }
}

// 512 x 512 filters take most of a call for two images: 739 us on M60, of which 0.33 were missing with filters that
// come from L2 once, and 164 us on V100, whose L1 keeps their sectors from tap to tap.
TEST(FusedWinograd, loads_the_sectors_of_a_filter_again_for_each_tap_where_l1_keeps_none) {
    const Convolution v = square(2, 512, 7, 512, 3, 1);
    const Prediction m60 = on("m60", 557, v, "WINOGRAD"), v100 = on("v100-sxm2-16gb", 1312, v, "WINOGRAD");
    EXPECT_NEAR(microseconds(m60) / 739.2, 1, 0.15);
    EXPECT_NEAR(microseconds(v100) / 164.29, 1, 0.1);
    const Bytes filters = compulsory_bytes(layer_of(v)).filter;
    EXPECT_GT(m60.traffic.l2.b, v100.traffic.l2.b + 7 * filters);
}

// DeepBench, cuDNN 7.6.2: as implicit GEMMs these would take 1.5 to 3 times as long.
TEST(SeparateWinograd, takes_as_long_for_filter_gradients_as_deepbench_measured) {
    struct Row {
        Convolution layer;
        double v100, t4;  // us
    };
    const Row rows[] = {{square(16, 128, 28, 128, 3, 1), 153, 413},
                        {square(16, 256, 28, 512, 3, 1), 766, 2237},
                        {square(8, 512, 14, 512, 3, 1), 278, 894}};
    for (const auto& [v, v100, t4] : rows) {
        Layer layer = layer_of(v, Pass::wgrad);
        layer.hints.algorithm = "WINOGRAD_NONFUSED";
        layer.hints.algorithm_found = true;
        for (const auto& [gpu, measured] : {std::pair{"v100-sxm2-16gb", v100}, {"t4", t4}}) {
            const ModelInputs inputs = *model_inputs(machine(gpu));
            EXPECT_NEAR(predict(layer, machine(gpu), inputs).time.value() * 1e6 / measured, 1, 0.12)
                << gpu << ' ' << v.h;
        }
    }
}

// conv_traffic_a100: 2 x 128 x 4 x 4 by 128 filters moves 6.54 MB at L1 and 3.61 MB at DRAM. Its 36 products are of 16
// rows, of which a CTA has 128: with whole tiles there would be 10.7 and 5.6 MB.
TEST(SeparateWinograd, loads_and_stores_only_what_there_is_of_a_tile) {
    Layer layer = layer_of(square(2, 128, 4, 128, 3, 1));
    layer.hints.algorithm = "WINOGRAD_NONFUSED";
    layer.hints.cold = true;
    const Machine& a100 = machine("a100-sxm4-80gb");
    const Traffic t = predict(layer, a100, *model_inputs(a100, Frequency{1155e6})).traffic;
    EXPECT_NEAR(t.l1.total().value() / 6.54e6, 1, 0.05);
    EXPECT_NEAR(t.counted_dram().value() / 3.61e6, 1, 0.05);
}

// K80: seven CTAs, one for an SM, take 245 us for 28 steps, of which 0.24 are waits. In 40 waves, in which CTAs no
// longer wait together, 10.2 ms, of which 0.14 are.
TEST(FusedWinograd, waits_for_its_patch_in_every_step_on_kepler) {
    EXPECT_NEAR(microseconds(on("k80", 562, square(1, 224, 7, 224, 3, 1), "WINOGRAD")) / 244.9, 1, 0.08);
    EXPECT_NEAR(microseconds(on("k80", 562, square(64, 256, 14, 256, 3, 1), "WINOGRAD")) / 10220, 1, 0.05);
}

// conv_traffic_a100: 1 x 512 x 8 x 32 by 512 filters, two blocks of outputs: most of its 81.8 MB at L1 are filters.
TEST(FusedWinograd, asks_l1_for_each_filter_twice_as_it_transforms_it) {
    Convolution v = square(1, 512, 8, 512, 3, 1);
    v.w = 32;
    EXPECT_NEAR(on("a100-sxm4-80gb", 1155, v, "WINOGRAD").traffic.l1.total().value() / 81.83e6, 1, 0.02);
}

// 960 groups of one channel and one filter, 7 x 7 pixels: nothing to multiply, but 36 launches each.
TEST(SeparateWinograd, launches_its_products_one_after_another_on_kepler) {
    Convolution v = square(1, 960, 7, 960, 3, 1);
    v.groups = 960;
    EXPECT_NEAR(microseconds(on("k80", 562, v, "WINOGRAD_NONFUSED")) / 960 / 548.7, 1, 0.1);
    EXPECT_NEAR(microseconds(on("grid-k520", 797, v, "WINOGRAD_NONFUSED")) / 960 / 160.1, 1, 0.1);
    EXPECT_LT(microseconds(on("m60", 557, v, "WINOGRAD_NONFUSED")) / 960, 36);
}

}  // namespace
}  // namespace gambrel
