// Are shapes inferred as ONNX defines them, and is nothing lost that has no layer?
#include <gambrel/network.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "network/onnx_builder.hpp"

namespace gambrel {
namespace {

using test::OnnxBuilder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Network read(const OnnxBuilder& builder, const OnnxOptions& options = {}, std::int64_t opset = 13) {
    auto network = read_onnx(builder.model(opset), "m.onnx", options);
    EXPECT_TRUE(network) << (network ? "" : to_text(network.error()));
    return network ? *network : Network{};
}
const Convolution& convolution(const Network& network, std::size_t i = 0) {
    return std::get<Convolution>(network.layers.at(i).op);
}
const Gemm& gemm(const Network& network, std::size_t i = 0) { return std::get<Gemm>(network.layers.at(i).op); }

TEST(OnnxConvolution, has_groups_dilations_strides_and_unequal_pads) {
    OnnxBuilder b;
    b.input("x", {2, 8, 20, 30}).weight("w", {16, 4, 3, 5}).weight("bias", {16}).output("y");
    b.node("Conv", {"x", "w", "bias"}, {"y"},
           {{{"group", 2}}, {{"pads", {1, 2, 3, 4}}, {"strides", {2, 1}}, {"dilations", {1, 2}}}, {}});
    const Network network = read(b);
    ASSERT_THAT(network.layers, SizeIs(1));
    const Convolution& v = convolution(network);
    EXPECT_EQ(v.groups, 2);
    EXPECT_THAT((std::array{v.pad_top, v.pad_left, v.pad_bottom, v.pad_right}), ElementsAre(1, 2, 3, 4));
    EXPECT_EQ(v.p(), (20 + 4 - 3) / 2 + 1);
    EXPECT_EQ(v.q(), 30 + 6 - 9 + 1);
    EXPECT_THAT(network.outputs.at(0).dims, ElementsAre(2, 16, v.p(), v.q()));
    EXPECT_EQ(network.parameters, 16 * 4 * 15 + 16);
    EXPECT_TRUE(network.layers[0].bias);
    EXPECT_FALSE(network.layers[0].input_is_trained) << "it reads the network's input";
}

TEST(OnnxConvolution, pads_itself_as_auto_pad_says) {
    for (const auto& [mode, top] : {std::pair{"SAME_UPPER", 0}, {"SAME_LOWER", 1}}) {
        OnnxBuilder b;
        b.input("x", {1, 3, 224, 224}).weight("w", {8, 3, 3, 3}).output("y");
        b.node("Conv", {"x", "w"}, {"y"}, {{}, {{"strides", {2, 2}}}, {{"auto_pad", mode}}});
        const Convolution v = convolution(read(b));
        EXPECT_EQ(v.pad_top, top) << mode;
        EXPECT_EQ(v.pad_bottom, 1 - top) << mode;
        EXPECT_EQ(v.p(), 112);
    }
}

TEST(OnnxConvolution, transposed_is_the_gradient_of_the_one_that_maps_back) {
    OnnxBuilder b;
    b.input("x", {1, 64, 10, 10}).weight("w", {64, 32, 3, 3}).output("y");
    b.node("ConvTranspose", {"x", "w"}, {"y"},
           {{}, {{"strides", {2, 2}}, {"pads", {1, 1, 1, 1}}, {"output_padding", {1, 1}}}, {}});
    const Network network = read(b);
    EXPECT_THAT(network.outputs.at(0).dims, ElementsAre(1, 32, 20, 20));
    EXPECT_EQ(network.layers.at(0).pass, Pass::dgrad);
    EXPECT_EQ(convolution(network).p(), 10);
    EXPECT_EQ(flop(network.layers[0]).value(), 2.0 * 64 * 32 * 9 * 100);
    EXPECT_EQ(training(network).layers.back().pass, Pass::wgrad);
}

TEST(OnnxPooling, rounds_up_but_starts_no_window_in_the_padding_behind) {
    const auto pooled = [](std::int64_t size, std::int64_t filter, std::int64_t ceil) {
        OnnxBuilder b;
        b.input("x", {1, 2, size, size}).output("y");
        b.node("MaxPool", {"x"}, {"y"},
               {{{"ceil_mode", ceil}},
                {{"kernel_shape", {filter, filter}}, {"strides", {2, 2}}, {"pads", {1, 1, 1, 1}}},
                {}});
        return read(b).outputs.at(0).dims.back();
    };
    EXPECT_EQ(pooled(6, 3, 0), 3);
    EXPECT_EQ(pooled(6, 3, 1), 4);
    EXPECT_EQ(pooled(5, 2, 0), 3);
    EXPECT_EQ(pooled(5, 2, 1), 3) << "(5 + 2 - 2) / 2 rounds up to 4, but the last would begin at 6";
}

TEST(OnnxGemm, has_a_bias_where_it_adds_a_row_and_not_where_it_adds_a_matrix) {
    for (const auto& [dims, bias] : {std::pair{std::vector<std::int64_t>{5}, true}, {{1, 5}, true}, {{3, 5}, false}}) {
        OnnxBuilder b;
        b.input("x", {3, 7}).weight("w", {7, 5}).weight("c", dims).output("y");
        b.node("Gemm", {"x", "w", "c"}, {"y"});
        EXPECT_EQ(read(b).layers.at(0).bias, bias);
    }
    OnnxBuilder b;
    b.input("x", {3, 7}).weight("w", {7, 5}).output("y");
    b.node("Gemm", {"x", "w"}, {"y"});
    EXPECT_FALSE(read(b).layers.at(0).bias);
}

TEST(OnnxMatMul, broadcasts_its_batch_and_folds_a_shared_filter_into_rows) {
    OnnxBuilder b;
    b.input("q", {2, 12, 128, 64}).input("k", {2, 1, 64, 128}).weight("w", {128, 10}).output("y");
    b.node("MatMul", {"q", "k"}, {"s"}).node("MatMul", {"s", "w"}, {"y"});
    const Network network = read(b);
    EXPECT_EQ(gemm(network), (Gemm{128, 128, 64, 24}));
    EXPECT_FALSE(network.layers[0].has_filter);
    EXPECT_EQ(gemm(network, 1), (Gemm{2 * 12 * 128, 10, 128, 1}));
    EXPECT_TRUE(network.layers[1].has_filter);
}

TEST(OnnxShapes, are_folded_through_shape_gather_concat_and_reshape) {
    OnnxBuilder b;
    b.input("x", {-1, 6, 4, 4}).integers("zero", {0}).integers("rest", {-1}).output("y");
    b.node("Shape", {"x"}, {"s"})
        .node("Gather", {"s", "zero"}, {"n"})
        .node("Concat", {"n", "rest"}, {"t"}, {{{"axis", 0}}, {}, {}});
    b.node("Reshape", {"x", "t"}, {"r"}).weight("w", {96, 10}).node("Gemm", {"r", "w"}, {"y"});
    const Network network = read(b, {5, {}});
    EXPECT_THAT(network.layers, SizeIs(1)) << "what is known before it runs is no layer";
    EXPECT_EQ(gemm(network), (Gemm{5, 10, 96}));
    EXPECT_THAT(network.unmodelled, IsEmpty());
}

TEST(OnnxShapes, a_batch_asked_for_passes_a_reshape_that_has_the_old_one) {
    OnnxBuilder b;
    b.input("x", {1, 6, 4, 4}).integers("flat", {1, 96}).weight("w", {96, 10}).output("y");
    b.node("Reshape", {"x", "flat"}, {"r"}).node("Gemm", {"r", "w"}, {"y"});
    EXPECT_EQ(gemm(read(b, {32, {}})), (Gemm{32, 10, 96}));
}

TEST(OnnxInputs, take_shapes_by_name_and_say_what_is_missing) {
    OnnxBuilder b;
    b.input("ids", {-1, -1}, 7).input("other", {4, -1, -1}).output("y").weight("w", {100, 8});
    b.node("Gather", {"w", "ids"}, {"y"});
    const auto open = read_onnx(b.model(), "m.onnx");
    ASSERT_FALSE(open);
    EXPECT_THAT(open.error(), SizeIs(3)) << to_text(open.error());
    const auto wrong = read_onnx(b.model(), "m.onnx", {{}, {{"idx", {2, 3}}}});
    ASSERT_FALSE(wrong);
    EXPECT_THAT(to_text(wrong.error()), HasSubstr("did you mean \"ids\""));
    // d1 is the same symbol in both.
    const Network network = read(b, {{}, {{"ids", {2, 3}}, {"other", {4, 3, 9}}}});
    EXPECT_THAT(network.outputs.at(0).dims, ElementsAre(2, 3, 8));
    EXPECT_EQ(network.parameters, 800);
    EXPECT_EQ(shape_from("a:b:1x3x224x224")->name, "a:b");
    EXPECT_THAT(shape_from("data:1x3")->dims, ElementsAre(1, 3));
    for (const char* bad : {"data", "data:", ":1x2", "data:1x", "data:1x-3", "data:0x3", "data:1,3"})
        EXPECT_FALSE(shape_from(bad)) << bad;
}

TEST(OnnxUnmodelled, is_listed_with_its_bytes_and_its_followers_with_the_reason) {
    OnnxBuilder b;
    b.input("x", {1, 10}).output("y");
    b.node("Relu", {"x"}, {"a"}).node("Mystery", {"a"}, {"b"}, {}, "com.acme").node("Relu", {"b"}, {"y"});
    const Network network = read(b);
    EXPECT_THAT(network.layers, SizeIs(1));
    ASSERT_THAT(network.unmodelled, SizeIs(2));
    EXPECT_EQ(network.unmodelled[0].op, "com.acme.Mystery");
    EXPECT_EQ(network.unmodelled[0].bytes, Bytes{40});
    EXPECT_EQ(network.unmodelled[0].unknown_shapes, 1);
    EXPECT_THAT(network.unmodelled[1].reason, HasSubstr("shape of its input is unknown"));
    EXPECT_GT(unmodelled_share(network), 0.3);
}

TEST(OnnxUnmodelled, the_files_own_shapes_let_the_rest_go_on) {
    OnnxBuilder b;
    b.input("x", {1, 10}).value_info("b", {1, 7}).weight("w", {7, 3}).output("y");
    b.node("Mystery", {"x"}, {"b"}).node("MatMul", {"b", "w"}, {"y"});
    const Network network = read(b);
    EXPECT_EQ(gemm(network), (Gemm{1, 3, 7}));
    EXPECT_EQ(network.unmodelled.at(0).bytes, Bytes{68});
}

TEST(OnnxPrecision, is_that_of_the_tensors_or_as_asked_and_indices_stay_bytes) {
    OnnxBuilder b;
    b.input("x", {4, 4}, 10)
        .input("i", {4, 4}, 7)
        .output("y")
        .node("Relu", {"x"}, {"y"})
        .node("Add", {"i", "i"}, {"j"});
    const Network file = read(b), wider = read(b, {{}, {}, Precision::fp64});
    EXPECT_EQ(compulsory_bytes(file.layers.at(0)).read, Bytes{32});
    EXPECT_EQ(compulsory_bytes(wider.layers.at(0)).read, Bytes{128});
    for (const Network& network : {file, wider}) {
        EXPECT_EQ(compulsory_bytes(network.layers.at(1)).written, Bytes{128});
        EXPECT_EQ(flop(network.layers.at(1)), Flops{0}) << "integer work is no FLOP";
    }
}

TEST(OnnxWeights, are_skipped_and_may_be_elsewhere) {
    OnnxBuilder b;
    b.input("x", {1, 4096}).weight("w", {4096, 4096}, 1000).output("y").node("MatMul", {"x", "w"}, {"y"});
    EXPECT_EQ(gemm(read(b)), (Gemm{1, 4096, 4096})) << "fewer bytes than the dimensions say are no matter";
}

TEST(OnnxHostile, neither_crashes_nor_takes_memory) {
    EXPECT_FALSE(read_onnx("", "m.onnx"));
    EXPECT_FALSE(read_onnx("not a model at all", "m.onnx"));
    OnnxBuilder good;
    good.input("x", {1, 8, 8, 8}).weight("w", {8, 8, 3, 3}).output("y").node("Conv", {"x", "w"}, {"y"});
    const std::string bytes = good.model();
    for (std::size_t cut = 0; cut < bytes.size(); ++cut)
        (void)read_onnx(std::string_view(bytes).substr(0, cut), "m.onnx");

    OnnxBuilder huge;
    huge.input("x", {1, 1}).integers("big", {1 << 30, 1 << 30, 1 << 30}).integers("neg", {-5, 3}).output("y");
    huge.weight("w", {std::int64_t{1} << 62, std::int64_t{1} << 62});
    huge.node("ConstantOfShape", {"big"}, {"a"})
        .node("Expand", {"x", "big"}, {"b"})
        .node("Expand", {"x", "neg"}, {"c"});
    huge.node("Gemm", {"x", "w"}, {"d"}).node("Relu", {"x"}, {"x"}).node("Relu", {"nobody"}, {"e"});
    const Network network = read(huge);
    EXPECT_THAT(network.layers, IsEmpty());
    EXPECT_THAT(network.unmodelled, SizeIs(6));
}

}  // namespace
}  // namespace gambrel
