// Which of cuDNN's older engines runs a convolution of which only the algorithm is known.
#include <gtest/gtest.h>
#include <gambrel/mapping.hpp>

#include "mapping/sample.hpp"

namespace gambrel {
namespace {

using namespace test;

constexpr const char* kVolta = "v100-sxm2-16gb";

TEST(Engines, run_the_algorithm_without_precomputed_offsets) {
    Layer layer = convolution_layer();
    layer.hints.algorithm = "IMPLICIT_GEMM";
    const Mapping engine = mapping_for(layer, machine(kVolta));
    EXPECT_EQ(engine.stages, 1);
    EXPECT_FALSE(engine.a.through_l1);
    EXPECT_EQ(engine.launches, 1);
    layer.hints.algorithm = "IMPLICIT_PRECOMP_GEMM";
    const Mapping precomputed = mapping_for(layer, machine(kVolta));
    EXPECT_EQ(precomputed.stages, 2);
    EXPECT_EQ(precomputed.launches, 2);
}

// GEMM on K80 takes as long with 1, 16 and 32 filters as with 64; elsewhere the narrow engine is the implicit one's.
TEST(Engines, of_an_explicit_matrix_are_64_wide_on_k80) {
    const auto tile = [](const char* gpu, std::int64_t filters) {
        Layer layer = layer_of(square(32, 64, 56, filters, 1));
        layer.hints.algorithm = "GEMM";
        return mapping_for(layer, machine(gpu)).cta;
    };
    EXPECT_EQ(tile("k80", 16), (Tile{64, 64, 8}));
    EXPECT_EQ(tile("k80", 64), (Tile{64, 64, 8}));
    EXPECT_EQ(tile("k80", 65), (Tile{64, 128, 8}));
    EXPECT_EQ(tile("grid-k520", 16), (Tile{32, 32, 8}));
}

// DeepCAM names dgrad_engine<float, 128, 6, 7, ...>. In DeepBench 32 channels take as long as 128 would.
TEST(Engines, compute_gradients_of_strided_layers_by_tiles_of_128_channels) {
    const auto mapping = [](const char* gpu, const Convolution& v, Pass pass) {
        return mapping_for(layer_of(v, pass), machine(gpu));
    };
    const Mapping strided = mapping(kVolta, square(16, 32, 56, 64, 1, 0, 2), Pass::dgrad);
    EXPECT_TRUE(strided.engine);
    EXPECT_EQ(strided.cta, (Tile{64, 128, 8}));
    EXPECT_FALSE(mapping(kVolta, square(16, 32, 56, 64, 1), Pass::dgrad).engine);
    EXPECT_FALSE(mapping(kVolta, square(16, 32, 56, 64, 1, 0, 2), Pass::fwd).engine);
    EXPECT_FALSE(mapping(kVolta, square(16, 3, 56, 64, 1, 0, 2), Pass::dgrad).engine);
    EXPECT_FALSE(mapping("a100-sxm4-80gb", square(16, 32, 56, 64, 1, 0, 2), Pass::dgrad).engine);
}

// conv_time_cudnn_fp16tc: CTAs of 256 filters, as many as 40 on T4, take the time of one (Engines of delta have more).
TEST(Engines, have_wide_tiles_for_fp16_tensors) {
    const auto mapped = [](const char* gpu, std::int64_t filters, Precision precision, Layout layout) {
        Layer layer = layer_of(square(256, 64, 56, filters, 1), Pass::fwd, precision);
        layer.hints.algorithm = "IMPLICIT_GEMM";
        layer.layout = layout;
        return mapping_for(layer, machine(gpu));
    };
    for (const char* gpu : {"t4", kVolta}) {
        const auto tile = [&](std::int64_t filters) { return mapped(gpu, filters, Precision::fp16, Layout::nhwc).cta; };
        EXPECT_EQ(tile(64), (Tile{32, 32, 8}));
        EXPECT_EQ(tile(128), (Tile{64, 128, 8}));
        EXPECT_EQ(tile(256), (Tile{64, 256, 8}));
        const Mapping half = mapped(gpu, 64, Precision::fp16, Layout::nchw);
        EXPECT_EQ(half.cta, (Tile{64, 128, 32}));
        EXPECT_EQ(half.pipe, Pipe::fp16);
        EXPECT_EQ(mapped(gpu, 256, Precision::fp32, Layout::nchw).cta, (Tile{64, 128, 8}));
    }
}

// Most rows of conv_time_cudnn_fp16tc, which has no column for it, are of NHWC tensors.
TEST(Engines, take_fp16_tensors_of_any_layout_for_nhwc) {
    Layer layer = layer_of(square(256, 64, 56, 256, 1), Pass::fwd, Precision::fp16);
    layer.hints.algorithm = "IMPLICIT_GEMM";
    layer.hints.any_layout = true;
    EXPECT_EQ(mapping_for(layer, machine("t4")).layout, Layout::nhwc);
    EXPECT_TRUE(mapping_for(layer, machine("t4")).pixels_apart());
    EXPECT_EQ(mapping_for(layer, machine("p100-pcie-16gb")).layout, Layout::nchw);
    layer.precision = Precision::fp32;
    EXPECT_EQ(mapping_for(layer, machine("t4")).layout, Layout::nchw);
}

// conv_time_cudnn_fp32, cuDNN 7.6.3: of 787 shapes on GRID K520 and 674 on K80 all but two take as long by one
// algorithm as by the other; so do all dilated ones on V100, TITAN V, T4 and M60.
TEST(Engines, run_both_implicit_algorithms_where_cudnn_has_no_offsets) {
    Layer layer = layer_of(square(8, 256, 28, 256, 3, 1));
    const auto both = [&](const char* gpu) {
        layer.hints.algorithm = "IMPLICIT_GEMM";
        const Mapping plain = mapping_for(layer, machine(gpu));
        layer.hints.algorithm = "IMPLICIT_PRECOMP_GEMM";
        const Mapping precomputed = mapping_for(layer, machine(gpu));
        return plain.cta == precomputed.cta && precomputed.engine && precomputed.launches == 1 &&
               !precomputed.computes_offsets;
    };
    for (const char* gpu : {"grid-k520", "k80"}) EXPECT_TRUE(both(gpu)) << gpu;
    for (const char* gpu : {"m60", kVolta, "t4", "a100-sxm4-80gb"}) EXPECT_FALSE(both(gpu)) << gpu;
    Convolution dilated = square(8, 256, 28, 256, 3, 2);
    dilated.dilation_h = dilated.dilation_w = 2;
    layer.op = dilated;
    for (const char* gpu : {"grid-k520", "k80", "m60", kVolta, "t4"}) EXPECT_TRUE(both(gpu)) << gpu;
}

// Of groups, too: 24 of 27 shapes take the same time by both algorithms on Kepler, 4 of 27 elsewhere. 960 groups of one
// channel take 10.5 us each on K80 and 12.0 on GRID K520, two launches.
TEST(Engines, run_groups_in_turn_by_both_implicit_algorithms_on_kepler) {
    Convolution v = square(8, 960, 7, 960, 3, 1);
    v.groups = 960;
    Layer layer = layer_of(v);
    layer.hints.algorithm = "IMPLICIT_PRECOMP_GEMM";
    for (const char* gpu : {"grid-k520", "k80", "m60", kVolta}) {
        const Mapping m = mapping_for(layer, machine(gpu));
        EXPECT_EQ(m.engine, gpu == std::string("grid-k520") || gpu == std::string("k80")) << gpu;
        EXPECT_EQ(m.launches, 2) << gpu;
    }
}

// A group of one filter has the tile of 64: 128 pixels take M60 1,820 cycles of an SM, and V100, TITAN V and T4 2,080
// to 2,180, of which 2,048 are 16 x 128 x 64 multiplications.
TEST(Engines, leave_groups_of_few_filters_to_tiles_of_64) {
    Convolution v = square(32, 32, 112, 32, 3, 1);
    v.groups = 32;
    Layer layer = layer_of(v);
    layer.hints.algorithm = "IMPLICIT_PRECOMP_GEMM";
    for (const char* gpu : {"m60", kVolta, "t4"}) EXPECT_EQ(mapping_for(layer, machine(gpu)).cta.n, 64) << gpu;
    v.groups = 1;
    layer.op = v;
    EXPECT_EQ(mapping_for(layer, machine("m60")).cta.n, 32);
}

// M60: an element of k takes 144, 191, 223 and 322 cycles with 4, 8, 13 and 26 CTAs of 64 x 128, which would be alone
// on their SMs up to 16. GRID K520: 203 to 210 cycles with one to eight of them.
TEST(Engines, fill_the_sms_from_maxwell_on) {
    const auto tile = [](const char* gpu, std::int64_t images) {
        Layer layer = layer_of(square(images, 512, 14, 128, 1));
        layer.hints.algorithm = "IMPLICIT_GEMM";
        return mapping_for(layer, machine(gpu)).cta;
    };
    EXPECT_EQ(tile("m60", 10), (Tile{32, 32, 8}));  // 31 CTAs of 64 x 128 for 16 SMs
    EXPECT_EQ(tile("m60", 11), (Tile{64, 128, 8}));
    EXPECT_EQ(tile("grid-k520", 1), (Tile{64, 128, 8}));
}

TEST(Engines, leave_large_batches_with_precomputed_offsets_to_tiles_on_ampere) {
    Layer layer = layer_of(square(64, 256, 28, 256, 1));
    layer.hints.algorithm = "IMPLICIT_PRECOMP_GEMM";
    const Mapping large = mapping_for(layer, machine("a100-sxm4-80gb"));
    EXPECT_FALSE(large.engine);
    EXPECT_EQ(large.cta, (Tile{128, 64, 8}));
    layer.op = square(16, 256, 56, 256, 1);  // as many CTAs, fewer images
    EXPECT_TRUE(mapping_for(layer, machine("a100-sxm4-80gb")).engine);
}

}  // namespace
}  // namespace gambrel
