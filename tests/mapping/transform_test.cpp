// What convolutions by Winograd's and Fourier's transforms multiply.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gambrel/mapping.hpp>

#include "mapping/sample.hpp"

namespace gambrel {
namespace {

using namespace test;

TEST(Mapping, winograd_multiplies_16_or_36_numbers_of_a_tile_and_whole_blocks_of_them) {
    Layer layer = layer_of(square(16, 512, 112, 512, 3, 1));
    const double direct = kernel_flop(layer).value();
    layer.hints.algorithm = "WINOGRAD";
    const Mapping fused = mapping_for(layer, machine("a100-sxm4-80gb"));
    EXPECT_EQ(fused.transform, Transform::winograd_fused);
    EXPECT_EQ(grid(*kernel_view(layer), fused).rows, 16 * 14 * 7);  // 8 x 16 outputs of an image each
    EXPECT_NEAR(kernel_flop(layer).value() / direct, 16.0 / 36, 1e-9);
    layer.hints.algorithm = "WINOGRAD_NONFUSED";
    EXPECT_EQ(kernel_view(layer)->batch, 36);
    EXPECT_NEAR(kernel_flop(layer).value() / direct, 36.0 / 144, 1e-9);
}

// A tile of 4 x 4 gradients gives as many numbers as one of 4 x 4 outputs, and the sum goes over all tiles. There is no
// fused kernel for it.
TEST(Mapping, winograd_sums_filter_gradients_over_tiles_of_outputs) {
    Layer layer = layer_of(square(8, 128, 28, 256, 3, 1), Pass::wgrad);
    const double direct = kernel_flop(layer).value();
    layer.hints.algorithm = "WINOGRAD";
    EXPECT_EQ(transform_of(layer), Transform::none);
    layer.hints.algorithm = "WINOGRAD_NONFUSED";
    ASSERT_EQ(transform_of(layer), Transform::winograd_separate);
    const GemmView view = *kernel_view(layer);
    EXPECT_EQ(view.m, 256);
    EXPECT_EQ(view.n, 128);
    EXPECT_EQ(view.k, 8 * 7 * 7);  // images are not filled up to 16
    EXPECT_EQ(view.batch, 36);
    EXPECT_NEAR(kernel_flop(layer).value() / direct, 36.0 / 144, 1e-9);
    EXPECT_EQ(mapping_for(layer, machine("v100-sxm2-16gb")).split_k, 1);
}

// Workspaces of cuDNN 7: 28,311,552 bytes of 256 channels and filters of 14 x 14 with 1, 2, 8 and 16 images. On A100
// 8 images of 20 x 20 take 1.01 of the multiply-adds of 16.
// Profiler traces have volta_scudnn_winograd_128x128 with 256 threads, 126 registers and 48 KiB. On K80 two CTAs of an
// SM run together: 13, 26, 39 and 52 of them take 559, 751, 1234 and 1421 cycles for a channel.
TEST(Mapping, fused_winograd_asks_for_48_kib_of_shared_memory) {
    Layer layer = layer_of(square(8, 64, 56, 64, 3, 1));
    layer.hints.algorithm = "WINOGRAD";
    for (const auto& [gpu, ctas] : {std::pair{"v100-sxm2-16gb", 2}, {"k80", 2}, {"m60", 2}, {"t4", 1}}) {
        const Mapping m = mapping_for(layer, machine(gpu));
        EXPECT_EQ(m.threads, 256);
        EXPECT_EQ(m.shared_memory, Bytes{48 * 1024});
        EXPECT_EQ(occupancy(machine(gpu), m).ctas_per_sm, ctas) << gpu;
    }
}

TEST(Mapping, winograd_in_separate_kernels_fills_up_to_16_images) {
    const auto workspace = [](std::int64_t images, std::int64_t filter) {
        Layer layer = layer_of(filter == 3 ? square(images, 256, 14, 256, 3, 1) : square(images, 32, 14, 64, 5, 2));
        layer.hints.algorithm = "WINOGRAD_NONFUSED";
        const GemmView v = *kernel_view(layer);
        return 4 * v.batch * (v.m * v.k + v.m * v.n + v.n * v.k);
    };
    for (const std::int64_t images : {1, 2, 8, 16}) EXPECT_EQ(workspace(images, 3), 28311552) << images;
    EXPECT_EQ(workspace(32, 3), 47185920);
    // A thread of GRID K520 has 63 registers, so that two share what one has elsewhere.
    Layer layer = layer_of(square(16, 256, 14, 256, 3, 1));
    layer.hints.algorithm = "WINOGRAD_NONFUSED";
    EXPECT_EQ(mapping_for(layer, machine("grid-k520")).threads, 2 * mapping_for(layer, machine("k80")).threads);
    // 5 x 5 filters: tiles of 9 x 9 outputs, 13 x 13 numbers.
    for (const std::int64_t images : {1, 8}) EXPECT_EQ(workspace(images, 5), 5537792) << images;
    EXPECT_EQ(workspace(32, 5), 9691136);
}

// 256 images of 512 channels of 7 x 7 take 741 us on V100, 26 TFLOP/s of products; its CUDA cores have 13.
TEST(Mapping, winograd_in_separate_kernels_multiplies_fp16_on_tensor_cores) {
    Layer layer = layer_of(square(256, 512, 7, 512, 3, 1), Pass::fwd, Precision::fp16);
    layer.hints.algorithm = "WINOGRAD_NONFUSED";
    layer.hints.workspace = Bytes{94371840};  // transformed tiles and products, no copies in another layout
    const Mapping m = mapping_for(layer, machine("v100-sxm2-16gb"));
    EXPECT_EQ(m.pipe, Pipe::tensor_fp16);
    EXPECT_FALSE(m.transposes);
    EXPECT_EQ(m.padded_k, 0);  // no taps whose channels would be filled up
    layer.hints.algorithm = "WINOGRAD";
    EXPECT_EQ(mapping_for(layer, machine("v100-sxm2-16gb")).pipe, Pipe::fp32);
}

// Workspaces of cuDNN 7: 1,145,331,712 bytes of 1 x 512 x 7 x 7 with 512 filters of 3 x 3.
TEST(Mapping, fft_multiplies_the_numbers_of_half_a_spectrum) {
    Layer layer = layer_of(square(1, 512, 7, 512, 3, 1));
    layer.hints.algorithm = "FFT_TILING";
    EXPECT_EQ(transform_of(layer), Transform::fft_tiled);
    const Spectra tiled = spectra_of(std::get<Convolution>(layer.op), Transform::fft_tiled);
    EXPECT_NEAR(8.0 * static_cast<double>(tiled.numbers) * (512 + 512 * 512 + 512) / 1145331712, 1, 1e-4);
    EXPECT_EQ(kernel_view(layer)->batch, 3 * 32 * 17);
    layer.op = square(1, 3, 224, 64, 7, 1);
    EXPECT_EQ(spectra_of(std::get<Convolution>(layer.op), Transform::fft_tiled).turns, 9 * 9);
    layer.op = square(16, 2048, 7, 512, 1, 0);  // rows by themselves
    EXPECT_EQ(kernel_view(layer)->m, 16 * 7);
    EXPECT_EQ(kernel_view(layer)->batch, 3 * 17);
    layer.hints.algorithm = "FFT";
    EXPECT_EQ(kernel_view(layer)->batch, 3 * 16 * 9);
    layer.op = square(1, 8, 300, 8, 3, 1);  // larger than the largest transform
    EXPECT_EQ(transform_of(layer), Transform::none);
    layer.op = square(4, 512, 64, 256, 3, 1);  // spectra of 8.9 GB
    EXPECT_EQ(transform_of(layer), Transform::none);
}

// conv_traffic_a100: where FFT_TILING was refused, the multiply-adds are those of whole tiles of 32 x 32, and bytes and
// time those of IMPLICIT_GEMM: 2 x 49 x 48 x 36 by 128 filters of 11 x 11 moved 963 MB at L1.
TEST(Mapping, a_fourier_transform_that_was_refused_runs_as_implicit_gemm) {
    Convolution v = square(2, 49, 48, 128, 11, 5);
    v.w = 36;
    Layer layer = layer_of(v);
    layer.hints.algorithm = "FFT_TILING";
    EXPECT_EQ(transform_of(layer), Transform::fft_tiled);
    layer.hints.fma = 2.0 * 48 * 36 * 128 * 5936;  // 49 x 121 = 5929 elements of k, in steps of 8
    ASSERT_EQ(transform_of(layer), Transform::none);
    const Mapping refused = mapping_for(layer, machine("a100-sxm4-80gb"));
    layer.hints.algorithm = "IMPLICIT_GEMM";
    const Mapping implicit = mapping_for(layer, machine("a100-sxm4-80gb"));
    EXPECT_TRUE(refused.engine);
    EXPECT_EQ(refused.cta.m, implicit.cta.m);
    EXPECT_EQ(refused.cta.n, implicit.cta.n);
    EXPECT_EQ(refused.launches, 1);
}

}  // namespace
}  // namespace gambrel
