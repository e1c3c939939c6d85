// Calls of cuDNN 7 by IMPLICIT_GEMM, whose times against k are straight lines: the cycles of an element of k, and what
// a call takes beside its kernels, each on numbers of conv_time_cudnn_fp32.
#include <gtest/gtest.h>
#include <gambrel/delta.hpp>

#include "mapping/sample.hpp"

namespace gambrel {
namespace {

using namespace test;

Layer called(const Convolution& v, const char* algorithm) {
    Layer layer = layer_of(v);
    layer.hints.algorithm = algorithm;
    return layer;
}
struct ClockedBoard {
    ClockedBoard(const char* id, double mhz) : name(id), clock(mhz * 1e6) {}
    [[nodiscard]] Prediction predicted(const Layer& layer) const {
        return predict(layer, machine(name), *model_inputs(machine(name), clock));
    }
    // Of 1 x 1 filters on images of 32 pixels, by CTAs of 32 x 32.
    [[nodiscard]] double cycles_of_element(std::int64_t ctas, std::int64_t channels = 64,
                                           std::int64_t filters = 128) const {
        const auto time = [&](std::int64_t c) {
            Convolution v = square(ctas * 32 / filters, c, 32, filters, 1);
            v.h = 1;
            return predicted(called(v, "IMPLICIT_GEMM")).time;
        };
        return (time(2 * channels) - time(channels)).value() * clock.value() / static_cast<double>(channels);
    }
    const char* name;
    Frequency clock;
};
const ClockedBoard kClockedV100{"v100-sxm2-16gb", 1312}, kClockedTitanV{"titan-v", 1200}, kClockedT4{"t4", 585};

// Measured: 72.9, 71.4 and 68.0 cycles, though their DRAM is 432, 313 and 500 cycles away: L2 is 212, 211 and 188.
TEST(Engines, wait_for_l2_where_a_call_finds_there_what_the_one_before_it_left) {
    EXPECT_NEAR(kClockedV100.cycles_of_element(80), 72.9, 3);
    EXPECT_NEAR(kClockedTitanV.cycles_of_element(80), 71.4, 3);
    EXPECT_NEAR(kClockedT4.cycles_of_element(40), 68.0, 4);
    // 20 images of 4,096 channels do not fit.
    EXPECT_NEAR(kClockedV100.cycles_of_element(80, 4096) - kClockedV100.cycles_of_element(80), (432.5 - 212.1) / 8,
                2.01);
}

// 1 x 1 filters, three, four and five CTAs on an SM of V100: 127, 130 and 174 cycles where the operands fit into L2,
// 124, 126 and 176 where they do not.
TEST(Engines, wait_for_l2_where_a_cta_beside_them_has_fetched_what_they_need) {
    for (const std::int64_t n : {3, 4, 5})
        EXPECT_NEAR(kClockedV100.cycles_of_element(80 * n, 4096), kClockedV100.cycles_of_element(80 * n), 1) << n;
}

// Times of conv_time_cudnn_fp32 against k, CTAs of an SM:   1   2   3   4   7  16
// GRID K520, 32 x 32                                      215 231 242 236 266 389
// GRID K520, 64 x 128                                     208 284 376 461
// M60, 32 x 32                                            144     181 205 238 376
// A thread waits for each of its four or two pixels of a step, and once for its filters, whatever runs beside it.
TEST(Engines, wait_for_each_pixel_in_turn_before_volta) {
    const ClockedBoard kepler{"grid-k520", 797}, maxwell{"m60", 557};
    const auto narrow = [](const ClockedBoard& board, std::int64_t sms, std::int64_t n) {
        return board.cycles_of_element(sms * n, 64, 32);
    };
    for (const auto& [n, measured] : {std::pair{1, 215.}, {2, 231.}, {3, 242.}, {4, 236.}, {7, 266.}, {16, 389.}})
        EXPECT_NEAR(narrow(kepler, 8, n), measured, 0.08 * measured) << n;
    for (const auto& [n, measured] : {std::pair{1, 208.}, {2, 284.}, {3, 376.}, {4, 461.}})
        EXPECT_NEAR(kepler.cycles_of_element(8 * 8 * n, 64, 128), measured, 0.08 * measured) << n;
    for (const auto& [n, measured] : {std::pair{1, 144.}, {3, 181.}, {4, 205.}, {7, 238.}, {16, 376.}})
        EXPECT_NEAR(narrow(maxwell, 16, n), measured, 0.15 * measured) << n;
}

// Where the input was written out as a matrix, a step of a CTA waits twice.
TEST(Engines, wait_less_for_a_matrix_that_was_written_out) {
    const ClockedBoard board{"m60", 557};
    Layer layer = called(square(1, 1024, 14, 64, 1), "IMPLICIT_GEMM");
    layer.hints.timing = Timing::kernel;
    const Prediction in_turn = board.predicted(layer);
    layer.hints.algorithm = "GEMM";
    const Prediction together = board.predicted(layer);
    const double waits = (in_turn.terms[Term::latency] - together.terms[Term::latency]) / Seconds{207 / 557e6};
    EXPECT_NEAR(waits, 3 * 1024 / 8, 1);
}

// conv_time_cudnn_fp32, 64 channels of 56 x 56 and 256 filters: with several CTAs on an SM to hide the stores, as in
// kernels of more than one stage, 0.75 (V100), 0.77 (TITAN V) and 0.87 (T4) of the measured times.
TEST(Engines, multiply_nothing_while_they_store_their_outputs) {
    const Layer layer = called(square(128, 64, 56, 256, 1), "IMPLICIT_GEMM");
    EXPECT_NEAR(kClockedV100.predicted(layer).time.value() / 1991e-6, 1, 0.12);
    EXPECT_NEAR(kClockedTitanV.predicted(layer).time.value() / 2270e-6, 1, 0.1);
    EXPECT_NEAR(kClockedT4.predicted(layer).time.value() / 7747e-6, 1, 0.1);
    const Prediction p = kClockedV100.predicted(layer);
    EXPECT_GT(p.time, p.terms[Term::latency] + compulsory_bytes(layer).written / Bandwidth{900e9});
}

// Two CTAs of fused Winograd on an SM of V100 hide no stores either; engines with precomputed offsets do.
TEST(Engines, that_load_offsets_hide_their_stores_and_fused_winograd_does_not) {
    const Convolution v = square(32, 64, 56, 64, 3, 1);
    const auto epilogue = [&](const char* gpu, const char* algorithm) {
        return predict(called(v, algorithm), machine(gpu), *model_inputs(machine(gpu))).terms.epilogue;
    };
    const Seconds stored =
        compulsory_bytes(layer_of(v)).written / model_inputs(machine("a100-sxm4-80gb"))->dram_bandwidth;
    EXPECT_GT(epilogue("a100-sxm4-80gb", "IMPLICIT_GEMM"), 0.9 * stored);
    EXPECT_LT(epilogue("a100-sxm4-80gb", "IMPLICIT_PRECOMP_GEMM"), 0.6 * stored);
    EXPECT_GT(epilogue("a100-sxm4-80gb", "WINOGRAD"), 0.9 * stored);
}

// Cycles of an element of k on K80, with CTAs of 32 x 32: 211 for one on an SM in 123 of 159 shapes, and 20 for each of
// many waves, in which CTAs no longer start, and wait, together.
TEST(Engines, of_later_waves_fill_each_others_waits_on_k80) {
    const ClockedBoard board{"k80", 562};
    EXPECT_NEAR(board.cycles_of_element(13, 64, 32), 211, 8);
    EXPECT_NEAR(board.cycles_of_element(13 * 16 * 8, 64, 32) / (16 * 8), 20, 2.5);
    // In the first wave those on other schedulers do so too: 1, 4 and 8 CTAs take 212, 232 and 264 cycles.
    EXPECT_NEAR(board.cycles_of_element(13 * 4, 64, 32), 232, 0.06 * 232);
    EXPECT_NEAR(board.cycles_of_element(13 * 8, 64, 32), 264, 0.06 * 264);
    const double first = board.cycles_of_element(13 * 16, 64, 32), both = board.cycles_of_element(13 * 32, 64, 32);
    EXPECT_NEAR(2 * first - both, 0, 1);
}

// 3 x 3 filters on V100: 106 FLOP a cycle and SM with many CTAs and a long reduction.
TEST(Engines, find_the_pixels_of_further_taps_in_l2) {
    Convolution v = square(8, 512, 100, 512, 3, 1);
    const Prediction p = kClockedV100.predicted(called(v, "IMPLICIT_GEMM"));
    const Mapping& m = p.mapping;
    const double steps = 512 * 9 / 8., waves = p.terms.waves, rounds = std::ceil(waves);
    const Seconds busy = p.terms[Term::compute] + steps * rounds * Cycles{212.1} / kClockedV100.clock;
    EXPECT_EQ(m.cta, (Tile{64, 128, 8}));
    EXPECT_NEAR(p.terms[Term::latency] / busy, 1, 0.01);
    EXPECT_NEAR(flop(layer_of(v)).value() / (p.time.value() * 1312e6 * 80), 106, 10);
}

// CTAs of an SM   1   2   3   4   5   6   8
// measured       73 114 124 128 166 209 240
TEST(Engines, of_two_warps_stand_two_by_two_on_half_of_the_schedulers) {
    const auto ctas = [](std::int64_t n) { return kClockedV100.cycles_of_element(80 * n); };
    const double measured[] = {73, 114, 124, 128, 166, 209, 227, 240};
    for (std::int64_t n = 1; n <= 8; ++n) EXPECT_NEAR(ctas(n), measured[n - 1], 0.1 * measured[n - 1]) << n;
    EXPECT_NEAR(ctas(2), ctas(4), 0.02 * ctas(4));
    EXPECT_GT(ctas(5), 1.2 * ctas(4));
}

// T4's shared memory gives half as much in a cycle as V100's: where SMs are full of them a CTA takes 34.3 and 26.3
// cycles.
TEST(Engines, take_their_fragments_from_shared_memory_by_wavefronts) {
    const auto further = [](const ClockedBoard& board, std::int64_t sms) {
        return (board.cycles_of_element(48 * sms, 512, 64) - board.cycles_of_element(16 * sms, 512, 64)) / 32;
    };
    EXPECT_NEAR(further(kClockedV100, 80), 26.3, 3);
    EXPECT_NEAR(further(kClockedT4, 40), 34.3, 5);
}

// CTAs of an SM of T4:  3   4   5   6
// measured            137 166 216 255
// Fragments alone would be 120, 143, 174 and 217.
TEST(Engines, of_few_filters_load_through_the_lines_that_give_fragments) {
    const double measured[] = {137, 166, 216, 255};
    for (std::int64_t n = 3; n <= 6; ++n)
        EXPECT_NEAR(kClockedT4.cycles_of_element(40 * n), measured[n - 3], 0.08 * measured[n - 3]) << n;
}

// Where times cross k = 0: 11.4 us on V100, 13.4 on T4, of which 5.1 are the launch, as their machine files say.
TEST(Calls, of_a_library_take_little_beside_their_kernels_from_volta_on) {
    const auto beside = [](const ClockedBoard& board, const char* algorithm) {
        Layer layer = called(square(1, 512, 7, 128, 1), algorithm);
        const Seconds call = board.predicted(layer).time;
        layer.hints.timing = Timing::kernel;
        return (call - board.predicted(layer).time).value() * 1e6;
    };
    EXPECT_NEAR(beside(kClockedV100, "IMPLICIT_PRECOMP_GEMM"), 2 * 5.1 + 5 + 4000 / 1312., 0.01);
    EXPECT_NEAR(beside(kClockedT4, "IMPLICIT_PRECOMP_GEMM"), 2 * 5.1 + 5 + 4000 / 585., 0.01);
    EXPECT_NEAR(beside({"m60", 557}, "IMPLICIT_PRECOMP_GEMM"), 2 * 4.2 + 13 + 4000 / 557., 0.01);
    EXPECT_NEAR(beside({"k80", 562}, "IMPLICIT_PRECOMP_GEMM"), 5.2 + 13, 0.01);  // an engine, which needs no offsets
    EXPECT_NEAR(beside(kClockedV100, "WINOGRAD"), 2 * 5.1 + 5, 0.01);
}

// Each group is run as a layer of 128 channels and filters. The four launches for the filters of tiles by Fourier
// transforms are hidden by nothing, and neither are the other algorithms' kernels beside the main one. However little
// they do, they take the time of short kernels, a transform that of two.
TEST(Calls, in_groups_transform_each_group_by_itself) {
    using Beside = std::pair<const char*, double>;
    for (const auto& [algorithm, shorts] :
         {Beside{"WINOGRAD", 1}, {"WINOGRAD_NONFUSED", 2 * 3}, {"FFT", 2 * 4}, {"FFT_TILING", 0}}) {
        Convolution v = square(32, 512, 28, 512, 3, 1);
        v.groups = 4;
        const Layer all = called(v, algorithm), one = one_group(all);
        const Prediction groups = kClockedV100.predicted(all), group = kClockedV100.predicted(one);
        EXPECT_EQ(groups.mapping.transform, group.mapping.transform) << algorithm;
        EXPECT_NE(groups.mapping.transform, Transform::none) << algorithm;
        EXPECT_NEAR(groups.traffic.dram.total() / (4 * group.traffic.dram.total()), 1, 1e-9) << algorithm;
        const bool tiles = groups.mapping.transform == Transform::fft_tiled;
        const Seconds launches{tiles ? 4 * 5.1e-6 : 0}, beside{shorts * 2600 / 1312e6};
        const Seconds kernels = group.time - group.terms[Term::launch] + launches,
                      of_one = (groups.time - Seconds{5e-6}) / 4;
        // These have work of their own in that time.
        EXPECT_GE(of_one, kernels * (1 - 1e-9)) << algorithm;
        EXPECT_LE(of_one, (kernels + beside) * (1 + 1e-9)) << algorithm;
        EXPECT_GE(of_one, beside) << algorithm;
    }
}

// Spectra pass through the same memory as everything else.
TEST(Calls, by_fft_read_check_bits_beside_their_spectra) {
    const Layer layer = called(square(32, 256, 28, 256, 3, 1), "FFT");
    ModelInputs with = *model_inputs(machine("t4"), kClockedT4.clock), without = with;
    ASSERT_GT(with.check_bits, 0);
    without.check_bits = 0;
    const auto time = [&](const ModelInputs& inputs) { return predict(layer, machine("t4"), inputs).time; };
    EXPECT_GT(time(with), 1.1 * time(without));
}

// 16 x 384 x 28 x 28, 3 x 3, a filter a channel: 0.34 ms on T4, of which its 38 MB of DRAM explain 0.16.
// 784 outputs of a plane are 25 warps' worth, gone through by the eight warps of its CTA.
TEST(Depthwise, layers_take_the_slots_of_a_warp_for_each_32_outputs) {
    Convolution v = square(16, 384, 28, 384, 3, 1);
    v.groups = 384;
    const Prediction p = kClockedT4.predicted(called(v, "IMPLICIT_GEMM"));
    EXPECT_EQ(p.bound, Term::issue);
    const double slots = 16.0 * 384 * 25 * (24 + 9 * 19);
    EXPECT_NEAR(p.terms[Term::issue].value(), slots / (40 * 4) / 585e6, 1e-9);
}

// 16 x 384 x 28 x 28 with stride 2: 97 cycles of an SM for 32 outputs on M60, where those of stride 1 take 48.
TEST(Depthwise, strided_layers_load_twice_the_sectors) {
    Convolution v = square(16, 384, 28, 384, 3, 1, 2);
    v.groups = 384;
    const Prediction p = ClockedBoard{"m60", 557}.predicted(called(v, "IMPLICIT_GEMM"));
    const double outputs = 16.0 * 384 * 14 * 14;
    EXPECT_NEAR(p.traffic.l1.a.value(), 2 * 9 * 4 * outputs, 1);
    EXPECT_NEAR(p.terms[Term::issue].value() * 557e6 * 16 / (outputs / 32), 97, 8);
}

}  // namespace
}  // namespace gambrel
