// Do the layers of a network or table become one run, with what could not be estimated named, and one answer?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <gambrel/estimate.hpp>
#include <gambrel/roofline.hpp>

#include "estimate/sample.hpp"
#include "mapping/sample.hpp"

namespace gambrel {
namespace {

using testing::HasSubstr;
using namespace sample;

TEST(Estimates, a_column_groups_of_1_is_as_none) {
    const auto with = estimate(table("name,N,C,H,W,K,R,S,pad,groups\nx,8,64,28,28,64,3,3,1,1\n"),
                               options_for(Method::model)),
               without = estimate(table("name,N,C,H,W,K,R,S,pad\nx,8,64,28,28,64,3,3,1\n"), options_for(Method::model));
    ASSERT_TRUE(with && without);
    const Estimate &x = with->rows.at(0).estimates.at(0), &y = without->rows.at(0).estimates.at(0);
    EXPECT_EQ(x.kernel.time->value, y.kernel.time->value);
    EXPECT_EQ(x.mapping, y.mapping);
    EXPECT_EQ(x.kernel.bytes[Level::dram]->value, y.kernel.bytes[Level::dram]->value);
}

TEST(Estimates, a_run_holds_the_kernels_of_all_repeats_and_their_machines) {
    LayerSet set;
    set.title = "twice";
    set.network = Network{};
    set.network->layers = {small_layer(), small_layer()};
    set.network->layers[0].repeat = 3;
    set.network->layers[1].hints.gpu = "t4";
    const auto made = estimate(std::make_shared<const LayerSet>(set), options_for(Method::model));
    ASSERT_TRUE(made) << to_text(made.error());
    const gambrel::Run run = to_run(*made);
    ASSERT_EQ(run.kernels.size(), 2U);
    EXPECT_EQ(run.origin, Origin::modelled);
    EXPECT_EQ(run.kernels[0].launches, 3U);
    EXPECT_EQ(flop(run.kernels[0])->value, 3 * flop(small_layer()));
    EXPECT_EQ(run.machines.at(run.kernels[0].machine).id, "v100-sxm2-16gb");
    EXPECT_EQ(run.machines.at(run.kernels[1].machine).id, "t4");
}

// On A100 what a kernel wrote stays in L2, and no counter of that kernel sees it. In a stream of kernels it is written
// all the same; the simulation left it out there, so that a ReLU moved half of its bytes.
TEST(Estimates, leave_out_what_stays_in_l2_where_a_profiler_did_and_nowhere_else) {
    const auto dram = [](Method method, bool profiled) {
        LayerSet set;
        set.title = "relu";
        set.network = Network{};
        Layer relu;
        relu.name = "relu";
        relu.op = Streaming{.kind = StreamingKind::activation, .read = {1 << 21, 0, 0, 0}, .written = 1 << 21};
        relu.hints.cold = profiled;
        relu.hints.gpu = "a100-sxm4-40gb";
        set.network->layers = {relu};
        const auto made = estimate(std::make_shared<const LayerSet>(set), options_for(method));
        EXPECT_TRUE(made);
        return made->rows.at(0).estimates.at(0).kernel.bytes[Level::dram]->value.value();
    };
    for (const Method method : {Method::model, Method::simulation}) {
        EXPECT_EQ(dram(method, false), 2.0 * 4 * (1 << 21));
        EXPECT_EQ(dram(method, true), 4.0 * (1 << 21));
    }
}

// `predict --roofs measured` was judged by theoretical roofs, so that every streaming layer stood at 92 % of its roof.
TEST(Estimates, are_judged_by_the_roofs_that_they_were_made_with) {
    for (const Roofs roofs : {Roofs::theoretical, Roofs::measured}) {
        EstimatorOptions options = options_for(Method::simulation);
        options.roofs = roofs;
        const auto made = estimate(table("name,N,C,H,W,K,R,S\nx,1,32,14,14,32,1,1\n"), options);
        ASSERT_TRUE(made);
        gambrel::Run run = to_run(*made);
        EXPECT_EQ(default_roofs(run), roofs);
        AnalysisOptions judged;
        judged.roofline.roofs = default_roofs(run);
        const Analysis a = analysis(std::move(run), judged);
        EXPECT_NEAR(*a.rows.at(0).verdict.of_roof, 1, 1e-12);
        EXPECT_EQ(a.origin, Origin::simulated);
    }
}

TEST(Estimates, fail_if_no_row_could_be_estimated_and_note_rows_that_could_not) {
    const std::string header = "name,gpu,N,C,H,W,K,R,S\n";
    const auto none = estimate(table(header + "x,,1,32,14,14,32,1,1\n"), {});
    ASSERT_FALSE(none);
    EXPECT_THAT(to_text(none.error()), HasSubstr("no GPU is given"));
    const auto empty = estimate(table(header), options_for(Method::model));
    ASSERT_FALSE(empty);
    EXPECT_THAT(to_text(empty.error()), HasSubstr("holds no layer"));
    const auto some = estimate(table(header + "x,v100,1,32,14,14,32,1,1\ny,v101,1,32,14,14,32,1,1\n"), {});
    ASSERT_TRUE(some);
    ASSERT_EQ(some->notes.size(), 1U);
    EXPECT_THAT(to_text(some->notes[0]), HasSubstr("line 3"));
    EXPECT_THAT(some->rows[1].reason, HasSubstr("v101"));
}

// Once, and only of GPUs without Tensor Cores.
TEST(Estimates, say_that_fp16_is_multiplied_in_fp32) {
    const auto rows = table("op,M,N,K,precision\ngemm,64,64,64,fp16\ngemm,128,64,64,fp16\ngemm,64,64,64,fp32\n");
    EstimatorOptions options = options_for(Method::model);
    EXPECT_EQ(to_text(estimate(rows, options)->notes).find("FP16"), std::string::npos);
    for (const char* id : {"p100-pcie-16gb", "p4", "k80"}) {
        options.machine = *find_in_catalogue(id);
        const std::string notes = to_text(estimate(rows, options)->notes);
        const auto first = notes.find("FP16 tensors are assumed");
        EXPECT_NE(first, std::string::npos) << id;
        EXPECT_EQ(notes.find("FP16 tensors are assumed", first + 1), std::string::npos) << id;
    }
}

// One note for a machine at all clocks, also where it is met again after it was forgotten.
TEST(Estimates, say_once_what_they_assume_of_a_machine) {
    std::string text = "gpu,sm_clock_mhz,op,M,N,K\n";
    for (int i = 0; i < 600; ++i) text += fmt::format("{},{},gemm,64,64,64\n", i % 2 ? "h100" : "t4", 1000 + i % 300);
    const std::string notes = to_text(estimate(table(text), {})->notes);
    for (const std::string name : {"NVIDIA H100 80GB HBM3: assumed", "Tesla T4: assumed"}) {
        const auto first = notes.find(name);
        EXPECT_NE(first, std::string::npos) << name;
        EXPECT_EQ(notes.find(name, first + 1), std::string::npos) << name;
    }
}

TEST(Estimates, that_are_stopped_are_partial) {
    int asked = 0;
    const auto made = estimate(table("name,N,C,H,W,K,R,S\nx,1,32,14,14,32,1,1\ny,1,32,14,14,32,1,1\n"),
                               options_for(Method::model), [&](double, const std::string&) { return ++asked < 2; });
    ASSERT_TRUE(made);
    EXPECT_TRUE(made->partial);
    EXPECT_EQ(made->rows.size(), 1U);
    EXPECT_TRUE(to_run(*made).partial);
    EXPECT_THAT(to_text(made->notes), HasSubstr("partial"));
}

TEST(LayerSet, has_every_layer_as_it_runs_where_order_is_asked_for) {
    LayerRequest request;
    request.network = "resnet50";
    const auto merged = load_layers(request);
    request.in_order = true;
    const auto ordered = load_layers(request);
    ASSERT_TRUE(merged && ordered);
    EXPECT_LT(merged->layers().size(), ordered->layers().size());
    double runs = 0;
    for (const Layer& layer : merged->layers()) runs += layer.repeat;
    EXPECT_EQ(runs, static_cast<double>(ordered->layers().size()));
    for (const Layer& layer : ordered->layers()) EXPECT_EQ(layer.repeat, 1) << layer.name;
}

TEST(Estimates, take_the_algorithm_that_is_predicted_fastest_where_the_network_leaves_it_open) {
    LayerRequest request;
    request.network = "resnet50", request.batch = 32;
    const auto made = [&](bool fastest, Method method) {
        request.fastest_algorithm = fastest;
        return *estimate(std::make_shared<const LayerSet>(*load_layers(request)), options_for(method));
    };
    const Estimates implicit = made(false, Method::model), fastest = made(true, Method::model);
    EXPECT_LT(fastest.time(), implicit.time());
    ASSERT_EQ(fastest.rows.size(), implicit.rows.size());
    bool winograd = false;
    for (std::size_t i = 0; i < fastest.rows.size(); ++i) {
        const Estimate &a = fastest.rows[i].estimates.front(), &b = implicit.rows[i].estimates.front();
        EXPECT_EQ(a.layer->name, b.layer->name);
        EXPECT_LE(a.kernel.time->value, b.kernel.time->value) << a.layer->name;
        EXPECT_EQ(a.found != nullptr, std::holds_alternative<Convolution>(a.layer->op));
        winograd = winograd || a.mapping.transform != Transform::none;
    }
    EXPECT_TRUE(winograd);
    // The paper describes implicit GEMMs.
    EXPECT_EQ(made(true, Method::paper).time(), made(false, Method::paper).time());
}

// A row may leave the algorithm open, too; the simulator has implicit GEMMs only, and says what it left out.
TEST(Estimates, of_a_row_that_asks_for_the_fastest_algorithm_name_it_where_they_cannot_take_it) {
    for (const char* word : {"FASTEST", "fastest"}) {
        const auto rows = table(std::string("name,algorithm,N,C,H,W,K,R,S,pad\nx,") + word + ",4,64,28,28,64,3,3,1\n");
        const auto modelled = estimate(rows, options_for(Method::model)),
                   simulated = estimate(rows, options_for(Method::simulation));
        ASSERT_TRUE(modelled && simulated);
        const Estimate &m = modelled->rows.at(0).estimates.at(0), &s = simulated->rows.at(0).estimates.at(0);
        EXPECT_EQ(m.mapping.transform, Transform::winograd_fused);
        EXPECT_EQ(figures(m).reason, "");
        EXPECT_EQ(s.mapping.transform, Transform::none);
        EXPECT_THAT(figures(s).reason, HasSubstr("simulated as implicit GEMM; WINOGRAD is predicted to be faster"));
    }
}

TEST(Estimates, say_that_a_network_does_not_fit_into_memory) {
    LayerRequest request;
    request.network = "resnet50";
    request.batch = 1024;
    request.training = true;
    auto layers = load_layers(request);
    ASSERT_TRUE(layers);
    const auto made = estimate(std::make_shared<const LayerSet>(std::move(*layers)), options_for(Method::model));
    ASSERT_TRUE(made);
    EXPECT_THAT(to_text(made->notes), HasSubstr("it does not fit"));
    request.batch = 16;
    layers = load_layers(request);
    const auto small = estimate(std::make_shared<const LayerSet>(std::move(*layers)), options_for(Method::model));
    ASSERT_TRUE(small);
    EXPECT_EQ(to_text(small->notes).find("fit"), std::string::npos);
}

// Kernels wait for the host's launches, and the host launches no faster for a faster GPU.
TEST(GpuRanking, the_host_makes_gpus_equal_where_it_takes_longer_than_each) {
    LayerRequest request;
    request.network = "resnet50", request.batch = 1, request.precision = Precision::fp16;
    const auto layers = std::make_shared<const LayerSet>(*load_layers(request));
    const auto ranked = [&](Seconds gap) {
        std::vector<Estimates> each;
        for (const double pipes : {1.0, 0.1}) {
            EstimatorOptions options;
            options.machine = v100(), options.host_gap = gap;
            auto& dense = options.machine->pipes[Pipe::tensor_fp16].dense->value;
            dense = dense * pipes;
            each.push_back(*estimate(layers, options));
        }
        return gpu_ranking(each)->slower.at(0);
    };
    EXPECT_GT(ranked(Seconds{0}).ratio, 1.2);
    EXPECT_EQ(ranked(Seconds{1e-3}).ratio, 1);
    EXPECT_EQ(ranked(Seconds{1e-3}).longer, Seconds{});
}

TEST(GpuRanking, says_which_is_fastest_and_what_the_others_wait_longer_for) {
    LayerRequest request;
    request.network = "resnet50", request.batch = 64, request.precision = Precision::fp16;
    const auto layers = std::make_shared<const LayerSet>(*load_layers(request));
    std::vector<Estimates> each;
    Machine slow_memory = v100(), slow_pipes = v100();
    for (MemoryLevel& level : slow_memory.levels)
        if (level.level == Level::dram && level.measured)
            level.measured->ceiling.value = level.measured->ceiling.value / 4;
    slow_memory.at(Level::dram).bandwidth->value = slow_memory.at(Level::dram).bandwidth->value / 4;
    slow_pipes.pipes[Pipe::tensor_fp16].dense->value = slow_pipes.pipes[Pipe::tensor_fp16].dense->value / 16;
    for (const Machine& m : {slow_memory, v100(), slow_pipes}) {
        EstimatorOptions options;
        options.machine = m;
        each.push_back(*estimate(layers, options));
    }
    const auto ranking = gpu_ranking(each);
    ASSERT_TRUE(ranking.has_value());
    EXPECT_EQ(ranking->fastest, 1U);
    ASSERT_EQ(ranking->slower.size(), 2U);
    for (const GpuRanking::Slower& s : ranking->slower) {
        EXPECT_GT(s.ratio, 1.2);
        EXPECT_GT(s.longer.value(), 0);
        EXPECT_EQ(s.because, s.index == 0 ? Term::dram : Term::compute);
        EXPECT_NEAR(s.best / s.resource, s.index == 0 ? 4 : 16, 1e-9);
    }
    each[1].fits = false;
    EXPECT_NE(gpu_ranking(each)->fastest, 1U) << "one that holds the network comes first";
    EXPECT_FALSE(gpu_ranking(std::span(each).first(1)).has_value());
}

// Any word was taken for implicit GEMM, and a tile that was not used was not mentioned.
TEST(Estimates, say_what_of_a_row_was_not_understood_and_name_the_nearest) {
    const auto made = estimate(table("name,N,C,H,W,K,R,S,algorithm,tile_m,tile_n,gpu\n"
                                     "a,8,64,28,28,64,3,3,BANANA,,,v100\nb,8,64,28,28,64,3,3,WINOGRAAD,,,v100\n"
                                     "c,8,64,28,28,64,3,3,,7,3,v100\nd,8,64,28,28,64,3,3,DGRAD engine,,,v100\n"
                                     "e,8,64,28,28,64,3,3,,,,h10\n"),
                               options_for(Method::model));
    ASSERT_TRUE(made) << to_text(made.error());
    const auto reason = [&](std::size_t row) {
        const Estimate& e = made->rows.at(row).estimates.at(0);
        return e.kernel.reasons.empty() ? std::string() : e.kernel.reasons.front().str();
    };
    EXPECT_EQ(reason(0), "algorithm \"BANANA\" is not known: predicted as implicit GEMM");
    EXPECT_THAT(reason(1), HasSubstr("did you mean \"WINOGRAD\""));
    EXPECT_EQ(reason(2), "a tile of 7x3 is not used: expected sides of 8 or more");
    EXPECT_EQ(reason(3), "");
    EXPECT_THAT(made->rows.at(4).reason,
                HasSubstr("is not in the catalogue, which `gambrel machines` lists; similar: "));
}

// Sizes and passes that were asked for of a table changed nothing, and nothing said so.
TEST(Requests, for_what_a_table_or_network_has_no_use_for_are_refused) {
    LayerRequest request;
    request.table = "layers.csv";
    request.batch = 4, request.training = true, request.layout = Layout::nhwc;
    const auto refused = load_layers(request);
    ASSERT_FALSE(refused);
    const std::string text = to_text(refused.error());
    EXPECT_THAT(text, HasSubstr("--batch: is for a network; rows of a table have a column N, or batch"));
    EXPECT_THAT(text, HasSubstr("--training: is for a network"));
    EXPECT_THAT(text, HasSubstr("--layout: is for a network"));
    LayerRequest images;
    images.network = "alexnet", images.sequence = 4;
    EXPECT_THAT(to_text(load_layers(images).error()), HasSubstr("--sequence: is for bert-base"));
    images.network = "bert-base";
    EXPECT_TRUE(load_layers(images));
    images.network = "llama3-8b";
    EXPECT_THAT(to_text(load_layers(images).error()), HasSubstr("llama-3-8b"));
}

// An optimizer's tensors were taken for those of one kernel, so that a model too large to train had no summary.
TEST(Estimates, a_model_that_is_too_large_to_train_has_a_time_and_does_not_fit) {
    LayerRequest request;
    request.network = "llama-3-8b", request.phase = Phase::train, request.sequence = 128;
    auto set = load_layers(request);
    ASSERT_TRUE(set) << to_text(set.error());
    EstimatorOptions options;
    options.machine = *find_in_catalogue("h100-sxm");
    const auto made = estimate(std::make_shared<const LayerSet>(std::move(*set)), options);
    ASSERT_TRUE(made) << to_text(made.error());
    ASSERT_TRUE(made->summary);
    EXPECT_FALSE(made->summary->fits);
    EXPECT_GT(made->summary->memory, Bytes{128e9});
}

}  // namespace
}  // namespace gambrel
