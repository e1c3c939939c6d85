// Are FLOP, bytes and the GEMM view right on shapes that one can check in the head?
#include <gambrel/network.hpp>

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gambrel {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Layer conv(const Convolution& v, Pass pass = Pass::fwd) {
    Layer layer;
    layer.op = v;
    layer.pass = pass;
    return layer;
}

Convolution small() {
    Convolution v;
    v.n = 2, v.c = 4, v.h = 10, v.w = 8, v.k = 6, v.r = 3, v.s = 3;
    return v;
}

constexpr std::array kPasses = {Pass::fwd, Pass::dgrad, Pass::wgrad};

TEST(ConvolutionOutput, follows_the_floor_formula) {
    Convolution v = small();
    EXPECT_EQ(v.p(), 8);
    EXPECT_EQ(v.q(), 6);
    v.stride_h = 2, v.pad_bottom = 1;  // (10 + 1 - 3) / 2 + 1
    EXPECT_EQ(v.p(), 5);
    v.dilation_w = 3, v.pad_left = 1;  // (8 + 1 - 7) / 1 + 1
    EXPECT_EQ(v.q(), 3);
}

TEST(ConvolutionFlop, is_two_per_multiply_add_in_every_pass) {
    for (const Pass pass : kPasses) EXPECT_EQ(flop(conv(small(), pass)).value(), 2.0 * 2 * 6 * 8 * 6 * 4 * 3 * 3);
}

TEST(ConvolutionFlop, falls_by_the_number_of_groups) {
    Convolution v = small();
    v.groups = 2;
    EXPECT_EQ(flop(conv(v)) * 2.0, flop(conv(small())));
    EXPECT_EQ(compulsory_bytes(conv(v)).filter * 2.0, compulsory_bytes(conv(small())).filter);
}

TEST(ConvolutionBytes, are_each_operand_once_by_pass) {
    const double input = 4.0 * 2 * 4 * 10 * 8, filter = 4.0 * 6 * 4 * 9, output = 4.0 * 2 * 6 * 8 * 6;
    const auto fwd = compulsory_bytes(conv(small())), dgrad = compulsory_bytes(conv(small(), Pass::dgrad)),
               wgrad = compulsory_bytes(conv(small(), Pass::wgrad));
    EXPECT_EQ(fwd.read.value(), input + filter);
    EXPECT_EQ(fwd.written.value(), output);
    EXPECT_EQ(dgrad.read.value(), output + filter);
    EXPECT_EQ(dgrad.written.value(), input);
    EXPECT_EQ(wgrad.read.value(), input + output);
    EXPECT_EQ(wgrad.written.value(), filter);
}

// Rows of H100 with k of 32 to 64, which are all output, take the time of two bytes an output.
TEST(NarrowProducts, write_16_bits_in_every_pass_and_convolutions_what_they_read) {
    Layer layer;
    layer.op = Gemm{.m = 8, .n = 16, .k = 32};
    for (const Precision precision : {Precision::fp8, Precision::int8, Precision::fp4}) {
        layer.precision = precision;
        for (const auto& [pass, elements] :
             {std::pair{Pass::fwd, 8 * 16}, {Pass::dgrad, 8 * 32}, {Pass::wgrad, 16 * 32}}) {
            layer.pass = pass;
            EXPECT_EQ(compulsory_bytes(layer).written, Bytes{2.0 * elements}) << name(precision) << " " << name(pass);
        }
    }
    layer.precision = Precision::fp32, layer.pass = Pass::fwd;
    EXPECT_EQ(compulsory_bytes(layer).written, Bytes{4.0 * 8 * 16});
    Layer convolution = conv(small());
    convolution.precision = Precision::int8;
    EXPECT_EQ(compulsory_bytes(convolution).written * 4, compulsory_bytes(conv(small())).written);
}

TEST(ConvolutionBytes, leave_out_the_input_that_a_stride_skips) {
    Convolution v = small();
    v.r = v.s = 1, v.stride_h = v.stride_w = 2;
    EXPECT_EQ(compulsory_bytes(conv(v)).input.value(), 4.0 * 2 * 4 * 5 * 4);
    EXPECT_EQ(compulsory_bytes(conv(v, Pass::dgrad)).input.value(), 4.0 * 2 * 4 * 10 * 8) << "zeros are written too";
}

TEST(ConvolutionBytes, count_the_rows_that_any_tap_reads) {
    for (std::int64_t size : {1, 5, 12, 17}) {
        for (std::int64_t filter : {1, 2, 3, 5, 11}) {
            for (std::int64_t dilation : {1, 2, 3, 4, 6}) {
                for (std::int64_t stride : {1, 2, 3, 4, 7}) {
                    for (std::int64_t pad : {0, 1, 5, 30}) {
                        Convolution v;
                        v.h = size, v.r = filter, v.dilation_h = dilation, v.stride_h = stride;
                        v.pad_top = pad, v.pad_bottom = pad / 2;
                        std::set<std::int64_t> rows;
                        for (std::int64_t p = 0; p < v.p(); ++p)
                            for (std::int64_t r = 0; r < filter; ++r)
                                if (const auto h = p * stride + r * dilation - pad; h >= 0 && h < size) rows.insert(h);
                        ASSERT_EQ(v.rows_read(), static_cast<std::int64_t>(rows.size()))
                            << "size " << size << " filter " << filter << " dilation " << dilation << " stride "
                            << stride << " pad " << pad;
                    }
                }
            }
        }
    }
}

TEST(GemmViewOf, a_convolution_is_that_of_implicit_gemm) {
    Convolution v = small();
    v.groups = 2;
    EXPECT_EQ(gemm_view(v, Pass::fwd), (GemmView{2 * 8 * 6, 3, 2 * 9, 2}));
    EXPECT_EQ(gemm_view(v, Pass::dgrad), (GemmView{2 * 10 * 8, 2, 3 * 9, 2}));
    EXPECT_EQ(gemm_view(v, Pass::wgrad), (GemmView{3, 2 * 9, 2 * 8 * 6, 2}));
}

TEST(GemmViewOf, a_one_by_one_convolution_is_the_gemm) {
    Convolution v = small();
    v.r = v.s = 1;
    Gemm g;
    g.m = v.n * v.h * v.w, g.n = v.k, g.k = v.c;
    for (const Pass pass : kPasses) {
        EXPECT_EQ(gemm_view(v, pass), gemm_view(g, pass)) << name(pass);
        Layer gemm;
        gemm.op = g, gemm.pass = pass;
        EXPECT_EQ(flop(conv(v, pass)), flop(gemm));
        EXPECT_EQ(compulsory_bytes(conv(v, pass)).read, compulsory_bytes(gemm).read);
        EXPECT_EQ(compulsory_bytes(conv(v, pass)).written, compulsory_bytes(gemm).written);
    }
}

TEST(GemmBytes, count_a_shared_operand_once) {
    Layer layer;
    Gemm g;
    g.m = 3, g.n = 5, g.k = 7, g.batch = 4;
    layer.op = g;
    EXPECT_EQ(compulsory_bytes(layer).filter.value(), 4.0 * 5 * 7 * 4);
    EXPECT_EQ(gemm_view(g, Pass::fwd), (GemmView{3, 5, 7, 4}));
    g.b_shared = true;
    layer.op = g;
    EXPECT_EQ(compulsory_bytes(layer).filter.value(), 4.0 * 5 * 7);
    EXPECT_EQ(flop(layer).value(), 2.0 * 3 * 5 * 7 * 4);
    EXPECT_EQ(gemm_view(g, Pass::fwd), (GemmView{12, 5, 7, 1})) << "rows of one GEMM";
}

TEST(Bias, is_read_once_for_each_channel_that_is_written) {
    Layer layer = conv(small());
    const Bytes without = compulsory_bytes(layer).read;
    layer.bias = true;
    EXPECT_EQ(compulsory_bytes(layer).bias.value(), 4 * 6);
    EXPECT_EQ(compulsory_bytes(layer).read, without + Bytes{4 * 6});
    layer.pass = Pass::dgrad;  // a transposed convolution's forward
    EXPECT_EQ(compulsory_bytes(layer).bias.value(), 4 * 4);
    layer.op = Gemm{3, 5, 7, 4};
    layer.pass = Pass::fwd;
    EXPECT_EQ(compulsory_bytes(layer).bias.value(), 4 * 5);
    layer.precision = Precision::int8;
    EXPECT_EQ(compulsory_bytes(layer).bias.value(), 4 * 5) << "INT32";
    layer.precision = Precision::fp8;
    EXPECT_EQ(compulsory_bytes(layer).bias.value(), 2 * 5) << "BF16";
    EXPECT_THAT(faults(layer), IsEmpty());
    for (const Pass pass : {Pass::dgrad, Pass::wgrad}) {
        layer.pass = pass;
        EXPECT_THAT(faults(layer), Contains(HasSubstr("a bias in " + std::string(name(pass)))));
    }
    layer.pass = Pass::fwd;
    layer.op = Streaming{};
    EXPECT_THAT(faults(layer), Contains(HasSubstr("a bias in a streaming layer")));
}

TEST(Bias, belongs_to_the_forward_pass_of_training) {
    Network network;
    network.layers.push_back(conv(small()));
    network.layers[0].bias = true;
    const Network trained = training(network);
    ASSERT_THAT(trained.layers, SizeIs(3));
    EXPECT_TRUE(trained.layers[0].bias);
    EXPECT_FALSE(trained.layers[1].bias || trained.layers[2].bias);
    Layer other = network.layers[0];
    other.bias = false;
    EXPECT_THAT(merged(std::array{network.layers[0], other}), SizeIs(2));
}

TEST(StreamingLayer, reads_and_writes_each_tensor_once) {
    Layer add;
    add.op = Streaming{StreamingKind::elementwise, {100, 100}, 0, 100, 1};
    EXPECT_EQ(flop(add).value(), 100);
    EXPECT_EQ(compulsory_bytes(add).read.value(), 800);
    EXPECT_EQ(compulsory_bytes(add).written.value(), 400);
    add.precision = Precision::bf16;
    EXPECT_EQ(compulsory_bytes(add).read.value(), 400);
    Layer pool;
    pool.op = Streaming{StreamingKind::max_pool, {400}, 0, 100, 9};
    EXPECT_EQ(flop(pool).value(), 900);
    Layer relu;
    relu.op = Streaming{StreamingKind::activation, {100}, 0, 100, 1};
    relu.pass = Pass::dgrad;
    EXPECT_EQ(compulsory_bytes(relu).read.value(), 800) << "the gradient and what was saved";
    EXPECT_EQ(compulsory_bytes(relu).written.value(), 400);
}

TEST(Faults, are_reported_all_at_once) {
    EXPECT_THAT(faults(small()), IsEmpty());
    Convolution v = small();
    v.groups = 3, v.r = 11;
    EXPECT_THAT(faults(v), SizeIs(2));
    EXPECT_THAT(faults(v), Contains(HasSubstr("C 4 is not divisible by groups 3")));
    EXPECT_THAT(faults(v), Contains(HasSubstr("larger than the padded input 10")));
    v.groups = 4, v.r = 3;
    EXPECT_THAT(faults(v), testing::ElementsAre(HasSubstr("K 6 is not divisible by groups 4")));
    v.n = 0, v.stride_w = -1, v.pad_left = -2;
    EXPECT_THAT(faults(v), SizeIs(3));
    Gemm g;
    g.m = std::int64_t{1} << 30, g.n = g.m, g.k = 0;
    EXPECT_THAT(faults(g), SizeIs(2)) << "K, and C with 2^60 elements";
}

TEST(Merging, keeps_totals_and_the_order_of_first_appearance) {
    Network network;
    for (int i = 0; i < 5; ++i) {
        network.layers.push_back(conv(small()));
        network.layers.back().name = "c" + std::to_string(i);
        network.layers.push_back(conv(small(), i % 2 == 0 ? Pass::dgrad : Pass::wgrad));
    }
    Network once = network;
    once.layers = merged(network.layers);
    ASSERT_THAT(once.layers, SizeIs(3));
    EXPECT_EQ(once.layers[0].name, "c0");
    EXPECT_EQ(once.layers[0].repeat, 5);
    EXPECT_EQ(once.layers[1].repeat, 3);
    EXPECT_EQ(totals(once).flop, totals(network).flop);
    EXPECT_EQ(totals(once).bytes, totals(network).bytes);
}

TEST(Precision, has_its_size_in_memory_and_its_spellings) {
    EXPECT_EQ(element_size(Precision::tf32), Bytes{4});
    EXPECT_EQ(element_size(Precision::int8), Bytes{1});
    EXPECT_EQ(precision_from("FP16"), Precision::fp16);
    EXPECT_EQ(precision_from("fp16_mixed"), Precision::fp16);
    EXPECT_EQ(precision_from("fp17"), std::nullopt);
    EXPECT_EQ(pass_from("bwd_weights"), Pass::wgrad);
    EXPECT_EQ(layout_from("NHWC"), Layout::nhwc);
    for (const auto p : {Precision::fp64, Precision::fp8, Precision::bf16}) EXPECT_EQ(precision_from(name(p)), p);
}

// cuDNN runs groups one after the other by most algorithms; which one is not the model's choice.
TEST(FastestAlgorithms, are_left_to_the_model_only_where_nothing_is_said_and_there_is_one_group) {
    std::vector<Layer> layers(4, Layer{"x", Convolution{.c = 8, .k = 8}});
    std::get<Convolution>(layers[1].op).groups = 2;
    layers[2].hints.algorithm = "GEMM";
    layers[3].op = Gemm{};
    take_fastest_algorithms(layers);
    EXPECT_EQ(layers[0].hints.algorithm, kFastestAlgorithm);
    EXPECT_EQ(layers[1].hints.algorithm, "");
    EXPECT_EQ(layers[2].hints.algorithm, "GEMM");
    EXPECT_EQ(layers[3].hints.algorithm, "");
}

}  // namespace
}  // namespace gambrel
