// Which tile, loads, order and split a layer gets: from its row, its kernel's name, or the rule; and that it can run.
#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gambrel/mapping.hpp>

#include "mapping/sample.hpp"

namespace gambrel {
namespace {

using namespace test;
constexpr const char* kV100 = "v100-sxm2-16gb";

TEST(Mapping, the_row_wins_over_the_name_and_the_name_over_the_rule) {
    Layer layer = convolution_layer();
    const Mapping rule = mapping_for(layer, machine(kV100));
    EXPECT_EQ(rule.source, Mapping::Source::rule);
    EXPECT_EQ(rule.cta, (Tile{128, 64, 8}));
    layer.hints.kernel = "volta_scudnn_128x128_relu_interior_nn_v1";
    const Mapping named = mapping_for(layer, machine(kV100));
    EXPECT_EQ(named.source, Mapping::Source::kernel_name);
    EXPECT_EQ(named.cta, (Tile{128, 128, 8}));
    layer.hints.tile_m = 64, layer.hints.tile_n = 32, layer.hints.tile_k = 16;
    const Mapping row = mapping_for(layer, machine(kV100));
    EXPECT_EQ(row.source, Mapping::Source::row);
    EXPECT_EQ(row.cta, (Tile{64, 32, 16}));
}

TEST(Mapping, half_of_a_tile_in_a_row_is_no_tile) {
    Layer layer = convolution_layer();
    layer.hints.tile_m = 256;
    EXPECT_EQ(mapping_for(layer, machine(kV100)).source, Mapping::Source::rule);
}

TEST(Mapping, cudnn_on_cuda_cores_takes_the_width_that_pads_least_and_64_where_it_ties) {
    const auto width = [](std::int64_t filters) {
        return mapping_for(layer_of(square(64, 64, 28, filters, 3, 1)), machine(kV100)).cta.n;
    };
    EXPECT_EQ(width(1), 32);
    EXPECT_EQ(width(32), 32);
    EXPECT_EQ(width(33), 64);
    EXPECT_EQ(width(64), 64);
    EXPECT_EQ(width(96), 32);
    EXPECT_EQ(width(128), 64);
    EXPECT_EQ(width(160), 32);
    EXPECT_EQ(width(288), 64);  // never 32 above 256 filters
    EXPECT_EQ(width(512), 64);
}

// By the times of cuDNN 7: 141 cycles for an element of k and a wave of 128 x 64, with 32 filters as with 64.
TEST(Mapping, cudnn_on_volta_and_turing_takes_the_narrow_width_where_sms_have_four_ctas) {
    const auto width = [](const char* gpu, std::int64_t images) {
        return mapping_for(layer_of(square(images, 64, 32, 32, 3, 1)), machine(gpu)).cta.n;
    };
    EXPECT_EQ(width(kV100, 39), 64);  // 312 CTAs
    EXPECT_EQ(width(kV100, 40), 32);
    EXPECT_EQ(width("t4", 19), 64);
    EXPECT_EQ(width("t4", 20), 32);
    EXPECT_EQ(width("p100-pcie-16gb", 1), 32);
}

// By the times of cuDNN 7 on M60 and T4, 96 filters take as long as 128, and 160 as long as 192.
TEST(Mapping, cudnn_on_maxwell_and_turing_takes_the_narrow_width_for_32_filters_only) {
    for (const char* gpu : {"m60", "t4"})
        for (const auto& [filters, width] : {std::pair{32, 32}, {96, 64}, {160, 64}, {224, 64}})
            EXPECT_EQ(mapping_for(layer_of(square(64, 64, 28, filters, 3, 1)), machine(gpu)).cta.n, width)
                << gpu << ' ' << filters;
}

TEST(Mapping, narrow_kernels_of_cudnn_step_by_four) {
    EXPECT_EQ(mapping_for(layer_of(square(64, 64, 28, 32, 3, 1)), machine(kV100)).cta.k, 4);
    EXPECT_EQ(mapping_for(layer_of(square(32, 64, 28, 64, 3, 1)), machine(kV100)).cta.k, 8);
}

TEST(Mapping, a_filter_gradient_is_split_along_its_pixels) {
    const Mapping m = mapping_for(layer_of(square(32, 64, 28, 64, 3, 1), Pass::wgrad), machine(kV100));
    EXPECT_EQ(m.cta, (Tile{32, 64, 8}));
    EXPECT_TRUE(m.engine);
    EXPECT_EQ(m.split_k, 32 * 2);  // 784 pixels of each image in chunks of 512
    EXPECT_EQ(m.sums, SplitSums::atomics);
    EXPECT_EQ(mapping_for(layer_of(square(32, 64, 28, 64, 3, 1), Pass::dgrad), machine(kV100)).split_k, 1);
}

TEST(Mapping, the_engine_of_wgrad_splits_by_512_pixels_of_an_image) {
    Layer layer = layer_of(square(2, 64, 48, 128, 3, 1), Pass::wgrad);
    layer.hints.kernel = "void cudnn::detail::wgrad_alg0_engine<float, 128, 6, 8, 3, 3, 5, true, 512>(int)";
    const Mapping m = mapping_for(layer, machine(kV100));
    EXPECT_EQ(m.cta, (Tile{256, 64, 8}));
    EXPECT_EQ(m.split_chunk, 512);
    EXPECT_EQ(m.split_k, 2 * 5);  // 2304 pixels in 5 chunks, 2 images
}

TEST(Mapping, groups_run_in_turn_by_every_algorithm_of_several_kernels) {
    Convolution v = square(1, 96, 14, 96, 3, 1);
    v.groups = 96;
    Layer layer = layer_of(v);
    for (const char* algorithm : {"GEMM", "FFT", "WINOGRAD", "WINOGRAD_NONFUSED", "IMPLICIT_PRECOMP_GEMM"}) {
        layer.hints.algorithm = algorithm;
        EXPECT_TRUE(mapping_for(layer, machine(kV100)).groups_in_turn) << algorithm;
        EXPECT_GE(mapping_for(layer, machine(kV100)).launches, 2) << algorithm;
    }
    layer.hints.algorithm = "IMPLICIT_GEMM";
    EXPECT_EQ(mapping_for(layer, machine(kV100)).family, KernelFamily::depthwise);
}

// As the launches in shared/data/measured/*_time_tiles_fp32.csv.gz have them.
TEST(Mapping, threads_of_named_kernels_are_those_of_their_launches) {
    const auto threads = [](const char* kernel, bool gemm) {
        Layer layer = gemm ? layer_of(Gemm{.m = 2048, .n = 2048, .k = 2048}) : convolution_layer();
        layer.hints.kernel = kernel;
        return mapping_for(layer, machine(kV100)).threads;
    };
    EXPECT_EQ(threads("cudnn_infer_volta_scudnn_128x128_relu_medium_nn_v1", false), 256);
    EXPECT_EQ(threads("cudnn_infer_volta_scudnn_128x64_relu_small_nn_v1", false), 128);
    EXPECT_EQ(threads("cudnn_infer_volta_scudnn_128x32_relu_small_nn_v1", false), 64);
    EXPECT_EQ(threads("cudnn_infer_volta_scudnn_128x32_sliced1x4_ldg4_relu_exp_small_nhwc_tn_v1", false), 256);
    EXPECT_EQ(threads("cudnn_infer_volta_scudnn_128x64_sliced1x2_ldg4_relu_exp_small_nhwc_tn_v1", false), 256);
    EXPECT_EQ(threads("volta_sgemm_128x128_tn", true), 256);
    EXPECT_EQ(threads("volta_sgemm_128x64_nn", true), 128);
    EXPECT_EQ(threads("volta_sgemm_64x64_nn", true), 64);
    EXPECT_EQ(threads("volta_sgemm_32x128_nn", true), 256);
    EXPECT_EQ(threads("volta_sgemm_128x32_sliced1x4_tn", true), 256);
    EXPECT_EQ(threads("volta_sgemm_64x32_sliced1x4_tn", true), 256);
    EXPECT_EQ(threads("volta_sgemm_32x32_sliced1x4_tn", true), 128);
}

TEST(Mapping, tensor_cores_are_used_where_there_are_any_for_the_precision) {
    const auto pipe = [](const char* gpu, Precision precision) {
        return mapping_for(layer_of(square(32, 64, 28, 64, 3, 1), Pass::fwd, precision), machine(gpu)).pipe;
    };
    EXPECT_EQ(pipe(kV100, Precision::fp32), Pipe::fp32);
    EXPECT_EQ(pipe(kV100, Precision::fp16), Pipe::tensor_fp16);
    EXPECT_EQ(pipe("p100-pcie-16gb", Precision::fp16), Pipe::fp32);  // sums in FP32, and so products
    EXPECT_EQ(pipe("a100-sxm4-80gb", Precision::tf32), Pipe::tensor_tf32);
    EXPECT_EQ(pipe("a100-sxm4-80gb", Precision::bf16), Pipe::tensor_bf16);
    EXPECT_EQ(pipe(kV100, Precision::tf32), Pipe::fp32);
    EXPECT_EQ(pipe("h100-sxm", Precision::int8), Pipe::tensor_int8);
    EXPECT_EQ(pipe("v100-sxm2-16gb", Precision::fp64), Pipe::fp64);
}

TEST(Mapping, a_name_without_a_matrix_instruction_keeps_fp16_off_the_tensor_cores) {
    Layer layer = layer_of(square(32, 64, 28, 64, 3, 1), Pass::fwd, Precision::fp16);
    layer.hints.kernel =
        "void cudnn::detail::implicit_convolve_sgemm<__half, __half, 128, 6, 7, 3, 3, 5, 1, true>(int)";
    EXPECT_FALSE(is_tensor(mapping_for(layer, machine(kV100)).pipe));
}

TEST(Mapping, tensor_cores_read_channels_last_and_cuda_cores_what_the_layer_has) {
    Layer layer = layer_of(square(32, 64, 28, 64, 3, 1), Pass::fwd, Precision::fp16);
    EXPECT_EQ(mapping_for(layer, machine(kV100)).layout, Layout::nhwc);
    layer.hints.kernel = "volta_fp16_s884cudnn_fp16_256x128_ldg8_relu_filter1x1_stg8_interior_nchw_nn_v1";
    EXPECT_EQ(mapping_for(layer, machine(kV100)).layout, Layout::nchw);
    layer = convolution_layer();
    EXPECT_EQ(mapping_for(layer, machine(kV100)).layout, Layout::nchw);
}

TEST(Mapping, loads_keep_their_lines_in_l1_only_where_the_architecture_does) {
    const Layer fp32 = convolution_layer();
    EXPECT_TRUE(mapping_for(fp32, machine(kV100)).a.through_l1);
    EXPECT_FALSE(mapping_for(fp32, machine("p100-pcie-16gb")).a.through_l1);
    const Layer fp16 = layer_of(square(32, 64, 28, 64, 3, 1), Pass::fwd, Precision::fp16);
    EXPECT_FALSE(mapping_for(fp16, machine(kV100)).a.asynchronous);
    const Mapping ampere = mapping_for(fp16, machine("a100-sxm4-80gb"));
    EXPECT_TRUE(ampere.a.asynchronous);
    EXPECT_FALSE(ampere.a.through_l1);
}

TEST(Mapping, stages_grow_with_the_architecture) {
    const auto stages = [](const char* gpu) {
        return mapping_for(layer_of(Gemm{.m = 4096, .n = 4096, .k = 4096}, Pass::fwd, Precision::fp16), machine(gpu))
            .stages;
    };
    EXPECT_EQ(stages(kV100), 2);
    EXPECT_EQ(stages("a100-sxm4-80gb"), 3);
    EXPECT_EQ(stages("h100-sxm"), 4);
}

TEST(Mapping, depthwise_and_streaming_layers_have_no_tile) {
    Convolution v = square(8, 96, 56, 96, 3, 1);
    v.groups = 96;
    EXPECT_EQ(mapping_for(layer_of(v), machine(kV100)).family, KernelFamily::depthwise);
    const Layer relu{"relu", Streaming{.kind = StreamingKind::activation, .read = {100}, .written = 100}};
    EXPECT_EQ(mapping_for(relu, machine(kV100)).family, KernelFamily::streaming);
    EXPECT_FALSE(kernel_view(relu).has_value());
}

TEST(Mapping, a_strided_gradient_multiplies_only_the_taps_that_reach_a_pixel) {
    const Convolution v = square(4, 64, 56, 128, 3, 1, 2);
    const Layer layer = layer_of(v, Pass::dgrad);
    EXPECT_EQ(gradient_classes(v), 4);
    const GemmView view = *kernel_view(layer);
    EXPECT_EQ(view.m, 4 * 28 * 28 * 4);
    EXPECT_EQ(view.n, 64);
    EXPECT_EQ(view.k, 128 * 9 / 4);
    const Convolution pointwise = square(4, 64, 56, 128, 1, 0, 2);
    EXPECT_EQ(gradient_classes(pointwise), 1);
    EXPECT_EQ(kernel_view(layer_of(pointwise, Pass::dgrad))->m, 4 * 28 * 28);
}

TEST(Mapping, another_tile_brings_its_own_threads_registers_and_shared_memory) {
    const Layer layer = layer_of(Gemm{.m = 4096, .n = 4096, .k = 4096}, Pass::fwd, Precision::fp16);
    const Machine& a100 = machine("a100-sxm4-80gb");
    const Mapping rule = mapping_for(layer, a100);
    for (const Tile& tile : known_tiles(a100, rule.pipe)) {
        const Mapping other = with_tile(rule, layer, a100, tile);
        EXPECT_EQ(other.cta, tile);
        EXPECT_EQ(other.shared_memory.value(), other.stages * (tile.m + tile.n) * tile.k * 2.0);
        EXPECT_GT(occupancy(a100, other).ctas_per_sm, 0);
    }
}

TEST(Mapping, a_tile_that_does_not_fit_gives_up_stages_before_it_gives_up_k) {
    const Layer layer = layer_of(Gemm{.m = 4096, .n = 4096, .k = 4096}, Pass::fwd, Precision::fp16);
    const Machine& h100 = machine("h100-sxm");
    const Mapping rule = mapping_for(layer, h100);
    // Of the 227 KiB of a CTA a stage of 256 x 256 x 64 takes 64.
    const Mapping three = with_tile(rule, layer, h100, {256, 256, 64});
    EXPECT_EQ(three.stages, 3);
    EXPECT_EQ(three.cta.k, 64);
    const Mapping two = with_tile(rule, layer, h100, {256, 256, 256});
    EXPECT_EQ(two.stages, 2);
    EXPECT_EQ(two.cta.k, 64);
    EXPECT_EQ(two.warp.k, 64);
}

TEST(Mapping, a_long_k_step_by_hand_is_cut_to_what_an_sm_has) {
    const Layer layer = layer_of(Gemm{.m = 4096, .n = 4096, .k = 4096}, Pass::fwd, Precision::fp16);
    for (const char* gpu : {"k80", kV100, "a100-sxm4-80gb", "h100-sxm"}) {
        const Mapping m = with_tile(mapping_for(layer, machine(gpu)), layer, machine(gpu), {128, 128, 1024});
        EXPECT_GT(occupancy(machine(gpu), m).ctas_per_sm, 0) << gpu;
        EXPECT_LT(m.cta.k, 1024) << gpu;
    }
}

TEST(Mapping, a_tile_whose_sums_no_registers_hold_cannot_be_launched) {
    const Layer half = layer_of(Gemm{.m = 4096, .n = 4096, .k = 4096}, Pass::fwd, Precision::fp16);
    for (const char* gpu : {kV100, "a100-sxm4-80gb"}) {
        const Mapping m = with_tile(mapping_for(half, machine(gpu)), half, machine(gpu), {512, 512, 32});
        EXPECT_EQ(occupancy(machine(gpu), m).ctas_per_sm, 0) << gpu;
    }
    const Layer single = layer_of(Gemm{.m = 4096, .n = 4096, .k = 4096});
    const Mapping m = with_tile(mapping_for(single, machine(kV100)), single, machine(kV100), {256, 256, 8});
    EXPECT_EQ(occupancy(machine(kV100), m).ctas_per_sm, 0);
}

TEST(Mapping, of_every_layer_can_be_launched_on_every_gpu_of_the_catalogue) {
    const std::vector<Layer>& layers = all_layers();
    ASSERT_GT(layers.size(), 300U);
    std::size_t launched = 0;
    for (const Precision precision : {Precision::fp64, Precision::fp32, Precision::tf32, Precision::fp16,
                                      Precision::bf16, Precision::fp8, Precision::int8})
        for (const Layer& layer : in_precision(layers, precision))
            for (const Machine& gpu : catalogue()) {
                const Mapping m = mapping_for(layer, gpu);
                const Occupancy o = occupancy(gpu, m);
                ASSERT_GT(o.ctas_per_sm, 0) << layer.name << ' ' << name(precision) << " on " << gpu.id;
                if (m.family != KernelFamily::tiled) continue;
                ASSERT_GT(m.cta.m * m.cta.n * m.cta.k, 0) << layer.name << " on " << gpu.id;
                ASSERT_GE(m.split_k, 1) << layer.name << " on " << gpu.id;
                ASSERT_GT(m.warp.m * m.warp.n * m.warp.k, 0) << layer.name << " on " << gpu.id;
                const auto runs = {m.a.run(), m.b.run()};
                ASSERT_GT(*std::min_element(runs.begin(), runs.end()), 0) << layer.name << " on " << gpu.id;
                ++launched;
            }
    EXPECT_GT(launched, 100000U);
}

// Measured on V100: 385 cycles for an element of k with 1.62 CTAs of 64 x 128 for an SM, which would take 304, and 463
// with 2.45, where 20 of 32 x 32 would take 526.
TEST(Mapping, an_engine_of_volta_takes_the_narrow_tile_where_the_wide_one_has_fewer_than_two_ctas_for_an_sm) {
    const auto tile = [](const char* gpu, std::int64_t images, Precision precision = Precision::fp32) {
        Layer layer = layer_of(square(images, 512, 8, 256, 1), Pass::fwd, precision);
        layer.hints.algorithm = "IMPLICIT_GEMM";
        return mapping_for(layer, machine(gpu)).cta;
    };
    EXPECT_EQ(tile(kV100, 79), (Tile{32, 32, 8}));  // 158 CTAs of 64 x 128
    EXPECT_EQ(tile(kV100, 80), (Tile{64, 128, 8}));
    EXPECT_EQ(tile("t4", 39), (Tile{32, 32, 8}));
    EXPECT_EQ(tile("t4", 40), (Tile{64, 128, 8}));
}

}  // namespace
}  // namespace gambrel
