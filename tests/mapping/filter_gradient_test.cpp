// Into how many parts cuDNN 7 splits a filter gradient on Tensor Cores. Every part writes its sums and a later one
// reads them, so L1 bytes of V100 (conv_traffic_v100_deepcam) give the number exactly.
#include <algorithm>

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

// By the rule of V100, two images of 112 x 112 had two CTAs on any of these, and four images sixteen and more.
TEST(FilterGradient, has_as_many_ctas_as_sms_on_ampere_and_later) {
    for (const char* gpu : {"a100-sxm4-80gb", "h100-sxm", "b200", "rtx-5090"}) {
        for (const std::int64_t images : {2, 3, 4, 64}) {
            const Layer layer = layer_of(square(images, 32, 112, 32, 3, 1), Pass::wgrad, Precision::fp16);
            const Mapping m = mapping_for(layer, machine(gpu));
            const GemmView view = *gemm_view(layer);
            const auto tiles = (view.m + m.cta.m - 1) / m.cta.m * ((view.n + m.cta.n - 1) / m.cta.n);
            const double sms = machine(gpu).sm.sms->value, longest = static_cast<double>(view.k) / 512;
            const double ctas = static_cast<double>(tiles * m.split_k);
            EXPECT_LE(ctas, sms) << gpu << ", " << images;
            EXPECT_GT(ctas, std::min(longest, sms) / 2) << gpu << ", " << images;
        }
    }
}

}  // namespace
}  // namespace gambrel
