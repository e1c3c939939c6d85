// Products on Tensor Cores: each mechanism of their time by itself, on shapes that show little else.
#include <cmath>

#include <gtest/gtest.h>
#include <gambrel/delta.hpp>

namespace gambrel {
namespace {

Layer product(std::int64_t m, std::int64_t n, std::int64_t k, Precision precision = Precision::bf16) {
    Layer layer;
    Gemm gemm;
    gemm.m = m, gemm.n = n, gemm.k = k;
    layer.op = gemm;
    layer.precision = precision;
    return layer;
}

struct Board {
    explicit Board(const char* name, std::optional<Frequency> clock = {})
        : machine(*find_in_catalogue(name)), inputs(*model_inputs(machine, clock)) {}
    [[nodiscard]] Prediction operator()(const Layer& layer) const {
        const Mapping mapping = mapping_for(layer, machine, inputs.limits);
        return predict(layer, mapping, occupancy(inputs.limits, mapping), inputs);
    }
    [[nodiscard]] double seconds(const Layer& layer) const { return (*this)(layer).time.value(); }
    const Machine& machine;
    ModelInputs inputs;
};

double flop_rate(const Board& board, std::int64_t side, std::int64_t k) {
    const Layer layer = product(side, side, k);
    return flop(layer).value() / board.seconds(layer);
}

// Hard waves would charge the 133rd CTA with a whole one: twice the time.
TEST(MatrixTime, of_one_cta_more_than_sms_is_far_from_doubled) {
    const Board h100("h100-sxm");
    Layer even = product(128, 132 * 256, 4096), uneven = product(128, 133 * 256, 4096);
    for (Layer* layer : {&even, &uneven}) layer->hints.tile_m = 256, layer->hints.tile_n = 128;
    const Prediction a = h100(even), b = h100(uneven);
    ASSERT_EQ(a.grid.ctas(), 132);
    ASSERT_EQ(b.grid.ctas(), 133);
    const double busy = b.terms[Term::latency] / a.terms[Term::latency];
    EXPECT_LT(busy, 1.5);
    EXPECT_GT(busy, 1.2);
}

// Of 70 CTAs on 132 SMs the idle SMs take part of k if it is long, and cannot if it is short.
TEST(MatrixTime, of_an_unfilled_wave_is_shared_out_along_a_long_k_only) {
    const Board h100("h100-sxm", Frequency{1.98e9});  // given, so that idle SMs leave no power to the others
    const auto busy = [&](std::int64_t ctas, std::int64_t k) {
        Layer layer = product(128, ctas * 256, k);
        layer.hints.tile_m = 256, layer.hints.tile_n = 128;
        return h100(layer).terms[Term::latency] / Seconds{1};
    };
    EXPECT_LT(busy(70, 4096), 0.9 * busy(132, 4096));
    EXPECT_NEAR(busy(70, 256), busy(132, 256), 1e-3 * busy(132, 256));
}

Layer pointwise(std::int64_t images, std::int64_t channels, std::int64_t filters) {
    Layer layer;
    Convolution v;
    v.n = images, v.c = channels, v.k = filters, v.h = v.w = 16, v.r = v.s = 1;
    layer.op = v;
    layer.precision = Precision::bf16;
    return layer;
}

// A convolution of one pixel is a product: the same work, bytes, start and clock. But its kernel is not persistent, so
// its waves are whole ones, and it shares out no k.
TEST(MatrixTime, of_convolutions_is_that_of_products_in_whole_waves) {
    const Board h100("h100-sxm", Frequency{1.98e9});
    Layer convolution = pointwise(66, 4096, 128), same = product(66 * 256, 128, 4096);
    for (Layer* layer : {&convolution, &same}) layer->hints.tile_m = layer->hints.tile_n = 128;
    const Prediction full = h100(convolution), gemm = h100(same);
    ASSERT_EQ(full.grid.ctas(), 132);
    EXPECT_NEAR(full.time / gemm.time, 1, 0.02);
    EXPECT_EQ(full.terms[Term::launch], gemm.terms[Term::launch]);
    std::get<Convolution>(convolution.op).n += 1;
    EXPECT_NEAR(h100(convolution).terms[Term::latency] / full.terms[Term::latency], 2, 1e-9);
    std::get<Convolution>(convolution.op).n = 40;
    EXPECT_NEAR(h100(convolution).terms[Term::latency] / full.terms[Term::latency], 1, 1e-9);
}

// 98 CTAs of 128 x 64 fill A100, 26 of 256 x 128 would be split along k if this were a product.
TEST(MatrixTime, of_convolutions_that_leave_sms_idle_chooses_small_tiles) {
    const Board a100("a100-sxm4-80gb");
    Layer layer = pointwise(1, 512, 512);
    auto& v = std::get<Convolution>(layer.op);
    v.n = 32, v.h = v.w = 7, v.r = v.s = 3;
    v.pad_top = v.pad_bottom = v.pad_left = v.pad_right = 1;
    layer.precision = Precision::tf32;
    const Mapping mapping = a100(layer).mapping;
    EXPECT_LE(mapping.cta.m * mapping.cta.n, 128 * 64);
    EXPECT_EQ(mapping.split_k, 1);
}

// Where k begins to be shared out, a longer k is not suddenly faster than a shorter one.
TEST(MatrixTime, of_an_unfilled_wave_never_falls_with_k) {
    for (const char* name : {"h100-sxm", "rtx-5090", "b200"}) {
        const Board board(name);
        double before = 0;
        for (std::int64_t k = 256; k <= 4096; k += 16) {
            Layer layer = product(366, 95, k);
            layer.hints.tile_m = 128, layer.hints.tile_n = 128;
            Mapping mapping = mapping_for(layer, board.machine, board.inputs.limits);
            mapping.split_k = 1;
            const Occupancy fitting = occupancy(board.inputs.limits, mapping);
            const double time = predict(layer, mapping, fitting, board.inputs).time.value();
            EXPECT_GE(time, before) << name << ", k = " << k;
            before = time;
        }
    }
}

// A tile's outputs are scaled and stored in the same cycles whatever was multiplied. On RTX 3090 products in TF32,
// which Tensor Cores multiply at an eighth of the rate of FP16 on A100, were predicted slower than in FP32 for that
// reason.
TEST(MatrixTime, of_short_reductions_has_the_same_floor_in_every_precision) {
    const auto around = [](const Board& board, Precision precision) {
        Layer layer = product(4096, 4096, 64, precision);
        layer.hints.tile_m = 128, layer.hints.tile_n = 128;
        const Prediction p = board(layer);
        return (p.terms[Term::latency] - p.terms[Term::compute]) / Seconds{1};
    };
    const Board a100("a100-sxm4-80gb", Frequency{1.41e9}), rtx("rtx-3090");
    EXPECT_NEAR(around(a100, Precision::tf32), around(a100, Precision::bf16), 1e-9);
    EXPECT_LT(rtx.seconds(product(4096, 4096, 64, Precision::tf32)),
              rtx.seconds(product(4096, 4096, 64, Precision::fp32)));
}

// The sums of the parts are written, waited for and added up by a kernel or by CTAs that wait for each other.
TEST(MatrixTime, of_a_split_product_has_the_sum_of_its_parts) {
    const Board h100("h100-sxm");
    const Layer layer = product(128, 512, 32768);
    Mapping mapping = mapping_for(layer, h100.machine, h100.inputs.limits);
    ASSERT_GT(mapping.split_k, 1);
    const auto launch = [&](const Mapping& m) {
        return predict(layer, m, occupancy(h100.inputs.limits, m), h100.inputs).terms[Term::launch];
    };
    const Seconds split = launch(mapping);
    mapping.split_k = 1;
    EXPECT_NEAR((split - launch(mapping)) / calibration().sum_of_parts, 1, 1e-9);
}

// Clock over that of the board's inputs in a product, as its compute term shows it.
double held_clock(const Board& board, const Layer& layer, const Mapping& mapping) {
    const Occupancy fitting = occupancy(board.inputs.limits, mapping);
    const ModelInputs free = *model_inputs(board.machine, board.inputs.clock);
    return predict(layer, mapping, fitting, free).terms[Term::compute] /
           predict(layer, mapping, fitting, board.inputs).terms[Term::compute];
}
double held_clock(const Board& board, const Layer& layer) {
    return held_clock(board, layer, mapping_for(layer, board.machine, board.inputs.limits));
}

// Power falls with the square of the clock: the time is the geometric mean of what the Tensor Cores take at boost clock
// and of what the board takes to supply the energy.
TEST(MatrixTime, at_the_power_limit_is_the_mean_of_the_times_of_work_and_of_energy) {
    Board h100("h100-sxm");
    const Layer layer = product(16384, 16384, 16384);
    const double once = h100(layer).terms[Term::latency].value();
    h100.inputs.matrix_power.fed *= 4.0 / 9.0;
    EXPECT_NEAR(h100(layer).terms[Term::latency].value() / once, 1.5, 0.01);  // sqrt(9 / 4), long after the window
    h100.inputs.matrix_power.fed *= 100;
    EXPECT_EQ(held_clock(h100, layer), 1);
}

TEST(MatrixTime, falls_with_the_clock_in_long_kernels_of_boards_at_their_power_limit) {
    const Board h100("h100-sxm");
    const double brief = held_clock(h100, product(2048, 2048, 2048)),
                 lasting = held_clock(h100, product(16384, 16384, 16384));
    EXPECT_LT(brief, 0.9);
    EXPECT_LT(lasting, brief - 0.03);
}

// A part of the SMs takes a part of the power.
TEST(MatrixTime, of_few_ctas_keeps_a_higher_clock) {
    const Board h100("h100-sxm");
    Layer few = product(1024, 1024, 65536), all = product(4096, 4096, 65536);
    few.hints.tile_m = all.hints.tile_m = 256, few.hints.tile_n = all.hints.tile_n = 128;
    Mapping unsplit = mapping_for(few, h100.machine, h100.inputs.limits);
    unsplit.split_k = 1;
    EXPECT_GT(held_clock(h100, few, unsplit), 1.2 * held_clock(h100, all));
}

// A smaller tile multiplies as fast but asks L2 for more, and the energy for that is missing: libraries take the larger
// one. 8192 x 8192 x 8192 was given 128 x 64 on H100, with twice the bytes.
TEST(MatrixTime, chooses_large_tiles_for_large_products_because_bytes_take_energy) {
    for (const char* name : {"h100-sxm", "h200", "l40s", "b200", "a100-sxm4-80gb"})
        for (const std::int64_t side : {8192, 16384}) {
            const Mapping mapping = Board(name)(product(side, side, side)).mapping;
            EXPECT_GE(mapping.cta.m * mapping.cta.n, 128 * 256) << name << ", " << side;
        }
    const Board h100("h100-sxm");
    Layer small = product(16384, 16384, 16384), large = small;
    small.hints.tile_m = 128, small.hints.tile_n = 64;
    large.hints.tile_m = 256, large.hints.tile_n = 128;
    EXPECT_GT(h100.seconds(small), 1.04 * h100.seconds(large));
}

TEST(MatrixTime, at_a_given_clock_does_not_fall) {
    const Board h100("h100-sxm", Frequency{1.98e9});
    EXPECT_EQ(h100.inputs.matrix_power.fed, FlopRate{});
    EXPECT_EQ(h100.inputs.matrix_clock, 1);
}

// One chip, half of the Tensor Core rate for FP32 sums: the gaming board stays below its limit. One energy of a FLOP
// for boards of 350 and 600 W: the best rates of BF16 squares that PyTorch reached are 269 and 409 to 418 TFLOP/s
// (github.com/zzc0721/torch-performance-test-data). L4 is in narrow_products_test.cpp.
TEST(MatrixTime, of_boards_of_one_architecture_follows_from_their_power) {
    EXPECT_EQ(held_clock(Board("rtx-4090"), product(8192, 8192, 8192)), 1);
    for (const auto& [name, measured] : {std::pair{"l40s", 269e12}, {"rtx-pro-6000-blackwell", 414e12}}) {
        double best = 0;
        for (const std::int64_t side : {1024, 2048, 4096, 8192, 10240})
            best = std::max(best, flop_rate(Board(name), side, side));
        EXPECT_NEAR(best / measured, 1, 0.05) << name;
    }
}

// 8 rows of a 16384 x 16384 matrix are all DRAM. Both boards have GA102; the A40 has check bits in its GDDR.
TEST(MatrixTime, of_memory_bound_products_pays_for_check_bits) {
    const Layer thin = product(8, 16384, 16384);
    const Board a40("a40"), a6000("rtx-a6000");
    const double pins =
        a6000.machine.find(Level::dram)->bandwidth->value / a40.machine.find(Level::dram)->bandwidth->value;
    const double slower = a40.seconds(thin) / a6000.seconds(thin) / pins;
    EXPECT_GT(slower, 1.1);
    EXPECT_LT(slower, 1.3);
}

TEST(MatrixTime, of_equal_multiplications_and_copies_is_more_than_either_and_less_than_both) {
    const Board h100("h100-sxm");
    const Prediction p = h100(product(288, 16384, 16384));
    const double busy = p.terms[Term::latency] / Seconds{1}, dram = p.terms[Term::dram] / Seconds{1};
    const double kernel = (p.time - p.terms[Term::launch]) / Seconds{1};
    EXPECT_GT(kernel, 1.05 * std::max(busy, dram));
    EXPECT_LT(kernel, 0.75 * (busy + dram));
}

// A reduction of 128 multiplies a quarter of what one of 512 does, but has as many tiles to begin and to write.
TEST(MatrixTime, of_short_reductions_has_a_floor_for_each_tile) {
    const Board a100("a100-sxm4-80gb");
    const double part = a100.seconds(product(8192, 8192, 128)) / a100.seconds(product(8192, 8192, 512));
    EXPECT_GT(part, 0.35);
    EXPECT_LT(part, 0.6);
}

TEST(MatrixTime, charges_launch_and_call_by_what_was_timed) {
    const Board h100("h100-sxm");
    Layer layer = product(4096, 4096, 4096);
    const auto timed = [&](std::optional<Timing> timing) {
        layer.hints.timing = timing;
        return h100.seconds(layer);
    };
    const double kernel = timed(Timing::kernel);
    EXPECT_EQ(timed(Timing::graph), kernel);
    EXPECT_EQ(timed({}), kernel);
    EXPECT_NEAR(timed(Timing::call) - kernel, (calibration().launch + Seconds{5e-6}).value(), 1e-9);
    EXPECT_GT(timed(Timing::framework), timed(Timing::call));
}

TEST(MatrixTime, of_narrow_formats_includes_quantization_where_the_row_says_so) {
    const Board h100("h100-sxm");
    Layer layer = product(16384, 256, 16384, Precision::fp8);
    const double alone = h100.seconds(layer);
    layer.hints.quantizes_input = InputScales::tensor;
    EXPECT_GT(h100.seconds(layer) - alone, 16384.0 * 16384 * 3 / 3.4e12);
}

// Measured on H100 with 64 columns: 21 us with 2,048 rows of 256, 124 us with 16,384. Bytes alone would be 3 us.
TEST(MatrixTime, of_an_input_with_one_scale_grows_with_its_rows) {
    const Board h100("h100-sxm");
    const auto time = [&](std::int64_t rows, InputScales scales) {
        Layer layer = product(rows, 64, 256, Precision::fp8);
        layer.hints.timing = Timing::graph;
        layer.hints.quantizes_input = scales;
        return h100.seconds(layer);
    };
    EXPECT_NEAR(time(2048, InputScales::tensor), 21e-6, 4e-6);
    EXPECT_NEAR(time(16384, InputScales::tensor), 124e-6, 12e-6);
    EXPECT_LT(time(16384, InputScales::blocks), 40e-6);
}

TEST(MatrixTime, in_fp8_is_more_than_half_of_that_in_bf16_on_hopper) {
    const Board h100("h100-sxm");
    const double part = h100(product(8192, 8192, 8192, Precision::fp8)).terms[Term::compute] /
                        h100(product(8192, 8192, 8192)).terms[Term::compute];
    EXPECT_GT(part, 0.505);
    EXPECT_LT(part, 0.6);
}

TEST(MatrixTime, is_what_its_exposed_parts_add_up_to) {
    const Board b200("b200");
    for (const std::int64_t m : {1, 64, 1000, 30000}) {
        const Prediction p = b200(product(m, 5120, 5120));
        Seconds sum;
        for (const Seconds part : p.exposed) sum += part;
        EXPECT_NEAR(sum / p.time, 1, 1e-9) << m;
    }
}

}  // namespace
}  // namespace gambrel
