// Does a layer become the same kernel whichever method estimates it, labelled with its origin, and is what cannot be
// refused?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <gambrel/estimate.hpp>
#include <gambrel/roofline.hpp>

#include "estimate/sample.hpp"
#include "mapping/sample.hpp"

namespace gambrel {
namespace {

using testing::HasSubstr;
using namespace sample;

std::string refusal(const Layer& layer, EstimatorOptions options) {
    Estimator estimator(std::move(options));
    const auto e = estimator(layer);
    return e ? "" : e.error().front().what;
}

TEST(Estimator, takes_the_rows_gpu_and_clock_before_its_own) {
    Estimator estimator(options_for(Method::model));
    Layer layer = small_layer(), other = layer, slow = layer;
    other.hints.gpu = "t4";
    slow.hints.sm_clock = Frequency{0.765e9};  // half of boost
    const auto own = estimator(layer), row = estimator(other), half = estimator(slow);
    ASSERT_TRUE(own && row && half);
    EXPECT_EQ(own->on->machine.id, "v100-sxm2-16gb");
    EXPECT_EQ(row->on->machine.id, "t4");
    EXPECT_DOUBLE_EQ(half->kernel.clock->value.value(), 0.765e9);
    const auto compute = [](const Estimate& e) { return std::get<Prediction>(e.detail).terms[Term::compute]; };
    EXPECT_NEAR(compute(*half) / compute(*own), 2, 1e-9);
}

TEST(Estimator, rows_of_many_gpus_and_clocks_do_not_take_each_others) {
    Estimator estimator(options_for(Method::model));
    // More than it keeps, so that some are met again after they were forgotten.
    for (int round = 0; round < 2; ++round)
        for (int i = 0; i < 300; ++i) {
            Layer layer = small_layer();
            layer.hints.gpu = i % 3 == 0 ? "" : i % 3 == 1 ? "t4" : "p4";
            layer.hints.sm_clock = Frequency{1e9 + 1e6 * (i / 3)};
            const auto figures = estimator.figures(layer);
            ASSERT_TRUE(figures);
            EXPECT_EQ(figures->on->machine.id, i % 3 == 0 ? "v100-sxm2-16gb" : layer.hints.gpu);
            EXPECT_EQ(figures->on->inputs.clock, *layer.hints.sm_clock);
        }
}

TEST(Estimator, keeps_the_machine_of_a_row_while_it_meets_255_others) {
    Estimator estimator(options_for(Method::model));
    Layer layer = small_layer();
    for (int i = 0; i < 200; ++i) {
        layer.hints.sm_clock = Frequency{1e9 + 1e6 * i};
        ASSERT_TRUE(estimator.figures(layer));
    }
    layer.hints.sm_clock = Frequency{0.5e9};
    const auto first = estimator.figures(layer);
    for (int i = 0; i < 255; ++i) {
        layer.hints.sm_clock = Frequency{2e9 + 1e6 * i};
        ASSERT_TRUE(estimator.figures(layer));
    }
    ASSERT_TRUE(first);
    EXPECT_EQ(first->on->inputs.clock, Frequency{0.5e9});
}

// A long table takes a shorter way to its figures.
TEST(Estimator, figures_are_those_of_the_whole_estimate) {
    const auto rows = table(
        "gpu,precision,op,algorithm,pass,N,C,H,W,K,R,S,M,batch,tile_m,tile_n\n"
        "v100,fp32,conv,,fwd,8,64,28,28,128,3,3,,,,\n"
        "v100,fp32,conv,WINOGRAD,fwd,8,64,28,28,128,3,3,,,,\n"
        "v100,fp16,conv,WINOGRAD,wgrad,8,64,28,28,128,3,3,,,,\n"
        "v100,fp32,conv,fastest,dgrad,8,64,28,28,128,3,3,,,,\n"
        "p100-pcie-16gb,fp16,gemm,,,512,,,,256,,,1024,1,,\n"
        "h100,bf16,gemm,,,512,,,,256,,,1024,4,,\n"
        "t4,fp32,gemm,,,512,,,,256,,,1024,4,1024,1024\n"
        "v100,bf16,gemm,,,512,,,,256,,,1024,1,,\n"
        "v100,fp32,gemm,,,400000,,,,400000,,,400000,1,,\n");
    for (const Method method : {Method::model, Method::paper})
        for (const bool search : {false, true}) {
            EstimatorOptions options;
            options.method = method;
            options.search = search;
            Estimator estimator(options);
            int estimated = 0;
            for (const LayerRow& row : rows->table->rows) {
                ASSERT_EQ(row.layers.size(), 1U) << row.reason;
                const auto whole = estimator(row.layers[0]);
                const auto shown = estimator.figures(row.layers[0]);
                ASSERT_EQ(whole.has_value(), shown.has_value()) << "line " << row.line;
                if (!whole) {
                    EXPECT_EQ(to_text(whole.error()), to_text(shown.error()));
                    continue;
                }
                const Figures f = figures(*whole);
                EXPECT_EQ(shown->on, f.on) << "line " << row.line;
                EXPECT_EQ(shown->tile, f.tile) << "line " << row.line;
                EXPECT_EQ(shown->flop, f.flop) << "line " << row.line;
                EXPECT_EQ(shown->l1, f.l1) << "line " << row.line;
                EXPECT_EQ(shown->l2, f.l2) << "line " << row.line;
                EXPECT_EQ(shown->dram, f.dram) << "line " << row.line;
                EXPECT_EQ(shown->time, f.time) << "line " << row.line;
                EXPECT_EQ(shown->bound, f.bound) << "line " << row.line;
                EXPECT_EQ(shown->reason, f.reason) << "line " << row.line;
                ++estimated;
            }
            EXPECT_GE(estimated, 6);
        }
}

// A profiler that counts holds the base clock, unless the row or the command has another.
TEST(Estimator, takes_the_base_clock_for_a_row_with_counters) {
    const std::string heads = "N,C,H,W,K,R,S,gpu", row = "1,32,14,14,32,3,3,v100-sxm2-16gb";
    const auto clock = [](const std::string& text, std::optional<Frequency> given = {}) {
        EstimatorOptions options = options_for(Method::model);
        options.clock = given;
        const auto e = Estimator(options)(table(text)->table->rows[0].layers[0]);
        EXPECT_TRUE(e);
        return e ? e->on->inputs.clock : Frequency{};
    };
    EXPECT_EQ(clock(heads + "\n" + row + "\n"), v100().clocks.boost->value);
    EXPECT_EQ(clock(heads + ",dram_bytes\n" + row + ",1e6\n"), v100().clocks.base->value);
    EXPECT_EQ(clock(heads + ",timed_at\n" + row + ",base clock\n"), v100().clocks.base->value);
    EXPECT_EQ(clock(heads + ",timed_at,sm_clock_mhz\n" + row + ",base clock,1400\n"), Frequency{1.4e9});
    EXPECT_EQ(clock(heads + ",dram_bytes,sm_clock_mhz\n" + row + ",1e6,1400\n"), Frequency{1.4e9});
    EXPECT_EQ(clock(heads + ",dram_bytes\n" + row + ",1e6\n", Frequency{1.2e9}), Frequency{1.2e9});
}

// What an estimate points to must live as long as it does: title and figures of --explain came from freed memory.
TEST(Estimator, estimates_outlive_the_estimator_that_made_them) {
    const Layer layer = small_layer();
    auto estimator = std::make_unique<Estimator>(options_for(Method::model));
    const auto e = (*estimator)(layer);
    estimator.reset();
    ASSERT_TRUE(e);
    EXPECT_EQ(e->on->machine.name, v100().name);
    EXPECT_GT(e->on->inputs.clock, Frequency{});
}

TEST(Estimator, refuses_what_cannot_be) {
    Layer layer = small_layer();
    EXPECT_THAT(refusal(layer, {}), HasSubstr("--machine"));
    layer.hints.gpu = "v101";
    EXPECT_THAT(refusal(layer, {}), HasSubstr("v101"));
    layer = small_layer();
    EstimatorOptions large = options_for(Method::model);
    large.tile = Tile{256, 256, 8};
    EXPECT_THAT(refusal(layer, large), testing::AllOf(HasSubstr("256x256"), HasSubstr("v100-sxm2-16gb")));
    for (const std::int64_t wild : {std::int64_t{1} << 20, std::int64_t{1} << 32, std::int64_t{1} << 62}) {
        layer.hints.tile_m = layer.hints.tile_n = layer.hints.tile_k = wild;
        EXPECT_NE(refusal(layer, options_for(Method::model)), "") << wild;
    }
}

TEST(Estimator, refuses_tensors_that_are_larger_than_the_memory) {
    Layer layer = small_layer();
    layer.op = Convolution{.n = 65536, .c = 64, .h = 112, .w = 112, .k = 64};
    for (const Method method : {Method::model, Method::paper, Method::simulation})
        EXPECT_THAT(refusal(layer, options_for(method)), HasSubstr("more than the 16 GiB")) << name(method);
}

TEST(Estimator, says_which_algorithms_are_not_modelled) {
    Layer layer = small_layer();
    EXPECT_EQ(not_modelled(layer), "");
    layer.hints.algorithm = "IMPLICIT_PRECOMP_GEMM";
    EXPECT_EQ(not_modelled(layer), "");
    layer.hints.algorithm = "WINOGRAD_NONFUSED";
    EXPECT_THAT(not_modelled(layer), HasSubstr("WINOGRAD"));
    Layer named = small_layer();
    named.hints.kernel = "made_up_DIRECT_kernel";
    EXPECT_THAT(not_modelled(named), HasSubstr("DIRECT"));
    Convolution groups = test::square(8, 64, 28, 64, 3, 1);
    groups.groups = 4;  // one after the other
    Layer in_turn = layer;
    in_turn.op = groups;
    EXPECT_EQ(not_modelled(in_turn), "");
    Estimator estimator(options_for(Method::model));
    const auto e = estimator(layer);
    ASSERT_TRUE(e);
    ASSERT_EQ(e->kernel.reasons.size(), 1U);
}

// cudnn-benchmark logs 1312 MHz on V100 for FP32; in FP16, which it spells so, it logs nothing. Other calls are not
// its.
TEST(Estimator, takes_a_row_of_cudnn_benchmark_without_a_clock_for_one_at_the_base_clock) {
    const auto clock = [](const std::string& precision, const std::string& more = "") {
        const auto table = read_layer_table(
            "gpu,algorithm,precision,N,C,H,W,K,R,S" + std::string(more.empty() ? "" : ",sm_clock_mhz") +
                "\nv100-sxm2-16gb,IMPLICIT_GEMM," + precision + ",8,64,28,28,64,1,1" + more + "\n",
            "t");
        const auto e = Estimator(options_for(Method::model))(table->rows.at(0).layers.at(0));
        const bool said = e && !e->kernel.reasons.empty() &&
                          e->kernel.reasons.back().str().find("at the base clock") != std::string::npos;
        EXPECT_EQ(said, e && std::abs(e->on->inputs.clock.value() - 1312e6) < 1e6) << precision;
        return e ? e->on->inputs.clock.value() / 1e6 : 0;
    };
    EXPECT_NEAR(clock("TENSORCOREHALF"), 1312, 1);
    EXPECT_NEAR(clock("fp16"), 1530, 1);
    EXPECT_NEAR(clock("fp16in_fp16mul_fp32acc"), 1530, 1);
    EXPECT_NEAR(clock("TENSORCOREHALF", ",1000"), 1000, 1);
}

TEST(Estimator, every_method_makes_the_same_kernel_but_for_bytes_and_time) {
    const Layer layer = small_layer();
    Estimator model(options_for(Method::model)), simulator(options_for(Method::simulation));
    const auto a = model(layer), b = simulator(layer);
    ASSERT_TRUE(a && b);
    EXPECT_EQ(a->kernel.name, b->kernel.name);
    EXPECT_EQ(a->kernel.phase, b->kernel.phase);
    EXPECT_EQ(a->kernel.device, b->kernel.device);
    EXPECT_EQ(a->kernel.shape, b->kernel.shape);
    for (const Pipe p : all_pipes()) {
        ASSERT_EQ(a->kernel.work[p].has_value(), b->kernel.work[p].has_value()) << name(p);
        if (!a->kernel.work[p]) continue;
        EXPECT_EQ(a->kernel.work[p]->value, b->kernel.work[p]->value) << name(p);
        EXPECT_EQ(a->kernel.work[p]->origin, Origin::derived) << name(p);
    }
    EXPECT_EQ(flop(a->kernel)->value, flop(layer));
}

TEST(Estimator, labels_amounts_by_how_they_were_made) {
    const Layer layer = small_layer();
    Estimator model(options_for(Method::model)), simulator(options_for(Method::simulation));
    const auto a = model(layer), b = simulator(layer);
    ASSERT_TRUE(a && b);
    for (const Level level : {Level::l1, Level::l2, Level::dram}) {
        EXPECT_EQ(a->kernel.bytes[level]->origin, Origin::modelled);
        EXPECT_EQ(b->kernel.bytes[level]->origin, Origin::simulated);
        EXPECT_GT(b->kernel.bytes[level]->value, Bytes{});
    }
    EXPECT_EQ(a->kernel.time->origin, Origin::modelled);
    // Nobody simulated a cycle: it is the shortest time that the roofs allow.
    EXPECT_EQ(b->kernel.time->origin, Origin::derived);
    EXPECT_GE(b->kernel.time->value, b->kernel.bytes[Level::dram]->value / memory_ceiling(v100(), Level::dram)->value);
}

}  // namespace
}  // namespace gambrel
