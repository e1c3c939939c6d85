// Do kernels without shapes get those of the network that the user names, and only where the sequences fit?
#include <gambrel/trace.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gambrel {
namespace {

using testing::HasSubstr;

struct Product {
    int tile_m, tile_n, x, y = 1, z = 1;
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
            for (const std::string& kernel : {name, std::string(p.z > 1 ? "splitKreduce_kernel<32, 16>" : "rms_norm")})
                text += R"(,{"ph":"X","cat":"kernel","name":")" + kernel + R"(","pid":0,"tid":7,"dur":5000,"ts":)" +
                        std::to_string(at += 10) + R"(,"args":{"device":0,"stream":7,"correlation":1,"grid":[)" +
                        std::to_string(p.x) + "," + std::to_string(p.y) + "," + std::to_string(p.z) +
                        R"(],"block":[128,1,1]}})";
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

// The order is that of every transformer, and the grids are small enough for CTAs that stay, which these kernels do not
// have.
TEST(NetworkMatch, a_network_of_the_same_order_and_other_sizes_is_refused) {
    TraceOptions options;
    options.network = {product("up", 512, 8192, 2048, 2), product("down", 512, 2048, 8192, 2),
                       product("head", 512, 64000, 2048, 1)};
    const auto run = to_run(graph_of(kKernels, 3), options);
    ASSERT_TRUE(run) << to_text(run.error());
    EXPECT_EQ(run->timeline->of(TimeClass::modelled).ns, 0u);
    EXPECT_THAT(run->notes.back().what, HasSubstr("not this network"));
}

TEST(NetworkMatch, a_split_product_and_the_sum_of_its_parts_have_their_layer) {
    TraceOptions options;
    options.network = {product("up", 197, 3072, 768, 1), product("down", 197, 768, 3072, 1)};
    // Both in one plane; "down" eight times over it. As 96 CTAs it could be six parts of 16 tiles, too.
    const auto run = to_run(graph_of({{128, 64, 24, 4}, {128, 128, 6, 2, 8}}, 2), options);
    ASSERT_TRUE(run) << to_text(run.error());
    EXPECT_THAT(run->notes.back().what, HasSubstr("4 of them have as many CTAs as their layer has tiles"));
    ASSERT_EQ(run->kernels.size(), 8u);
    const Kernel &down = run->kernels[2], &sum = run->kernels[3];
    EXPECT_EQ(down.op.str(), "down");
    EXPECT_EQ(sum.op.str(), "down");
    EXPECT_EQ(sum.time_class.str(), "modelled");
    EXPECT_DOUBLE_EQ(sum.bytes[Level::dram]->value.value(), 197.0 * 768 * (8 * 4 + 2));
    EXPECT_DOUBLE_EQ(flop(down)->value.value(), 2.0 * 197 * 768 * 3072);
    EXPECT_EQ(run->kernels[1].time_class.str(), "graph");
    options.network[1] = product("wider", 197, 1024, 4096, 1);
    options.network[0] = product("up", 197, 4096, 1024, 1);
    EXPECT_EQ(
        to_run(graph_of({{128, 64, 24, 4}, {128, 128, 6, 2, 8}}, 2), options)->timeline->of(TimeClass::modelled).ns,
        0u);
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
