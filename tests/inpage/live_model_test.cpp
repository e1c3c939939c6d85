// Does the model inside the page give what the commands give? The same code is compiled to WebAssembly; tests/page asks
// the browser.
#include <gambrel/explore.hpp>
#include <gambrel/inpage.hpp>

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "explore/evaluator.hpp"

namespace gambrel {
namespace {

std::shared_ptr<const LayerSet> layers_of(const LayerRequest& request) {
    auto layers = load_layers(request);
    EXPECT_TRUE(layers.has_value());
    return std::make_shared<const LayerSet>(std::move(*layers));
}

Estimates estimated(const LayerRequest& request, const std::string& gpu) {
    EstimatorOptions options;
    options.machine = *find_in_catalogue(gpu);
    auto estimates = estimate(layers_of(request), options);
    EXPECT_TRUE(estimates.has_value());
    return std::move(*estimates);
}

LayerRequest network(std::string name, std::int64_t batch = 0) {
    LayerRequest request;
    request.network = std::move(name), request.batch = batch;
    return request;
}

// Through the numbers, as a page has them.
LiveModel live(const Estimates& estimates) {
    LiveModel model(estimates.options.roofs);
    model.add_machine(*machine_from_numbers(numbers_of(*estimates.options.machine)));
    for (const EstimatedRow& row : estimates.rows)
        for (const Estimate& e : row.estimates) model.add_layer(*layer_from_numbers(numbers_of(*e.layer)), 0, {});
    return model;
}

TEST(LiveModel, gives_to_the_last_bit_what_predict_gives) {
    for (const auto& [name, gpu] : {std::pair("resnet50", "v100"),
                                    {"deeplabv3plus-xception", "h100-sxm"},
                                    {"bert-base", "a100"},
                                    {"mobilenet-v2", "t4"},
                                    {"llama-3-8b", "l40s"}}) {
        LayerRequest request = network(name);
        if (std::string(name).starts_with("bert") || std::string(name).starts_with("llama"))
            request.precision = Precision::fp16;
        const Estimates estimates = estimated(request, gpu);
        LiveModel model = live(estimates);
        const auto& results = model.evaluate({});
        const gambrel::Run run = to_run(estimates);
        const Analysis verdicts = analysis(run, {Grouping::launch, TimeSum::exact, {{}, run.roofs.value(), true}});
        ASSERT_EQ(results.size(), run.kernels.size()) << name;
        for (std::size_t i = 0; i < results.size(); ++i) {
            const Kernel& k = run.kernels[i];
            const LiveLayer& l = results[i];
            ASSERT_EQ(l.refusal, Refusal::none);
            EXPECT_EQ(l.time, k.time->value) << k.name.str();
            EXPECT_EQ(l.l1, k.bytes[Level::l1]->value);
            EXPECT_EQ(l.l2, k.bytes[Level::l2]->value);
            EXPECT_EQ(l.dram, k.bytes[Level::dram]->value);
            EXPECT_EQ(l.work, k.work[l.pipe]->value);
            EXPECT_EQ(l.bound, verdicts.rows[i].verdict.nearest) << k.name.str();
            EXPECT_NEAR(l.shortest / verdicts.rows[i].verdict.shortest, 1, 1e-15);
        }
    }
}

TEST(LiveModel, scales_a_machine_as_an_exploration_does) {
    const Estimates estimates = estimated(network("resnet50"), "v100");
    const Machine& machine = *estimates.options.machine;
    Workload workload;
    workload.add(*estimates.layers);
    const DesignEvaluator evaluator(machine, *model_inputs(machine), workload, Tiles::rule);
    Factors f;
    f[Resource::sms] = 1.5, f[Resource::clock] = 1.2, f[Resource::l2_capacity] = 2, f[Resource::l2_bandwidth] = 0.75;
    f[Resource::dram_bandwidth] = 3;
    const WorkloadTime expected = evaluator.evaluate(f);
    LiveModel model = live(estimates);
    const auto& results = model.evaluate({1.5, 1.2, 1, 2, 0.75, 3});
    ASSERT_EQ(results.size(), expected.layers.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
        const double runs = workload.items[i].layer.repeat;
        EXPECT_EQ(results[i].time.value(), expected.layers[i].time * runs);
        EXPECT_EQ(results[i].l1.value(), expected.layers[i].l1_bytes * runs);
        EXPECT_EQ(results[i].dram.value(), expected.layers[i].dram_bytes * runs);
        EXPECT_EQ(results[i].waits_for, expected.layers[i].bound);
    }
}

TEST(LiveModel, moves_the_roofs_with_the_resources) {
    LiveModel model;
    model.add_machine(*find_in_catalogue("v100"));
    const RoofSet now = model.roofs(0, Roofs::theoretical, {});
    const RoofSet then = model.roofs(0, Roofs::theoretical, {2, 1.5, 4, 1, 3, 5});
    EXPECT_NEAR(then.pipes[Pipe::fp32] / now.pipes[Pipe::fp32], 3, 1e-12);
    EXPECT_NEAR(then.pipes[Pipe::tensor_fp16] / now.pipes[Pipe::tensor_fp16], 12, 1e-12);
    EXPECT_NEAR(then.levels[Level::l1] / now.levels[Level::l1], 3, 1e-12);
    EXPECT_NEAR(then.levels[Level::l2] / now.levels[Level::l2], 4.5, 1e-12);
    EXPECT_NEAR(then.levels[Level::dram] / now.levels[Level::dram], 5, 1e-12);
}

TEST(LiveModel, a_larger_batch_is_the_network_of_that_batch) {
    for (const char* name :
         {"resnet50", "vgg16", "deeplabv3plus-xception", "bert-base", "mobilenet-v2", "llama-3-8b", "gpt2"}) {
        const auto small = layers_of(network(name, 4)), large = layers_of(network(name, 16));
        const auto all = [](const LayerSet& set) { return merged(set.network->layers); };
        const std::vector<Layer> from = all(*small), to = all(*large);
        ASSERT_EQ(from.size(), to.size());
        for (std::size_t i = 0; i < from.size(); ++i) {
            const auto grown = with_batch(from[i], 4);
            ASSERT_TRUE(grown.has_value()) << name << " " << from[i].name;
            EXPECT_TRUE(grown->op == to[i].op) << name << " " << from[i].name;
        }
    }
}

TEST(LiveModel, a_batch_that_is_not_whole_is_refused) {
    Layer layer;
    layer.op = Convolution{.n = 3};
    EXPECT_FALSE(with_batch(layer, 0.5).has_value());
    EXPECT_EQ(std::get<Convolution>(with_batch(layer, 2)->op).n, 6);
}

TEST(LiveModel, says_why_a_layer_cannot_run) {
    LiveModel model;
    model.add_machine(*find_in_catalogue("v100"));
    Layer layer;
    layer.op = Gemm{.m = 512, .n = 512, .k = 512};
    layer.precision = Precision::fp8;
    model.add_layer(layer, 0, {});
    layer.precision = Precision::fp32;
    layer.op = Gemm{.m = 1 << 20, .n = 1 << 20, .k = 64};
    model.add_layer(layer, 0, {});
    const auto& results = model.evaluate({});
    EXPECT_EQ(results[0].refusal, Refusal::no_arithmetic);
    EXPECT_EQ(results[1].refusal, Refusal::memory);
}

TEST(LiveModel, a_given_clock_holds_on_its_own_machine_alone) {
    LiveModel model;
    model.add_machine(*find_in_catalogue("v100"));
    model.add_machine(*find_in_catalogue("a100"));
    Layer layer;
    layer.op = Gemm{.m = 4096, .n = 4096, .k = 4096};
    model.add_layer(layer, 0, Frequency{1e9});
    EXPECT_EQ(model.evaluate({})[0].clock.value(), 1e9);
    EXPECT_EQ(model.evaluate({}, 1, 1)[0].clock, model.inputs(1)->clock);
}

TEST(Numbers, every_machine_of_the_catalogue_comes_back_with_the_same_ceilings_and_needs) {
    for (const Machine& m : catalogue()) {
        const auto back = machine_from_numbers(numbers_of(m));
        ASSERT_TRUE(back.has_value()) << m.id;
        for (std::size_t i = 0; i < kNeeded; ++i)
            EXPECT_EQ(needed(*back, static_cast<Needed>(i)), needed(m, static_cast<Needed>(i))) << m.id;
        for (const Roofs roofs : {Roofs::theoretical, Roofs::measured}) {
            const RoofSet expected = scaled_roofs(m, {}, roofs, {}), found = scaled_roofs(*back, {}, roofs, {});
            EXPECT_EQ(found.pipes, expected.pipes) << m.id;
            EXPECT_EQ(found.levels, expected.levels) << m.id;
        }
    }
}

TEST(Numbers, what_another_version_wrote_is_not_read) {
    std::vector<double> numbers = numbers_of(Layer{});
    EXPECT_TRUE(layer_from_numbers(numbers).has_value());
    numbers.push_back(1);
    EXPECT_FALSE(layer_from_numbers(numbers).has_value());
    numbers.resize(3);
    EXPECT_FALSE(layer_from_numbers(numbers).has_value());
    EXPECT_FALSE(layer_from_numbers(std::vector<double>{9}).has_value());
    EXPECT_FALSE(machine_from_numbers(std::vector<double>{1e9}).has_value());
    EXPECT_FALSE(machine_from_numbers({}).has_value());
}

}  // namespace
}  // namespace gambrel
