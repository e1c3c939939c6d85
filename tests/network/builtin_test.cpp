// Are the built-in networks those that were published?
#include <gambrel/network.hpp>

#include <map>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gambrel {
namespace {

Network built(std::string_view name, std::int64_t batch = 1, std::int64_t sequence = 128) {
    auto network = builtin_network(name, {batch, sequence});
    EXPECT_TRUE(network) << (network ? "" : to_text(network.error()));
    return network ? *network : Network{};
}

struct Published {
    const char* name;
    double macs, parameters;  // multiply-adds of convolutions and GEMMs at batch 1
    const char* source;
};

class BuiltinNetworks : public testing::TestWithParam<Published> {};

TEST_P(BuiltinNetworks, has_the_published_work_and_parameters) {
    const Published& paper = GetParam();
    const Network network = built(paper.name);
    const double macs = totals(network).matrix_flop.value() / 2;
    RecordProperty("macs", fmt::format("{}", macs));
    EXPECT_NEAR(macs / paper.macs, 1, 0.03) << paper.source << ": " << macs << " MAC";
    EXPECT_NEAR(network.parameters / paper.parameters, 1, 0.005) << paper.source << ": " << network.parameters;
}

INSTANTIATE_TEST_SUITE_P(Published, BuiltinNetworks,
                         testing::Values(Published{"alexnet", 0.714e9, 61.10e6, "torchvision"},
                                         Published{"alexnet-grouped", 0.724e9, 60.97e6, "Caffe model zoo"},
                                         Published{"vgg16", 15.47e9, 138.36e6, "torchvision"},
                                         Published{"googlenet", 1.58e9, 6.998e6, "Caffe model zoo"},
                                         Published{"resnet50", 3.86e9, 25.56e6, "arXiv 1512.03385, Caffe"},
                                         Published{"resnet50-v1.5", 4.09e9, 25.56e6, "torchvision"},
                                         Published{"resnet152", 11.3e9, 60.19e6, "arXiv 1512.03385"},
                                         Published{"mobilenet-v2", 0.300e9, 3.50e6, "arXiv 1801.04381"},
                                         Published{"bert-base", 11.2e9, 109.48e6, "Hugging Face bert-base-uncased"}),
                         [](const auto& network) {
                             std::string name = network.param.name;
                             std::erase_if(name, [](char c) { return c == '-' || c == '.'; });
                             return name;
                         });

TEST(BuiltinNetwork, every_layer_of_every_network_is_sound_and_moves_bytes) {
    for (const BuiltinNetwork& entry : builtin_networks()) {
        const Network once = built(entry.name);
        EXPECT_FALSE(once.note.empty()) << entry.name;
        EXPECT_FALSE(once.inputs.empty()) << entry.name;
        for (const Network& network : {once, training(once)}) {
            std::set<std::pair<std::string, Pass>> names;
            for (const Layer& layer : network.layers) {
                EXPECT_THAT(faults(layer), testing::IsEmpty()) << entry.name << ": " << layer.name;
                EXPECT_GT(compulsory_bytes(layer).read.value(), 0) << layer.name;
                EXPECT_GT(compulsory_bytes(layer).written.value(), 0) << layer.name;
                EXPECT_TRUE(names.insert({layer.name, layer.pass}).second) << "twice: " << layer.name;
                EXPECT_TRUE(std::holds_alternative<Streaming>(layer.op) || flop(layer).value() > 0) << layer.name;
            }
        }
    }
}

TEST(BuiltinNetwork, the_batch_scales_the_work_and_not_the_parameters) {
    for (const BuiltinNetwork& entry : builtin_networks()) {
        const Network one = built(entry.name), eight = built(entry.name, 8);
        EXPECT_DOUBLE_EQ(totals(eight).flop.value(), 8 * totals(one).flop.value()) << entry.name;
        EXPECT_DOUBLE_EQ(totals(eight).matrix_flop.value(), 8 * totals(one).matrix_flop.value()) << entry.name;
        EXPECT_EQ(eight.parameters, one.parameters) << entry.name;
        EXPECT_LT(totals(eight).bytes.value(), 8 * totals(one).bytes.value())
            << "filters are read once: " << entry.name;
    }
}

TEST(BuiltinNetwork, training_is_three_times_the_matrix_work_but_for_the_first_layer) {
    const Network network = built("resnet50", 4);
    const double forward = totals(network).matrix_flop.value(), first = flop(network.layers.front()).value();
    EXPECT_DOUBLE_EQ(totals(training(network)).matrix_flop.value(), 3 * forward - first);
    const Network attention = built("bert-base");
    EXPECT_DOUBLE_EQ(totals(training(attention)).matrix_flop.value(), 3 * totals(attention).matrix_flop.value());
}

TEST(BuiltinNetwork, unet_has_the_tensors_of_the_papers_figure) {
    const Network network = built("unet");
    EXPECT_NEAR(network.parameters, 31.03e6, 0.01e6);  // 31,030,658 with one input channel and two classes
    const auto find = [&](std::string_view name) {
        for (const Layer& layer : network.layers)
            if (layer.name == name) return std::get<Convolution>(layer.op);
        ADD_FAILURE() << "no layer " << name;
        return Convolution{};
    };
    EXPECT_EQ(find("down1.conv2").p(), 568);
    EXPECT_EQ(find("bottom.conv2").p(), 28);
    EXPECT_EQ(find("up4.upconv").h, 56);
    EXPECT_EQ(find("up1.conv1").c, 128);
    EXPECT_EQ(find("classes").p(), 388);
}

TEST(BuiltinNetwork, an_unknown_name_is_answered_with_the_nearest) {
    const auto network = builtin_network("resnet5O");
    ASSERT_FALSE(network);
    EXPECT_THAT(to_text(network.error()), testing::HasSubstr("did you mean \"resnet50\""));
    const auto both = builtin_network("vgg", {0, 0});
    ASSERT_FALSE(both);
    EXPECT_EQ(both.error().size(), 3u) << to_text(both.error());
}

using Shape = std::array<std::int64_t, 9>;

TEST(BuiltinNetwork, deepcam_has_every_convolution_that_was_measured) {
    const std::string path = std::string(GAMBREL_SHARED_DATA) + "/measured/conv_traffic_v100_deepcam.csv";
    const auto table = load_layer_table(path);
    if (!table) GTEST_SKIP() << "shared data not found at " << path;
    const auto shape = [](const Convolution& v) {
        return Shape{v.n, v.c, v.h, v.w, v.k, v.r, v.pad_top, v.stride_h, v.dilation_h};
    };
    std::set<std::pair<Shape, Pass>> ours;
    for (const Layer& layer : training(built("deeplabv3plus-xception", 2)).layers)
        if (const auto* v = std::get_if<Convolution>(&layer.op)) ours.insert({shape(*v), layer.pass});
    int compared = 0;
    for (const LayerRow& row : table->rows) {
        for (const Layer& layer : row.layers) {
            const auto& v = std::get<Convolution>(layer.op);
            if (layer.hints.algorithm.find("DEPTHWISE") != std::string::npos) continue;  // no groups in the table
            EXPECT_TRUE(ours.contains({shape(v), layer.pass}))
                << "line " << row.line << ": " << layer.name << " " << name(layer.pass);
            ++compared;
        }
    }
    EXPECT_EQ(compared, 134);
}

}  // namespace
}  // namespace gambrel
