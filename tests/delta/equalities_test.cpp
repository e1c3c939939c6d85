// Two ways to say the same thing give the same prediction; twice the work takes twice the time; what binds is named.
#include <cmath>

#include <gtest/gtest.h>
#include <gambrel/delta.hpp>

#include "mapping/sample.hpp"

namespace gambrel {
namespace {

using namespace test;

const Machine& v100() { return machine("v100-sxm2-16gb"); }

Prediction on_v100(const Layer& layer) { return predict(layer, v100(), *model_inputs(v100())); }

void expect_same_bytes(const Prediction& x, const Prediction& y) {
    EXPECT_EQ(x.flop, y.flop);
    for (const auto& [a, b] : {std::pair{x.traffic.l1, y.traffic.l1}, std::pair{x.traffic.l2, y.traffic.l2},
                               std::pair{x.traffic.dram, y.traffic.dram}}) {
        EXPECT_NEAR(a.a / b.a, 1, 1e-9);
        EXPECT_NEAR(a.b / b.b, 1, 1e-9);
        EXPECT_NEAR(a.c / b.c, 1, 1e-9);
    }
}

// With one image, pixels are the columns of a stored transposed, and the filter is B with k contiguous. Kernels of BLAS
// take the slots of scalar_load_slots more than those of cuDNN, but do not put their outputs in order, which matters
// where k is short.
TEST(Equalities, a_1x1_convolution_is_the_gemm) {
    for (const std::int64_t channels : {64, 256})
        for (const std::int64_t size : {32, 64, 96}) {
            const Layer convolution = layer_of(square(1, channels, size, 128, 1));
            Layer gemm =
                layer_of(Gemm{.m = size * size, .n = 128, .k = channels, .a_transposed = true, .b_transposed = true});
            const Mapping m = mapping_for(convolution, v100());
            const Occupancy o = occupancy(v100(), m);
            const ModelInputs h = *model_inputs(v100());
            ASSERT_EQ(kernel_view(convolution), kernel_view(gemm));
            SCOPED_TRACE(size);
            const Prediction as_layer = predict(convolution, m, o, h), as_product = predict(gemm, m, o, h);
            expect_same_bytes(as_layer, as_product);
            const double slots = calibration().scalar_load_slots * (1.0 / m.cta.m + 1.0 / m.cta.n);
            EXPECT_GE(as_product.time, as_layer.time * (channels < 128 ? 0.9 : 0.97));
            EXPECT_LE(as_product.time, as_layer.time * (1 + slots));
        }
}

// gemm_time_tiles_fp32: products on CUDA cores whose rows begin at 16 bytes are as slow as others of the same size.
TEST(Equalities, the_alignment_of_a_product_on_cuda_cores_does_not_change_its_time) {
    for (const std::string gpu : {"p100-pcie-16gb", "v100-pcie-32gb", "t4", "a100-pcie-40gb"}) {
        const Machine& m = machine(gpu);
        const auto time = [&](std::int64_t k) {
            const Layer gemm = layer_of(Gemm{.m = 8192, .n = 8192, .k = k, .b_transposed = true});
            return predict(gemm, m, *model_inputs(m)).time;
        };
        EXPECT_NEAR(time(4096) / time(4095), 1, 0.01) << gpu;
    }
}

TEST(Equalities, a_bias_is_the_rest_and_its_bytes) {
    Layer layer = layer_of(square(8, 64, 28, 128, 3));
    const Prediction without = on_v100(layer);
    layer.bias = true;
    const Prediction with = on_v100(layer);
    const Mapping& m = with.mapping;
    const Bytes bias{128 * 4};
    const auto rows = static_cast<double>(with.grid.rows);
    ASSERT_FALSE(m.transposed_view);
    EXPECT_DOUBLE_EQ(with.traffic.dram.total().value(), (without.traffic.dram.total() + bias).value());
    EXPECT_DOUBLE_EQ(with.traffic.l2.total().value(), (without.traffic.l2.total() + bias * rows).value());
    EXPECT_DOUBLE_EQ(with.traffic.l1.total().value(),
                     (without.traffic.l1.total() + bias * rows * m.cta.m / m.warp.m).value());
    EXPECT_GE(with.time, without.time);
    EXPECT_LT(with.time, without.time * 1.01);
}

TEST(Equalities, two_groups_that_run_in_turn_are_two_layers) {
    Convolution whole = square(64, 128, 28, 128, 3, 1), half = square(64, 64, 28, 64, 3, 1);
    whole.groups = 2;
    Layer grouped = layer_of(whole), one = layer_of(half);
    grouped.hints.algorithm = one.hints.algorithm = "IMPLICIT_PRECOMP_GEMM";
    const Prediction two = on_v100(grouped), single = on_v100(one);
    EXPECT_DOUBLE_EQ(two.flop / single.flop, 2);
    EXPECT_NEAR(two.traffic.l1.total() / single.traffic.l1.total(), 2, 1e-9);
    EXPECT_NEAR(two.traffic.l2.total() / single.traffic.l2.total(), 2, 1e-9);
    EXPECT_GT(two.time, 1.8 * (single.time - Seconds{20e-6}));
    EXPECT_LT(two.time, 2.1 * single.time);
}

TEST(Scaling, twice_a_large_batch_takes_twice_the_time) {
    for (const char* id : {"k80", "p100-pcie-16gb", "v100-sxm2-16gb", "a100-sxm4-80gb", "h100-sxm"})
        for (const Precision precision : {Precision::fp32, Precision::fp16})
            for (const Pass pass : {Pass::fwd, Pass::dgrad, Pass::wgrad}) {
                const auto time = [&](std::int64_t batch) {
                    const Layer layer = layer_of(square(batch, 128, 28, 256, 3, 1), pass, precision);
                    return predict(layer, machine(id), *model_inputs(machine(id))).time;
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
    EXPECT_DOUBLE_EQ(twice.traffic.dram.c / once.traffic.dram.c, 2);
}

TEST(Bounds, a_large_square_gemm_is_bound_by_arithmetic_near_the_peak) {
    const Prediction p = on_v100(layer_of(Gemm{.m = 8192, .n = 8192, .k = 8192}));
    EXPECT_TRUE(p.bound == Term::compute || p.bound == Term::issue) << name(p.bound);
    const ModelInputs h = *model_inputs(v100());
    const FlopRate peak = h.flop_per_cycle[Pipe::fp32] * h.sms * h.clock;
    EXPECT_GT(p.flop / p.time, 0.8 * peak);
    EXPECT_LT(p.flop / p.time, peak);
    EXPECT_EQ(p.regime, Regime::product_many_waves);
}

TEST(Bounds, a_copy_is_bound_by_dram_at_its_bandwidth) {
    const Layer copy{"copy", Streaming{.kind = StreamingKind::copy, .read = {1e9}, .written = 1e9}};
    const Prediction p = on_v100(copy);
    EXPECT_EQ(p.bound, Term::dram);
    EXPECT_EQ(p.regime, Regime::streaming);
    EXPECT_DOUBLE_EQ(p.traffic.dram.total().value(), 8e9);
    // Reads mixed with writes do not reach all of it.
    const double at_most = (Bytes{8e9} / model_inputs(v100())->dram_bandwidth).value();
    EXPECT_GT(p.time.value(), at_most);
    EXPECT_LT(p.time.value(), 1.1 * at_most);
}

TEST(Bounds, a_tiny_layer_costs_a_launch) {
    const Prediction p = on_v100(layer_of(square(1, 8, 4, 8, 1)));
    EXPECT_GT(p.time, model_inputs(v100())->launch);
    EXPECT_LT(p.time, 3 * model_inputs(v100())->launch);
}

TEST(Regimes, follow_the_algorithm) {
    const auto by = [](const char* algorithm, std::int64_t groups = 1) {
        Convolution v = square(8, 64, 28, 64, 3, 1);
        v.groups = groups;
        Layer layer = layer_of(v);
        layer.hints.algorithm = algorithm;
        return on_v100(layer).regime;
    };
    EXPECT_EQ(by("WINOGRAD"), Regime::winograd);
    EXPECT_EQ(by("WINOGRAD_NONFUSED"), Regime::winograd_separate);
    EXPECT_EQ(by("FFT_TILING"), Regime::fourier);
    EXPECT_EQ(by("IMPLICIT_PRECOMP_GEMM", 2), Regime::groups_in_turn);
    EXPECT_EQ(by("IMPLICIT_GEMM", 64), Regime::direct);
}

TEST(Regimes, follow_pipe_reduction_and_waves) {
    EXPECT_EQ(on_v100(layer_of(square(64, 3, 224, 64, 3, 1))).regime, Regime::short_reduction);
    EXPECT_EQ(on_v100(layer_of(square(1, 256, 14, 64, 3, 1))).regime, Regime::one_wave);
    EXPECT_EQ(on_v100(layer_of(square(64, 256, 28, 64, 3, 1))).regime, Regime::few_waves);
    EXPECT_EQ(on_v100(layer_of(square(256, 256, 56, 64, 3, 1))).regime, Regime::many_waves);
    EXPECT_EQ(on_v100(layer_of(square(64, 256, 28, 64, 3, 1), Pass::fwd, Precision::fp16)).regime, Regime::tensor_core);
    const Layer gemm = layer_of(Gemm{.m = 512, .n = 512, .k = 512}, Pass::fwd, Precision::fp16);
    EXPECT_EQ(on_v100(gemm).regime, Regime::tensor_gemm);
    EXPECT_EQ(predict(gemm, v100(), *model_inputs(v100()), Model::paper).regime, Regime::tensor_gemm);
}

TEST(Search, never_finds_a_slower_tile_than_the_rule) {
    for (const char* id : {"v100-sxm2-16gb", "a100-sxm4-80gb", "h100-sxm"}) {
        const ModelInputs h = *model_inputs(machine(id));
        for (const Layer& layer : in_precision(all_layers(), Precision::fp16)) {
            const Prediction rule = predict(layer, machine(id), h),
                             found = predict(layer, machine(id), h, Model::gambrel, true);
            ASSERT_LE(found.time, rule.time) << layer.name << " on " << id;
            ASSERT_GT(found.occupancy.ctas_per_sm, 0) << layer.name << " on " << id;
        }
    }
}

TEST(Equalities, the_time_alone_is_that_of_the_whole_prediction) {
    for (const char* id : {"v100-sxm2-16gb", "t4", "a100-sxm4-40gb", "h100-sxm"}) {
        const Machine& gpu = *find_in_catalogue(id);
        const ModelInputs inputs = *model_inputs(gpu);
        for (const char* network : {"resnet50", "bert-base", "alexnet-grouped"}) {
            const auto layers = builtin_network(network, {.batch = 8});
            if (!layers) continue;
            for (const Layer& layer : training(*layers).layers) {
                const Mapping mapping = mapping_for(layer, gpu);
                const Occupancy fits = occupancy(gpu, mapping);
                const PreparedLayer prepared = prepare(layer, mapping);
                const Prediction whole = predict(prepared, fits, inputs);
                ASSERT_EQ(predicted_time(prepared, fits, inputs), whole.time) << layer.name << " on " << id;
                const TimedTraffic shown = timed_traffic(prepared, fits, inputs);
                ASSERT_EQ(shown.time, whole.time) << layer.name << " on " << id;
                ASSERT_EQ(shown.bound, whole.bound) << layer.name << " on " << id;
                ASSERT_EQ(shown.traffic.l1.total(), whole.traffic.l1.total()) << layer.name << " on " << id;
                ASSERT_EQ(shown.traffic.counted_l2(), whole.traffic.counted_l2()) << layer.name << " on " << id;
                ASSERT_EQ(shown.traffic.counted_dram(), whole.traffic.counted_dram()) << layer.name << " on " << id;
            }
        }
    }
}

}  // namespace
}  // namespace gambrel
