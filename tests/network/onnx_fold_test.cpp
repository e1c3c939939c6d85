// Are attention and norms found where a graph spells them out, and left alone where something else needs their parts?
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gambrel/network.hpp>

#include "network/onnx_builder.hpp"

namespace gambrel {
namespace {

using test::Attributes;
using test::OnnxBuilder;

Network folded(const OnnxBuilder& builder, bool fused = true) {
    OnnxOptions options;
    options.fused = fused;
    auto network = read_onnx(builder.model(13), "m.onnx", options);
    EXPECT_TRUE(network) << (network ? "" : to_text(network.error()));
    return network ? *network : Network{};
}

Attributes list_of(const std::string& name, const test::Shape& list) {
    Attributes a;
    a.lists = {{name, list}};
    return a;
}
Attributes number_of(const std::string& name, std::int64_t number) {
    Attributes a;
    a.integers = {{name, number}};
    return a;
}

// Two sequences of 128, four heads of 64: as an exporter writes self-attention.
OnnxBuilder attention_graph(bool scores_are_an_output = false) {
    OnnxBuilder b;
    for (const char* name : {"q", "k", "v"}) b.input(name, {2, 128, 4, 64});
    b.input("mask", {2, 1, 1, 128});
    b.weight("scale", {1});
    b.node("Transpose", {"q"}, {"qt"}, list_of("perm", {0, 2, 1, 3}));
    b.node("Transpose", {"k"}, {"kt"}, list_of("perm", {0, 2, 3, 1}));
    b.node("Transpose", {"v"}, {"vt"}, list_of("perm", {0, 2, 1, 3}));
    b.node("MatMul", {"qt", "kt"}, {"scores"});
    b.node("Div", {"scores", "scale"}, {"scaled"});
    b.node("Add", {"scaled", "mask"}, {"masked"});
    b.node("Softmax", {"masked"}, {"p"}, number_of("axis", -1));
    b.node("MatMul", {"p", "vt"}, {"context"});
    b.node("Transpose", {"context"}, {"y"}, list_of("perm", {0, 2, 1, 3}));
    b.output("y");
    if (scores_are_an_output) b.output("p");
    return b;
}

TEST(OnnxFold, attention_with_its_scaling_mask_and_transpositions_is_one_layer) {
    const Network network = folded(attention_graph());
    ASSERT_EQ(network.layers.size(), 1U);
    const auto& a = std::get<Attention>(network.layers[0].op);
    EXPECT_EQ(a.batch, 2);
    EXPECT_EQ(a.heads, 4);
    EXPECT_EQ(a.kv_heads, 4);
    EXPECT_EQ(a.q_len, 128);
    EXPECT_EQ(a.kv_len, 128);
    EXPECT_EQ(a.head_dim, 64);
    EXPECT_EQ(a.head_dim_v, 64);
    EXPECT_FALSE(a.causal);
    ASSERT_EQ(network.notes.size(), 1U);
    EXPECT_THAT(network.notes[0].what, testing::HasSubstr("1 attention and 0 norm patterns"));
}

TEST(OnnxFold, attention_has_the_flop_of_the_products_that_it_replaces) {
    Flops apart;
    for (const Layer& layer : folded(attention_graph(), false).layers)
        if (std::holds_alternative<Gemm>(layer.op)) apart += flop(layer);
    EXPECT_EQ(flop(folded(attention_graph()).layers.at(0)), apart);
}

TEST(OnnxFold, probabilities_that_are_an_output_must_be_written_so_nothing_is_folded) {
    EXPECT_EQ(folded(attention_graph(true)).layers.size(), folded(attention_graph(true), false).layers.size());
    EXPECT_TRUE(folded(attention_graph(true)).notes.empty());
}

OnnxBuilder norm_graph(bool centred, bool kept = false) {
    OnnxBuilder b;
    b.input("x", {8, 256});
    b.weight("two", {1}).weight("epsilon", {1}).weight("scale", {256}).weight("shift", {256});
    if (centred) {
        b.node("ReduceMean", {"x"}, {"mean"}, list_of("axes", {-1}));
        b.node("Sub", {"x", "mean"}, {"c"});
    }
    const std::string c = centred ? "c" : "x";
    b.node("Pow", {c, "two"}, {"square"});
    b.node("ReduceMean", {"square"}, {"variance"}, list_of("axes", {-1}));
    b.node("Add", {"variance", "epsilon"}, {"safe"});
    b.node("Sqrt", {"safe"}, {"deviation"});
    b.node("Div", {c, "deviation"}, {"n"});
    b.node("Mul", {"n", "scale"}, {"scaled"});
    b.node("Add", {"scaled", "shift"}, {"y"});
    b.output("y");
    if (kept) b.output("square");
    return b;
}

TEST(OnnxFold, a_norm_that_is_spelled_out_is_one_layer) {
    for (const bool centred : {true, false}) {
        const Network network = folded(norm_graph(centred));
        ASSERT_EQ(network.layers.size(), 1U) << centred;
        const auto& s = std::get<Streaming>(network.layers[0].op);
        EXPECT_EQ(s.kind, centred ? StreamingKind::layer_norm : StreamingKind::rms_norm);
        EXPECT_EQ(s.read[0], 8 * 256);
        EXPECT_EQ(s.written, 8 * 256);
        EXPECT_EQ(s.parameters, 2 * 256);
        EXPECT_EQ(network.parameters, folded(norm_graph(centred), false).parameters);
    }
}

TEST(OnnxFold, a_norm_whose_square_is_an_output_stays_as_it_is) {
    EXPECT_EQ(folded(norm_graph(true, true)).layers.size(), folded(norm_graph(true, true), false).layers.size());
}

TEST(OnnxFold, a_norm_without_scale_and_with_casts_is_found) {
    OnnxBuilder b;
    b.input("h", {8, 256}, 10).weight("two", {1}).weight("epsilon", {1});
    b.node("Cast", {"h"}, {"x"}, number_of("to", 1));
    b.node("Mul", {"x", "x"}, {"square"});
    b.node("ReduceMean", {"square"}, {"variance"}, list_of("axes", {-1}));
    b.node("Add", {"variance", "epsilon"}, {"safe"});
    b.node("Sqrt", {"safe"}, {"deviation"});
    b.node("Reciprocal", {"deviation"}, {"inverse"});
    b.node("Mul", {"x", "inverse"}, {"y"});
    b.output("y");
    const Network network = folded(b);
    ASSERT_EQ(network.layers.size(), 1U);
    EXPECT_EQ(std::get<Streaming>(network.layers[0].op).kind, StreamingKind::rms_norm);
}

}  // namespace
}  // namespace gambrel
