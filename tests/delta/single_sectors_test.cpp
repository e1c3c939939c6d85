// Operands of products on CUDA cores that lie along k and are asked for one sector of each row at a time: each on rows
// of gemm_time_tiles_fp32.
#include <gtest/gtest.h>
#include <gambrel/delta.hpp>

#include "mapping/sample.hpp"

namespace gambrel {
namespace {

using namespace test;

Prediction predicted_on(const char* id, const Layer& layer) {
    return predict(layer, machine(id), *model_inputs(machine(id)));
}

Layer product(const Gemm& gemm, const char* kernel) {
    Layer layer = layer_of(gemm);
    layer.hints.kernel = kernel;
    layer.hints.kernels = 1;
    return layer;
}

// gemm_time_tiles_fp32, P4: 540 ms by 64x64_tn, of which 136 ms are multiplications.
TEST(SingleSectors, of_both_operands_come_slowly_on_pascal) {
    Layer tn = layer_of(Gemm{.m = 7188, .n = 32806, .k = 1303, .b_transposed = true});
    tn.hints.kernel = "maxwell_sgemm_64x64_tn";
    const Prediction p = predicted_on("p4", tn);
    EXPECT_EQ(p.bound, Term::dram);
    EXPECT_NEAR(p.time.value(), 540e-3, 0.15 * 540e-3);
    // Volta's L1 keeps the line that a sector is part of.
    EXPECT_NE(predicted_on("v100-pcie-16gb", tn).bound, Term::dram);
    // Where one operand runs along its rows the other does not slow it down.
    Layer nn = layer_of(Gemm{.m = 7188, .n = 32806, .k = 1303});
    nn.hints.kernel = "maxwell_sgemm_64x64_nn";
    EXPECT_LT(predicted_on("p4", nn).time.value(), 0.5 * p.time.value());
}

// One column of tiles: the operand along k is read once, and nothing shares its sectors. 24.4 ms on P4, of which 15 ms
// are multiplications; 2.35 ms on V100, where its 561 MB would take 0.65 ms at full bandwidth.
TEST(SingleSectors, of_one_operand_take_most_of_a_product_of_few_columns) {
    const Gemm on_pascal{.m = 879, .n = 125, .k = 652, .batch = 416},
        on_volta{.m = 775, .n = 21, .k = 910, .batch = 199};
    const Prediction p4 = predicted_on("p4", product(on_pascal, "maxwell_sgemm_128x64_nn"));
    EXPECT_EQ(p4.bound, Term::dram);
    EXPECT_NEAR(p4.time.value(), 24.4e-3, 0.15 * 24.4e-3);
    const Prediction v100 = predicted_on("v100-pcie-32gb", product(on_volta, "volta_sgemm_32x128_nn"));
    EXPECT_EQ(v100.bound, Term::dram);
    EXPECT_GT(v100.time.value(), 1.1e-3);
    EXPECT_LT(v100.time.value(), 2.4e-3);
}

// 26 x 12 CTAs of 64x64_tn: 73.9 ms on P4, 3.4 times as long as if all CTAs in flight kept step.
TEST(SingleSectors, are_shared_the_less_the_longer_k_is) {
    const auto row = [](std::int64_t k) {
        const Gemm gemm{.m = 712, .n = 1658, .k = k, .b_transposed = true};
        return predicted_on("p4", product(gemm, "maxwell_sgemm_64x64_tn"));
    };
    EXPECT_NEAR(row(26702).time.value(), 73.9e-3, 0.2 * 73.9e-3);
    EXPECT_GT(row(26702).traffic.reads_of_a, 3 * row(2670).traffic.reads_of_a);
    EXPECT_LT(row(267).traffic.reads_of_a, 1.2);
}

}  // namespace
}  // namespace gambrel
