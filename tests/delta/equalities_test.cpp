// Two ways to say the same thing give the same prediction; twice the work takes twice the time; what binds is named.
#include <cmath>

#include <gtest/gtest.h>
#include <gambrel/delta.hpp>
#include <gambrel/predictor.hpp>

#include "delta/levels.hpp"
#include "mapping/sample.hpp"

namespace gambrel {
namespace {

using namespace test;

const Machine& v100() { return machine("v100-sxm2-16gb"); }

Prediction on_v100(const Layer& layer) { return predict(layer, v100(), hardware(v100())); }

void expect_same(const Prediction& x, const Prediction& y) {
    EXPECT_DOUBLE_EQ(x.flop, y.flop);
    for (const auto& [a, b] : {std::pair{x.traffic.l1, y.traffic.l1}, std::pair{x.traffic.l2, y.traffic.l2},
                               std::pair{x.traffic.dram, y.traffic.dram}}) {
        EXPECT_NEAR(a.a / b.a, 1, 1e-9);
        EXPECT_NEAR(a.b / b.b, 1, 1e-9);
        EXPECT_NEAR(a.c / b.c, 1, 1e-9);
    }
    EXPECT_NEAR(x.time / y.time, 1, 1e-9);
    EXPECT_EQ(x.bound, y.bound);
}

// With one image, pixels are the columns of a stored transposed, and the filter is B with k contiguous.
TEST(Equalities, a_1x1_convolution_is_the_gemm) {
    for (const std::int64_t channels : {64, 256})
        for (const std::int64_t size : {32, 64, 96}) {
            const Layer convolution = layer_of(square(1, channels, size, 128, 1));
            Layer gemm =
                layer_of(Gemm{.m = size * size, .n = 128, .k = channels, .a_transposed = true, .b_transposed = true});
            const Mapping m = mapping_for(convolution, v100());
            const Occupancy o = occupancy(v100(), m);
            const Hardware h = hardware(v100());
            ASSERT_EQ(kernel_view(convolution), kernel_view(gemm));
            SCOPED_TRACE(size);
            expect_same(predict(convolution, m, o, h), predict(gemm, m, o, h));
        }
}

TEST(Equalities, a_bias_is_the_rest_and_its_bytes) {
    Layer layer = layer_of(square(8, 64, 28, 128, 3));
    const Prediction without = on_v100(layer);
    layer.bias = true;
    const Prediction with = on_v100(layer);
    const Mapping& m = with.mapping;
    const double bias = 128 * 4, rows = static_cast<double>(with.grid.rows);
    ASSERT_FALSE(m.transposed_view);
    EXPECT_DOUBLE_EQ(with.traffic.dram.total(), without.traffic.dram.total() + bias);
    EXPECT_DOUBLE_EQ(with.traffic.l2.total(), without.traffic.l2.total() + bias * rows);
    EXPECT_DOUBLE_EQ(with.traffic.l1.total(), without.traffic.l1.total() + bias * rows * m.cta.m / m.warp.m);
    EXPECT_GE(with.time, without.time);
    EXPECT_LT(with.time, without.time * 1.01);
}

TEST(Equalities, a_column_groups_of_1_is_as_none) {
    PredictorOptions options;
    options.machine = v100();
    Predictor predictor(options);
    const auto with = read_layer_table("name,N,C,H,W,K,R,S,pad,groups\nx,8,64,28,28,64,3,3,1,1\n", "a.csv"),
               without = read_layer_table("name,N,C,H,W,K,R,S,pad\nx,8,64,28,28,64,3,3,1\n", "b.csv");
    ASSERT_TRUE(with && without);
    const auto x = predictor(with->rows.at(0).layers.at(0)), y = predictor(without->rows.at(0).layers.at(0));
    ASSERT_TRUE(x && y);
    EXPECT_EQ(x->prediction.time, y->prediction.time);
    EXPECT_EQ(x->prediction.mapping, y->prediction.mapping);
    EXPECT_EQ(x->prediction.traffic.dram.total(), y->prediction.traffic.dram.total());
}

TEST(Equalities, two_groups_that_run_in_turn_are_two_layers) {
    Convolution whole = square(64, 128, 28, 128, 3, 1), half = square(64, 64, 28, 64, 3, 1);
    whole.groups = 2;
    Layer grouped = layer_of(whole), one = layer_of(half);
    grouped.hints.algorithm = one.hints.algorithm = "IMPLICIT_PRECOMP_GEMM";
    const Prediction two = on_v100(grouped), single = on_v100(one);
    EXPECT_DOUBLE_EQ(two.flop, 2 * single.flop);
    EXPECT_NEAR(two.traffic.l1.total() / single.traffic.l1.total(), 2, 1e-9);
    EXPECT_NEAR(two.traffic.l2.total() / single.traffic.l2.total(), 2, 1e-9);
    EXPECT_GT(two.time, 1.8 * (single.time - 20e-6));
    EXPECT_LT(two.time, 2.1 * single.time);
}

TEST(Scaling, twice_a_large_batch_takes_twice_the_time) {
    for (const char* id : {"k80", "p100-pcie-16gb", "v100-sxm2-16gb", "a100-sxm4-80gb", "h100-sxm"})
        for (const Precision precision : {Precision::fp32, Precision::fp16})
            for (const Pass pass : {Pass::fwd, Pass::dgrad, Pass::wgrad}) {
                const auto time = [&](std::int64_t batch) {
                    const Layer layer = layer_of(square(batch, 128, 28, 256, 3, 1), pass, precision);
                    return predict(layer, machine(id), hardware(machine(id))).time;
                };
                EXPECT_NEAR(time(2048) / time(1024), 2, 0.07) << id << ' ' << name(precision) << ' ' << name(pass);
            }
}

TEST(Scaling, twice_the_batch_is_twice_the_bytes_of_activations) {
    const Prediction once = on_v100(layer_of(square(256, 128, 28, 64, 3, 1))),
                     twice = on_v100(layer_of(square(512, 128, 28, 64, 3, 1)));
    EXPECT_NEAR(twice.traffic.l1.a / once.traffic.l1.a, 2, 1e-9);
    EXPECT_NEAR(twice.traffic.l2.a / once.traffic.l2.a, 2, 1e-6);
    EXPECT_NEAR(twice.traffic.dram.a / once.traffic.dram.a, 2, 1e-6);
    EXPECT_DOUBLE_EQ(twice.traffic.dram.c, 2 * once.traffic.dram.c);
}

TEST(Bounds, a_large_square_gemm_is_bound_by_arithmetic_near_the_peak) {
    const Prediction p = on_v100(layer_of(Gemm{.m = 8192, .n = 8192, .k = 8192}));
    EXPECT_TRUE(p.bound == Term::compute || p.bound == Term::issue) << name(p.bound);
    const Hardware h = hardware(v100());
    const double peak = h.flop_per_cycle[Pipe::fp32] * h.sms * h.clock;
    EXPECT_GT(p.flop / p.time, 0.8 * peak);
    EXPECT_LT(p.flop / p.time, peak);
    EXPECT_EQ(p.regime, Regime::many_waves);
}

TEST(Bounds, a_copy_is_bound_by_dram_at_its_bandwidth) {
    const Layer copy{"copy", Streaming{.kind = StreamingKind::copy, .read = {1e9}, .written = 1e9}};
    const Prediction p = on_v100(copy);
    EXPECT_EQ(p.bound, Term::dram);
    EXPECT_EQ(p.regime, Regime::streaming);
    EXPECT_DOUBLE_EQ(p.traffic.dram.total(), 8e9);
    EXPECT_NEAR(p.time, 8e9 / hardware(v100()).dram_bandwidth, 1e-5);
}

TEST(Bounds, a_tiny_layer_costs_a_launch) {
    const Prediction p = on_v100(layer_of(square(1, 8, 4, 8, 1)));
    EXPECT_GT(p.time, hardware(v100()).launch);
    EXPECT_LT(p.time, 3 * hardware(v100()).launch);
}

TEST(Regimes, follow_pipe_reduction_and_waves) {
    EXPECT_EQ(on_v100(layer_of(square(64, 3, 224, 64, 3, 1))).regime, Regime::short_reduction);
    EXPECT_EQ(on_v100(layer_of(square(1, 256, 14, 64, 3, 1))).regime, Regime::one_wave);
    EXPECT_EQ(on_v100(layer_of(square(64, 256, 28, 64, 3, 1))).regime, Regime::few_waves);
    EXPECT_EQ(on_v100(layer_of(square(256, 256, 56, 64, 3, 1))).regime, Regime::many_waves);
    EXPECT_EQ(on_v100(layer_of(square(64, 256, 28, 64, 3, 1), Pass::fwd, Precision::fp16)).regime, Regime::tensor_core);
    const Layer gemm = layer_of(Gemm{.m = 512, .n = 512, .k = 512}, Pass::fwd, Precision::fp16);
    EXPECT_EQ(on_v100(gemm).regime, Regime::tensor_gemm);
    EXPECT_EQ(predict(gemm, v100(), hardware(v100()), Model::paper).regime, Regime::tensor_gemm);
}

TEST(Search, never_finds_a_slower_tile_than_the_rule) {
    for (const char* id : {"v100-sxm2-16gb", "a100-sxm4-80gb", "h100-sxm"}) {
        const Hardware h = hardware(machine(id));
        for (const Layer& layer : in_precision(all_layers(), Precision::fp16)) {
            const Prediction rule = predict(layer, machine(id), h),
                             found = predict(layer, machine(id), h, Model::gambrel, true);
            ASSERT_LE(found.time, rule.time) << layer.name << " on " << id;
            ASSERT_GT(found.occupancy.ctas_per_sm, 0) << layer.name << " on " << id;
        }
    }
}

TEST(Predictors, take_the_rows_gpu_and_clock_before_their_own) {
    PredictorOptions options;
    options.machine = v100();
    Predictor predictor(options);
    Layer layer = convolution_layer();
    const auto own = predictor(layer);
    layer.hints.gpu = "t4";
    const auto row = predictor(layer);
    ASSERT_TRUE(own && row);
    EXPECT_EQ(own->machine->id, "v100-sxm2-16gb");
    EXPECT_EQ(row->machine->id, "t4");
    layer.hints.gpu.clear();
    layer.hints.sm_clock = Frequency{0.765e9};  // half of boost
    const auto slow = predictor(layer);
    ASSERT_TRUE(slow);
    EXPECT_DOUBLE_EQ(slow->hardware->clock, 0.765e9);
    EXPECT_NEAR(slow->prediction.terms[Term::compute] / own->prediction.terms[Term::compute], 2, 1e-9);
}

TEST(Predictors, name_a_gpu_that_nobody_knows_and_a_machine_that_is_missing) {
    Predictor predictor(PredictorOptions{});
    Layer layer = convolution_layer();
    const auto none = predictor(layer);
    ASSERT_FALSE(none);
    EXPECT_NE(none.error().front().what.find("--machine"), std::string::npos);
    layer.hints.gpu = "v101";
    const auto unknown = predictor(layer);
    ASSERT_FALSE(unknown);
    EXPECT_NE(unknown.error().front().what.find("v101"), std::string::npos);
}

TEST(Predictors, refuse_a_tile_that_no_sm_has_room_for) {
    PredictorOptions options;
    options.machine = v100();
    options.tile = Tile{256, 256, 8};
    const auto large = Predictor(options)(convolution_layer());
    ASSERT_FALSE(large);
    EXPECT_NE(large.error().front().what.find("256 x 256"), std::string::npos);
    EXPECT_NE(large.error().front().what.find("v100-sxm2-16gb"), std::string::npos);
    options.tile.reset();
    for (const std::int64_t wild : {std::int64_t{1} << 20, std::int64_t{1} << 32, std::int64_t{1} << 62}) {
        Layer layer = convolution_layer();
        layer.hints.tile_m = layer.hints.tile_n = layer.hints.tile_k = wild;
        EXPECT_FALSE(Predictor(options)(layer)) << wild;
    }
}

TEST(Predictors, say_which_algorithms_are_not_modelled) {
    Layer layer = convolution_layer();
    EXPECT_EQ(not_modelled(layer), "");
    layer.hints.algorithm = "IMPLICIT_PRECOMP_GEMM";
    EXPECT_EQ(not_modelled(layer), "");
    layer.hints.algorithm = "WINOGRAD_NONFUSED";
    EXPECT_NE(not_modelled(layer).find("WINOGRAD"), std::string::npos);
    layer.hints.algorithm.clear();
    layer.hints.kernel = "volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1";
    EXPECT_NE(not_modelled(layer).find("winograd"), std::string::npos);
}

}  // namespace
}  // namespace gambrel
