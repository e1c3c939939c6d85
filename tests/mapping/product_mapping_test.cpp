// Which tile, order and split a product gets: those of cuBLAS where nothing is said, else what a name or a row says.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gambrel/mapping.hpp>

#include "mapping/sample.hpp"

namespace gambrel {
namespace {

using namespace test;

// 384 tiles of 128 x 64 and k = 256: three parts of 86, 86 and 84, each in whole steps of 8, and an addition for each
// of the second and third.
TEST(ProductMapping, the_multiply_adds_that_ran_tell_a_split_inside_the_kernel) {
    Layer layer = layer_of(Gemm{.m = 3072, .n = 1024, .k = 256, .b_transposed = true});
    layer.hints.kernel = "ampere_sgemm_128x64_tn";
    layer.hints.fma = 3072.0 * 1024 * (3 * 88 + 2);
    const Mapping m = mapping_for(layer, machine("a100-sxm4-80gb"));
    EXPECT_EQ(m.split_k, 3);
    EXPECT_EQ(m.sums, SplitSums::in_order);
    layer.hints.fma = 3072.0 * 1024 * 256;
    EXPECT_EQ(mapping_for(layer, machine("a100-sxm4-80gb")).split_k, 1);
}

// Launch 1489 of gemm_traffic_a100: 14,158,848 multiply-adds are one sum of three whole tiles, not 18 parts of 162
// outputs.
TEST(ProductMapping, the_sums_of_a_kernel_are_those_of_whole_tiles) {
    Layer layer = layer_of(Gemm{.m = 2, .n = 81, .k = 4608, .b_transposed = true});
    layer.hints.kernel = "ampere_sgemm_32x32_sliced1x4_tn";
    layer.hints.overwrites = true;
    layer.hints.fma = 3.0 * 32 * 32 * (4608 + 1);
    EXPECT_EQ(mapping_for(layer, machine("a100-sxm4-80gb")).split_k, 1);
}

// gemm_traffic_a100 has calls that name no kernel but count multiply-adds. Of 1900 x 1024 by 240 tiles of 128 x 64, 64
// x 64 pads as much and 128 x 32 less, so that the count leaves two of them.
TEST(ProductMapping, the_multiply_adds_of_a_call_tell_the_tile_of_an_unknown_kernel) {
    Layer layer = layer_of(Gemm{.m = 1900, .n = 1024, .k = 512, .b_transposed = true});
    const auto counted = [&](double rows, double k) {
        layer.hints.fma = rows * 1024 * k;
        return mapping_for(layer, machine("a100-sxm4-80gb"));
    };
    // Three parts of 171, 171 and 170, each in whole steps of 8.
    const Mapping m = counted(1920, 3 * 176 + 2);
    EXPECT_EQ(m.cta, (Tile{64, 128, 8}));
    EXPECT_EQ(m.split_k, 3);
    EXPECT_EQ(m.sums, SplitSums::in_order);
    // A kernel that adds the bias does one for each output.
    layer.hints.bias_kernel = BiasKernel::adds;
    layer.hints.fma = 1920.0 * 1024 * (3 * 176 + 2) + 1900.0 * 1024;
    EXPECT_EQ(mapping_for(layer, machine("a100-sxm4-80gb")).split_k, 3);
}

TEST(ProductMapping, of_tiles_that_explain_a_count_few_waves_are_sliced_and_long_parts_square) {
    const auto counted = [&](std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t parts) {
        Layer layer = layer_of(Gemm{.m = m, .n = n, .k = k, .b_transposed = true});
        const double part = std::ceil(std::ceil(static_cast<double>(k) / static_cast<double>(parts)) / 8) * 8;
        layer.hints.fma =
            static_cast<double>(m * n) * (part * static_cast<double>(parts) + static_cast<double>(parts - 1));
        return mapping_for(layer, machine("a100-sxm4-80gb"));
    };
    EXPECT_EQ(counted(768, 256, 256, 1).cta, (Tile{32, 64, 8}));  // 64x32_sliced1x4
    EXPECT_EQ(counted(768, 256, 256, 1).warp.k, 2);
    EXPECT_EQ(counted(1024, 1024, 12800, 10).cta, (Tile{64, 64, 8}));
    EXPECT_EQ(counted(1024, 1024, 1024, 4).cta, (Tile{32, 128, 8}));
    EXPECT_EQ(counted(32768, 768, 192, 1).cta, (Tile{64, 128, 8}));
}

TEST(ProductMapping, parts_that_another_kernel_adds_up_are_those_of_a_sliced_kernel) {
    Layer layer = layer_of(Gemm{.m = 200, .n = 256, .k = 256, .b_transposed = true});
    layer.hints.fma = 224.0 * 256 * 256;
    layer.hints.adds_up_parts = true;
    const Mapping m = mapping_for(layer, machine("a100-sxm4-80gb"));
    EXPECT_EQ(m.cta, (Tile{32, 32, 8}));
    EXPECT_EQ(m.split_k, 3);  // 56 tiles: two CTAs for each of 108 SMs
    EXPECT_EQ(m.sums, SplitSums::workspace);
    EXPECT_EQ(m.launches, 2);
}

// gemm_time_tiles_fp32: 280 CTAs of 32x32_sliced1x4 take 1.9 ms on A100, of which 70 of 64 x 64, two warps each, would
// leave half of the issue slots free and take twice as long.
TEST(ProductMapping, a_tile_whose_ctas_stand_alone_must_have_the_warps_to_fill_an_sm) {
    const Mapping m = mapping_for(layer_of(Gemm{.m = 872, .n = 303, .k = 36635}), machine("a100-pcie-40gb"));
    EXPECT_LE(m.cta.m * m.cta.n, 4096);
    EXPECT_GE(m.threads, 128);
    const Mapping few = mapping_for(layer_of(Gemm{.m = 330, .n = 256, .k = 256}), machine("a100-pcie-40gb"));
    EXPECT_EQ(few.cta, (Tile{32, 32, 8}));
    EXPECT_EQ(few.warp.k, 2);
}

TEST(ProductMapping, a_product_with_one_scale_has_the_kernel_of_its_rows_columns_and_k) {
    const auto kernel = [](std::int64_t m, std::int64_t n, std::int64_t k) {
        Layer layer = layer_of(Gemm{.m = m, .n = n, .k = k}, Pass::fwd, Precision::fp8);
        layer.hints.quantizes_input = InputScales::tensor;
        return mapping_for(layer, machine("h100-sxm"));
    };
    EXPECT_EQ(kernel(16, 1024, 65536).cta.m, 16);
    EXPECT_EQ(kernel(16, 1024, 65536).ctas_together().rows, 2);
    EXPECT_EQ(kernel(16, 1024, 65536).split_k, 1);
    EXPECT_EQ(kernel(64, 4096, 4096).cta.m, 64);
    EXPECT_EQ(kernel(65, 4096, 4096).cta.n, 128);
    EXPECT_EQ(kernel(8192, 4096, 4096).cta.m, 128);
    EXPECT_EQ(kernel(8192, 4096, 6144).cta.m, 256);
    EXPECT_FALSE(mapping_for(layer_of(Gemm{.m = 8192, .n = 4096, .k = 6144}), machine("h100-sxm")).cluster.has_value());
}

TEST(ProductMapping, a_product_with_a_vector_streams_the_matrix) {
    const Layer vector = layer_of(Gemm{.m = 1, .n = 4096, .k = 8192});
    EXPECT_EQ(mapping_for(vector, machine("a100-sxm4-80gb")).family, KernelFamily::streaming);
    const Layer matrix = layer_of(Gemm{.m = 2, .n = 4096, .k = 8192});
    EXPECT_EQ(mapping_for(matrix, machine("a100-sxm4-80gb")).family, KernelFamily::tiled);
}

TEST(ProductMapping, a_tilesize_covers_rows_first_and_a_blas_tile_columns) {
    Layer layer = layer_of(Gemm{.m = 4096, .n = 4096, .k = 512});
    layer.hints.kernel = "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize128x64x8_stage3_ffma";
    EXPECT_EQ(mapping_for(layer, machine("a100-sxm4-80gb")).cta.m, 128);
    layer.hints.kernel = "ampere_sgemm_128x64_nn";
    EXPECT_EQ(mapping_for(layer, machine("a100-sxm4-80gb")).cta.m, 64);
}

TEST(ProductMapping, a_split_in_the_row_is_taken_and_shortens_each_ctas_reduction) {
    Layer layer = layer_of(Gemm{.m = 256, .n = 256, .k = 4096});
    layer.hints.split_k = 4;
    const Mapping m = mapping_for(layer, machine("v100-sxm2-16gb"));
    EXPECT_EQ(m.split_k, 4);
    EXPECT_EQ(m.sums, SplitSums::workspace);
    const Grid g = grid(*kernel_view(layer), m);
    EXPECT_EQ(g.split_k, 4);
    EXPECT_EQ(g.k_steps * m.cta.k, 1024);
}

TEST(ProductMapping, a_gemm_that_fills_the_machine_is_not_split_and_a_lonely_one_with_a_long_reduction_is) {
    EXPECT_EQ(mapping_for(layer_of(Gemm{.m = 8192, .n = 8192, .k = 8192}), machine("v100-sxm2-16gb")).split_k, 1);
    EXPECT_GT(mapping_for(layer_of(Gemm{.m = 128, .n = 128, .k = 65536}), machine("v100-sxm2-16gb")).split_k, 4);
    EXPECT_EQ(mapping_for(layer_of(Gemm{.m = 128, .n = 128, .k = 128}), machine("v100-sxm2-16gb")).split_k, 1);
}

TEST(ProductMapping, blas_is_column_major_so_the_first_side_of_a_named_tile_lies_along_n) {
    Layer layer = layer_of(Gemm{.m = 1000, .n = 4000, .k = 512});
    layer.hints.kernel = "volta_sgemm_128x64_nn";
    const Mapping m = mapping_for(layer, machine("v100-sxm2-16gb"));
    EXPECT_TRUE(m.transposed_view);
    EXPECT_EQ(m.cta, (Tile{64, 128, 8}));
    EXPECT_EQ(m.order, CtaOrder::columns_first);
    const Grid g = grid(*kernel_view(layer), m);
    EXPECT_EQ(g.rows, 16);
    EXPECT_EQ(g.columns, 32);
}

TEST(ProductMapping, warps_of_a_sliced_kernel_share_out_the_k_step) {
    Layer layer = layer_of(Gemm{.m = 512, .n = 512, .k = 512});
    layer.hints.kernel = "ampere_sgemm_32x32_sliced1x4_tn";
    const Mapping m = mapping_for(layer, machine("a100-sxm4-80gb"));
    EXPECT_EQ(m.cta.k, 4 * m.warp.k);
}

// cuBLAS has one kernel for batched products there, whatever their shape; a single product has tiles to choose from.
TEST(ProductMapping, batched_products_on_cuda_cores_have_tiles_of_their_own) {
    for (const std::int64_t n : {16, 64, 500}) {
        const Layer batched = layer_of(Gemm{512, n, 512, 64});
        const Tile ampere = mapping_for(batched, machine("a100-pcie-40gb")).cta;
        EXPECT_TRUE(ampere.m == 128 && ampere.n == 128) << ampere.m << 'x' << ampere.n;
        const Tile pascal = mapping_for(batched, machine("p100-pcie-16gb")).cta;
        EXPECT_TRUE(pascal.m == 64 && pascal.n == 128) << pascal.m << 'x' << pascal.n;
        const Tile volta = mapping_for(batched, machine("v100-pcie-32gb")).cta;
        EXPECT_EQ(volta.m * volta.n, 4096) << volta.m << 'x' << volta.n;  // 64x64, 128x32 or 32x128
    }
    EXPECT_LT(mapping_for(layer_of(Gemm{512, 16, 512, 1}), machine("a100-pcie-40gb")).cta.n, 128);
}

// cuBLAS on A100, by the names of its kernels: 128x64 of 100864 x 1536 x 512, first side along N, and 32x32 of
// 4 x 1024 x 1024.
TEST(ProductMapping, products_on_cuda_cores_have_the_tiles_and_the_order_of_blas) {
    for (const auto& [gemm, m, n] : {std::tuple{Gemm{100864, 1536, 512}, 64, 128}, {Gemm{4, 1024, 1024}, 32, 32}}) {
        const Mapping mapping = mapping_for(layer_of(gemm), machine("a100-sxm4-80gb"));
        EXPECT_TRUE(mapping.cta.m == m && mapping.cta.n == n) << mapping.cta.m << 'x' << mapping.cta.n;
        EXPECT_EQ(mapping.order, CtaOrder::columns_first);
        EXPECT_TRUE(mapping.transposed_view);
    }
}

TEST(ProductMapping, a_product_whose_input_has_one_scale_has_one_tile_and_no_split_on_hopper) {
    Layer layer = layer_of(Gemm{.m = 160, .n = 256, .k = 51200}, Pass::fwd, Precision::fp8);
    EXPECT_GT(mapping_for(layer, machine("h100-sxm")).split_k, 1);
    layer.hints.quantizes_input = InputScales::tensor;
    const Mapping m = mapping_for(layer, machine("h100-sxm"));
    EXPECT_EQ(m.cta.m, 128);
    EXPECT_EQ(m.cta.n, 128);
    EXPECT_EQ(m.split_k, 1);
}

}  // namespace
}  // namespace gambrel
