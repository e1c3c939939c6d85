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

// conv_time_cudnn_fp16tc, T4: 64 filters take 16.0 ms where a quarter of the pixels by 256 filters takes 6.0.
TEST(Engines, have_wide_tiles_for_fp16_tensors) {
    const auto tile = [](const char* gpu, std::int64_t channels, std::int64_t filters, Precision precision) {
        Layer layer = layer_of(square(256, channels, 56, filters, 1), Pass::fwd, precision);
        layer.hints.algorithm = "IMPLICIT_GEMM";
        return mapping_for(layer, machine(gpu)).cta;
    };
    EXPECT_EQ(tile("t4", 64, 64, Precision::fp16), (Tile{64, 256, 8}));
    EXPECT_EQ(tile(kVolta, 64, 64, Precision::fp16), (Tile{64, 128, 8}));
    EXPECT_EQ(tile(kVolta, 64, 256, Precision::fp16), (Tile{64, 256, 8}));
    EXPECT_EQ(tile(kVolta, 8, 64, Precision::fp16), (Tile{32, 32, 8}));
    EXPECT_EQ(tile("t4", 64, 64, Precision::fp32), (Tile{32, 32, 8}));
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
