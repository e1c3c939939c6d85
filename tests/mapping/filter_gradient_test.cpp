// Into how many parts cuDNN 7 splits a filter gradient on Tensor Cores. Every part writes its sums and a later one
// reads them, so L1 bytes of V100 (conv_traffic_v100_deepcam) give the number exactly.
#include <gtest/gtest.h>
#include <gambrel/mapping.hpp>

#include "mapping/sample.hpp"

namespace gambrel {
namespace {

using namespace test;

std::int32_t parts(std::int64_t c, std::int64_t k, std::int64_t h, std::int64_t w, std::int64_t filter, Tile tile) {
    Convolution v = square(2, c, h, k, filter, filter / 2);
    v.w = w;
    Layer layer = layer_of(v, Pass::wgrad, Precision::fp16);
    layer.hints.kernel = "Volta_hmma_implicit_gemm_wgrad_fp32_nhwc_128x128x64x1_1x1x1x0x1";
    layer.hints.tile_m = tile.m, layer.hints.tile_n = tile.n;
    return mapping_for(layer, machine("v100-sxm2-16gb")).split_k;
}

TEST(FilterGradient, of_a_short_reduction_has_two_parts_however_few_tiles_it_has) {
    constexpr Tile kTile{128, 128, 0};
    EXPECT_EQ(parts(256, 728, 96, 144, 1, kTile), 2);   // 12 tiles, 27,648 pixels
    EXPECT_EQ(parts(1280, 256, 48, 72, 1, kTile), 2);   // 20 tiles
    EXPECT_EQ(parts(1536, 1536, 48, 72, 1, kTile), 2);  // 144 tiles
}

TEST(FilterGradient, of_a_long_reduction_is_split_into_about_64_ctas) {
    EXPECT_EQ(parts(128, 256, 192, 288, 1, {128, 128, 0}), 32);
    EXPECT_EQ(parts(256, 256, 192, 288, 1, {128, 128, 0}), 16);
    EXPECT_EQ(parts(256, 256, 192, 288, 3, {128, 256, 0}), 4);  // 18 tiles: 72 CTAs and not 36
    EXPECT_EQ(parts(128, 128, 192, 288, 1, {64, 32, 0}), 64);   // smaller tiles count by their area
}

}  // namespace
}  // namespace gambrel
