// Operands of products on CUDA cores that lie along k and are asked for one sector of each row at a time: each on rows
// of gemm_time_tiles_fp32.
#include <algorithm>
#include <cmath>

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
    EXPECT_NEAR(v100.time.value(), 2.35e-3, 0.15 * 2.35e-3);
}

// Of 860 products of 53 rows the operand along k is a fifth of what is read. While DRAM opens rows for it, other banks
// send the rest: 7.25 ms on P4, where one after the other would take 9.
TEST(SingleSectors, leave_dram_time_for_what_comes_beside_them) {
    const Gemm gemm{.m = 53, .n = 212, .k = 886, .batch = 860};
    const Prediction p = predicted_on("p4", product(gemm, "maxwell_sgemm_128x64_nn"));
    EXPECT_EQ(p.bound, Term::dram);
    EXPECT_NEAR(p.time.value(), 7.25e-3, 0.08 * 7.25e-3);
    const ModelInputs p4 = *model_inputs(machine("p4"));
    const double bandwidth = 0.8125 * p4.dram_bandwidth.value();  // check bits in the same memory
    const double moved = p.traffic.dram.total().value() / bandwidth;
    const double alone = p.traffic.dram.a.value() * (1 + p4.architecture->dram_row_change.value() / 32) / bandwidth;
    const double together = p.terms[Term::dram].value();
    EXPECT_GT(together, std::max(moved, alone));
    const double of_a = p.traffic.dram.a.value() / bandwidth;
    EXPECT_NEAR(together * together, moved * moved + alone * alone - of_a * of_a, 1e-9 * together * together);
}

// A row of DRAM holds the pieces of several short rows of the operand, and a kernel whose warps share out the step
// takes whole lines.
TEST(SingleSectors, come_the_slower_the_further_the_rows_are_apart_and_the_shorter_the_piece) {
    const auto rate = [](std::int64_t k, const char* kernel, bool transposed) {
        const Gemm gemm{.m = 1 << 21, .n = 16, .k = k, .b_transposed = transposed};
        const Prediction p = predicted_on("v100-pcie-32gb", product(gemm, kernel));
        return static_cast<double>(k) / p.terms[Term::dram].value();
    };
    const double near = rate(64, "volta_sgemm_64x64_nn", false), far = rate(256, "volta_sgemm_64x64_nn", false);
    EXPECT_LT(far, 0.7 * near);
    EXPECT_NEAR(rate(1024, "volta_sgemm_64x64_nn", false), far, 0.1 * far);
    EXPECT_GT(rate(1024, "volta_sgemm_64x32_sliced1x4_tn", true), 1.4 * rate(1024, "volta_sgemm_64x64_tn", true));
}

// 16,381 columns: seven of eight rows begin inside a sector, and of each 128 bytes of them one sector is written in
// part. 338 us on V100.
TEST(PartialWrites, take_the_time_of_a_read_on_volta_and_turing_with_ecc) {
    const auto row = [](std::int64_t n, const char* id) {
        const Gemm gemm{.m = 1650, .n = n, .k = 5, .b_transposed = true};
        Layer layer = product(gemm, "volta_sgemm_128x64_tn");
        layer.hints.timing = Timing::framework;
        return predicted_on(id, layer);
    };
    const auto in_part = [&](std::int64_t n, const char* id) { return row(n, id).traffic.completed.value(); };
    EXPECT_DOUBLE_EQ(in_part(16381, "v100-pcie-32gb"), 1650.0 * 16381 * 4 * 7 / 8 / 4);
    EXPECT_DOUBLE_EQ(in_part(16380, "v100-pcie-32gb"), 1650.0 * 16380 * 4 / 2 / 4);
    EXPECT_EQ(in_part(16384, "v100-pcie-32gb"), 0);
    EXPECT_EQ(in_part(16381, "titan-v"), 0);  // sold without ECC
    EXPECT_EQ(in_part(16381, "p100-pcie-16gb"), 0);
    const double odd = row(16381, "v100-pcie-32gb").time.value();
    EXPECT_NEAR(odd, 338e-6, 0.15 * 338e-6);
    EXPECT_GT(odd, 1.3 * row(16384, "v100-pcie-32gb").time.value());
}

// Counters of T4 show the reads; those of GPUs with HBM do not, where further stores complete the sector in L2.
TEST(PartialWrites, read_dram_where_check_bits_lie_beside_the_data) {
    const auto dram = [](std::int64_t side, const char* id) {
        Layer layer = layer_of(Convolution{.n = 64, .c = 32, .h = side, .w = side, .k = 64, .r = 1, .s = 1});
        layer.hints.algorithm = "IMPLICIT_PRECOMP_GEMM";
        const OperandBytes once = compulsory_bytes(layer);
        return predicted_on(id, layer).traffic.dram.c.value() / once.written.value();
    };
    EXPECT_DOUBLE_EQ(dram(56, "t4"), 1);
    EXPECT_DOUBLE_EQ(dram(55, "t4"), 1 + 7.0 / 8 / 4);
    EXPECT_DOUBLE_EQ(dram(54, "t4"), 1 + 1.0 / 2 / 4);
    EXPECT_DOUBLE_EQ(dram(55, "v100-pcie-32gb"), 1);
}

// 64x64 has two warps: the second CTA of an SM stands on the same two schedulers, the third and fourth on the others.
// 152 CTAs take 177 us on V100, where two that share all schedulers would take 130.
TEST(TwoWarps, of_a_cta_leave_half_of_the_schedulers_to_the_third) {
    const auto busy = [](std::int64_t per_sm) {
        const Gemm gemm{.m = 64, .n = 64, .k = 2048, .batch = 80 * per_sm};
        const Machine& v100 = machine("v100-pcie-32gb");  // at a clock that is held, whatever power the CTAs need
        const auto at_boost = model_inputs(v100, v100.clocks.boost->value);
        return predict(product(gemm, "volta_sgemm_64x64_nn"), v100, *at_boost).terms[Term::latency].value();
    };
    EXPECT_GT(busy(2), 1.5 * busy(1));
    EXPECT_DOUBLE_EQ(busy(3), busy(2));
    EXPECT_DOUBLE_EQ(busy(4), busy(2));
    EXPECT_NEAR(busy(5), 1.5 * busy(4), 0.01 * busy(4));
    EXPECT_NEAR(busy(8), 2 * busy(4), 0.01 * busy(4));
    const Gemm measured{.m = 66, .n = 81, .k = 767, .batch = 38};
    Layer layer = product(measured, "volta_sgemm_64x64_nn");
    layer.hints.timing = Timing::framework;
    EXPECT_NEAR(predicted_on("v100-pcie-32gb", layer).time.value(), 177e-6, 0.2 * 177e-6);
}

// Multiplications take 1.2 ms and memory 1.1 on V100, and together 1.49. Where CTAs have four warps, the longer time
// hides the shorter one.
TEST(TwoWarps, of_a_cta_hide_only_a_part_of_the_memorys_time) {
    const Gemm gemm{.m = 182, .n = 839, .k = 45, .batch = 820};
    const auto beyond = [&](const char* kernel) {
        const Prediction p = predicted_on("v100-pcie-32gb", product(gemm, kernel));
        const TimeTerms& t = p.terms;
        const double busy = t[Term::latency].value(), memory = std::max(t[Term::l2], t[Term::dram]).value();
        const double kernels = (p.time - t[Term::launch] - t.prologue - t.epilogue).value();
        const double longer = std::max(busy, memory), shorter = std::min(busy, memory);
        return (std::pow(kernels / longer, 3) - 1) / std::pow(shorter / longer, 3);
    };
    EXPECT_NEAR(beyond("volta_sgemm_64x64_nn"), 1, 1e-6);
    EXPECT_NEAR(beyond("volta_sgemm_128x64_nn"), 0, 1e-6);
    const Prediction p = predicted_on("v100-pcie-32gb", product(gemm, "volta_sgemm_64x64_nn"));
    EXPECT_NEAR(p.time.value(), 1.49e-3, 0.08 * 1.49e-3);
}

// 26 x 12 CTAs of 64x64_tn: 73.9 ms on P4, 3.4 times as long as if all CTAs in flight kept step.
TEST(SingleSectors, are_shared_the_less_the_longer_k_is) {
    const auto row = [](std::int64_t k) {
        const Gemm gemm{.m = 712, .n = 1658, .k = k, .b_transposed = true};
        return predicted_on("p4", product(gemm, "maxwell_sgemm_64x64_tn"));
    };
    EXPECT_NEAR(row(26702).time.value(), 73.9e-3, 0.3 * 73.9e-3);
    EXPECT_GT(row(26702).traffic.reads_of_a, 2 * row(2670).traffic.reads_of_a);
    EXPECT_LT(row(267).traffic.reads_of_a, 1.4);
}

// In flight are 160 CTAs of 64x64 or 80 of 32x128, of which L2 holds 3 and 5 steps.
TEST(SingleSectors, are_lost_later_by_kernels_of_which_l2_holds_more_steps) {
    const auto lost = [](const char* kernel) {
        const Gemm gemm{.m = 2048, .n = 8192, .k = 4096, .b_transposed = true};
        const Traffic t = predicted_on("p4", product(gemm, kernel)).traffic;
        const bool small = std::string_view(kernel).find("64x64") != std::string_view::npos;
        const double ctas_of_panel = small ? 8192 / 64 : 8192 / 32;
        return (t.reads_of_a - 1) / (ctas_of_panel - 1);
    };
    EXPECT_GT(lost("maxwell_sgemm_64x64_tn"), 2 * lost("maxwell_sgemm_32x128_tn"));
}

// The operand along which CTAs walk meets its next readers a panel later: with more waves more of it is lost.
TEST(SingleSectors, of_the_walked_operand_are_lost_with_every_wave) {
    const auto lost = [](std::int64_t m) {
        const Gemm gemm{.m = m, .n = 1024, .k = 4096, .b_transposed = true};
        const double together = 1024.0 / 64 / 160, panels = static_cast<double>(m) / 64;
        const double reads = predicted_on("p4", product(gemm, "maxwell_sgemm_64x64_tn")).traffic.reads_of_b;
        return (reads - panels * together) / (panels - panels * together);
    };
    EXPECT_GT(lost(64 * 64), 1.5 * lost(64 * 10));
}

}  // namespace
}  // namespace gambrel
