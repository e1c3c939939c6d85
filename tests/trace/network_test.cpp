// Do kernels without shapes get those of the network that the user names, and only where the sequences fit?
#include <gambrel/trace.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gambrel {
namespace {

using testing::HasSubstr;

struct Product {
    int tile_m, tile_n, ctas;
};

// A graph of these kernels, launched as often.
Timeline graph_of(const std::vector<Product>& kernels, int times) {
    std::string text =
        R"({"deviceProperties":[{"id":0,"name":"NVIDIA A100-SXM4-40GB"}],"traceEvents":[)"
        R"({"ph":"X","cat":"cuda_runtime","name":"cudaGraphLaunch","pid":1,"tid":1,"ts":1,"dur":1,"args":{"correlation":1}})";
    int at = 10;
    for (int i = 0; i < times; ++i)
        for (const Product& p : kernels) {
            const std::string name = "ampere_fp16_s16816gemm_fp16_" + std::to_string(p.tile_m) + "x" +
                                     std::to_string(p.tile_n) + "_ldg8_f2f_stages_32x5_tn";
            for (const std::string& kernel : {name, std::string("rms_norm")})
                text += R"(,{"ph":"X","cat":"kernel","name":")" + kernel + R"(","pid":0,"tid":7,"dur":5000,"ts":)" +
                        std::to_string(at += 10) + R"(,"args":{"device":0,"stream":7,"correlation":1,"grid":[)" +
                        std::to_string(p.ctas) + R"(,1,1],"block":[128,1,1]}})";
        }
    auto timeline = read_timeline(text + "]}", "t");
    EXPECT_TRUE(timeline) << to_text(timeline.error());
    return timeline ? std::move(*timeline) : Timeline{};
}

Layer product(const char* name, std::int64_t m, std::int64_t n, std::int64_t k, double repeat) {
    Layer layer;
    layer.name = name;
    layer.op = Gemm{.m = m, .n = n, .k = k};
    layer.precision = Precision::fp16;
    layer.repeat = repeat;
    return layer;
}

// Two blocks of two products, and one at the end.
const std::vector<Layer> kNetwork = {product("up", 512, 4096, 1024, 2), product("down", 512, 1024, 4096, 2),
                                     product("head", 512, 32000, 1024, 1)};
const std::vector<Product> kKernels = {{128, 128, 128}, {64, 64, 128}, {128, 128, 128}, {64, 64, 128}, {256, 128, 500}};

TEST(NetworkMatch, kernels_of_a_graph_have_the_shapes_of_the_layers_that_run_in_their_place) {
    TraceOptions options;
    options.network = kNetwork;
    const auto run = to_run(graph_of(kKernels, 3), options);
    ASSERT_TRUE(run) << to_text(run.error());
    ASSERT_EQ(run->kernels.size(), 30u);
    const std::vector<std::string> expected = {"up", "down", "up", "down", "head"};
    for (std::size_t i = 0; i < 30; ++i) {
        const Kernel& k = run->kernels[i];
        EXPECT_EQ(k.time_class.str(), i % 2 == 0 ? "modelled" : "graph") << i;
        if (i % 2 != 0) continue;
        EXPECT_EQ(k.op.str(), expected[i / 2 % 5]) << i;
        EXPECT_DOUBLE_EQ(flop(k)->value.value(), i / 2 % 5 == 4 ? 2.0 * 512 * 32000 * 1024 : 2.0 * 512 * 4096 * 1024);
    }
}

TEST(NetworkMatch, another_network_is_refused_and_what_stays_unknown_says_what_is_known) {
    TraceOptions options;
    options.network = {product("other", 77, 77, 77, 4)};
    const Timeline timeline = graph_of({{128, 128, 1000}}, 4);
    const auto run = to_run(timeline, options);
    ASSERT_TRUE(run) << to_text(run.error());
    EXPECT_EQ(run->timeline->of(TimeClass::modelled).ns, 0u);
    EXPECT_THAT(run->notes.back().what, HasSubstr("not this network"));
    EXPECT_THAT(run->kernels.at(0).reasons.back().str(), HasSubstr("1000 tiles of 128 x 128"));
}

}  // namespace
}  // namespace gambrel
