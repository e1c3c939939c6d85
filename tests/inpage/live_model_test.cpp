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
    LiveModel model(estimates.options.roofs, near_roof());
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
            EXPECT_EQ(l.nearest, verdicts.rows[i].verdict.nearest) << k.name.str();
            EXPECT_EQ(l.bound, verdicts.rows[i].verdict.bound) << k.name.str();
            EXPECT_NEAR(l.shortest / verdicts.rows[i].verdict.shortest, 1, 1e-15);
        }
    }
}

// With eight images the last layer's reduction is split by the SMs that the design has.
void expect_as_explored(std::int64_t batch) {
    SCOPED_TRACE(batch);
    const Estimates estimates = estimated(network("resnet50", batch), "v100");
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

TEST(LiveModel, scales_a_machine_as_an_exploration_does) {
    for (const std::int64_t batch : {0, 8}) expect_as_explored(batch);
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
    EXPECT_EQ(model.evaluate({}, {}, 1)[0].clock, model.inputs(1)->clock);
}

TEST(LiveModel, a_kernel_of_one_gpu_is_not_run_on_another) {
    Layer named;
    named.op = Convolution{.n = 16, .c = 64, .h = 56, .w = 56, .k = 64, .r = 3, .s = 3};
    named.precision = Precision::fp16;
    Layer plain = named;
    named.hints.kernel = "volta_scudnn_128x64_relu_interior_nn_v1";
    named.hints.timing = plain.hints.timing = Timing::kernel;
    LiveModel model;
    for (const char* gpu : {"v100", "v100-sxm2-32gb", "a100"}) model.add_machine(*find_in_catalogue(gpu));
    model.add_layer(named, 0, {});
    model.add_layer(plain, 0, {});
    const auto on = [&](std::size_t machine) { return model.evaluate({}, {}, machine); };
    EXPECT_EQ(on(0)[0].pipe, Pipe::fp32) << "as its name says";
    EXPECT_EQ(on(1)[0].pipe, Pipe::fp32) << "the same compute capability has the same kernels";
    EXPECT_EQ(on(2)[0].pipe, Pipe::tensor_fp16);
    EXPECT_EQ(on(2)[0].time, on(2)[1].time) << "as the library would choose for a layer without a kernel";
}

struct Asked {
    const char* network;
    const char* gpu;
    LayerRequest start, other;
};
LayerRequest asked(const char* name, std::int64_t batch, std::int64_t sequence, std::optional<Precision> precision,
                   std::optional<Phase> phase = {}, std::int64_t context = 0) {
    LayerRequest request = network(name, batch);
    request.sequence = sequence, request.precision = precision, request.phase = phase, request.context = context;
    return request;
}

TEST(LiveModel, makes_a_network_again_as_predict_would_for_another_batch_sequence_and_precision) {
    LayerRequest trained = asked("resnet50", 8, 0, {}), more = asked("resnet50", 32, 0, Precision::fp16);
    trained.training = more.training = true;
    LayerRequest fastest = asked("resnet50", 2, 0, {}), batched = asked("resnet50", 64, 0, {});
    fastest.fastest_algorithm = batched.fastest_algorithm = true;
    const std::vector<Asked> all = {
        {"resnet50", "v100", trained, more},
        {"resnet50", "t4", fastest, batched},
        {"bert-base", "a100", asked("bert-base", 4, 128, {}), asked("bert-base", 16, 384, Precision::fp16)},
        {"llama-3-8b", "h100-sxm", asked("llama-3-8b", 1, 2048, {}), asked("llama-3-8b", 2, 512, Precision::fp16)},
        {"mixtral-8x7b", "h200", asked("mixtral-8x7b", 1, 0, {}, Phase::decode, 512),
         asked("mixtral-8x7b", 8, 0, {}, Phase::decode, 4096)},
        {"gpt2", "a100", asked("gpt2", 4, 512, {}, Phase::train),
         asked("gpt2", 8, 1024, Precision::bf16, Phase::train)}};
    for (const Asked& a : all) {
        const Estimates start = estimated(a.start, a.gpu), wanted = estimated(a.other, a.gpu);
        LiveModel model(start.options.roofs, near_roof());
        model.add_machine(*machine_from_numbers(numbers_of(*start.options.machine)));
        auto recipe = recipe_from_numbers(numbers_of(*start.layers->recipe));
        ASSERT_TRUE(recipe.has_value());
        recipe->configuration = start.layers->recipe->configuration;
        ASSERT_TRUE(model.set_recipe(*recipe, 0, {})) << a.network;
        for (const auto& [work, estimates] :
             {std::pair(LiveWork{}, &start),
              {LiveWork{1, a.other.batch, a.other.sequence, a.other.context, a.other.precision}, &wanted}}) {
            const auto& found = model.evaluate({}, work);
            const gambrel::Run run = to_run(*estimates);
            ASSERT_EQ(found.size(), run.kernels.size()) << a.network;
            ASSERT_EQ(model.layers(), found.size());
            for (std::size_t i = 0; i < found.size(); ++i) {
                EXPECT_EQ(model.layer(i).name, run.kernels[i].name.str());
                EXPECT_EQ(found[i].time, run.kernels[i].time->value) << a.network << " " << model.layer(i).name;
                EXPECT_EQ(found[i].dram, run.kernels[i].bytes[Level::dram]->value);
            }
            const LiveRun total = model.run({});
            EXPECT_EQ(total.memory, estimates->summary ? estimates->summary->memory : Bytes{});
            EXPECT_EQ(total.samples, static_cast<double>(work.batch > 0 ? work.batch : a.start.batch));
        }
    }
}

TEST(LiveModel, says_that_a_network_cannot_be_made) {
    const Estimates start = estimated(network("llama-3-8b", 1), "a100");
    LiveModel model;
    model.add_machine(*start.options.machine);
    ASSERT_TRUE(model.set_recipe(*start.layers->recipe, 0, {}));
    const auto& found = model.evaluate({}, {1, std::int64_t{1} << 40});
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found[0].refusal, Refusal::network);
    EXPECT_FALSE(model.set_recipe({"no such network", ""}, 0, {}));
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

TEST(Numbers, a_layer_comes_back_with_all_that_a_mapping_or_a_model_asks_of_it) {
    Layer layer;
    Attention attention{.batch = 3, .q_len = 5, .kv_len = 7, .heads = 8, .kv_heads = 4, .causal = true, .window = 9};
    attention.latent = attention.paged = true, attention.kv_precision = Precision::fp8;
    attention.decode_batch = 11, attention.decode_kv_len = 13;
    layer.op = attention;
    layer.pass = Pass::wgrad, layer.precision = Precision::bf16, layer.weights = Precision::int4;
    layer.layout = Layout::nhwc, layer.repeat = 3, layer.input_is_trained = layer.has_filter = false, layer.bias = true;
    Hints& h = layer.hints;
    h.algorithm = "WINOGRAD", h.kernel = "volta", h.tile_m = 1, h.tile_n = 2, h.tile_k = 3, h.split_k = 4,
    h.kernels = 5;
    h.sm_clock = Frequency{6}, h.math = Precision::tf32, h.tensor_core = true, h.timing = Timing::graph, h.fma = 7;
    h.workspace = Bytes{8}, h.overwrites = h.cold = h.base_clock = true, h.quantizes_input = InputScales::tensor;
    layer.hints.other_layout = true;
    layer.hints.bias_kernel = BiasKernel::copies;
    layer.hints.adds_up_parts = true;
    const auto back = layer_from_numbers(numbers_of(layer));
    ASSERT_TRUE(back.has_value());
    EXPECT_TRUE(back->op == layer.op);
    EXPECT_TRUE(back->hints == layer.hints);
    EXPECT_EQ(numbers_of(*back), numbers_of(layer));
    EXPECT_TRUE(back->hints.other_layout);
    EXPECT_EQ(back->hints.bias_kernel, BiasKernel::copies);
    EXPECT_TRUE(back->hints.adds_up_parts);
    EXPECT_EQ(back->weights, layer.weights);
    EXPECT_EQ(back->layout, layer.layout);
    EXPECT_TRUE(back->bias && !back->has_filter && !back->input_is_trained);
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
