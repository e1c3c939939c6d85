// What convolutions by Winograd's and Fourier's transforms multiply.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gambrel/mapping.hpp>

#include "mapping/sample.hpp"

namespace gambrel {
namespace {

using namespace test;

TEST(Mapping, winograd_multiplies_16_or_36_numbers_of_a_tile_and_whole_blocks_of_them) {
    Layer layer = layer_of(square(4, 512, 112, 512, 3, 1));
    const double direct = kernel_flop(layer).value();
    layer.hints.algorithm = "WINOGRAD";
    const Mapping fused = mapping_for(layer, machine("a100-sxm4-80gb"));
    EXPECT_EQ(fused.transform, Transform::winograd_fused);
    EXPECT_EQ(grid(*kernel_view(layer), fused).rows, 4 * 14 * 7);  // 8 x 16 outputs of an image each
    EXPECT_NEAR(kernel_flop(layer).value() / direct, 16.0 / 36, 1e-9);
    layer.hints.algorithm = "WINOGRAD_NONFUSED";
    EXPECT_EQ(kernel_view(layer)->batch, 36);
    EXPECT_NEAR(kernel_flop(layer).value() / direct, 36.0 / 144, 1e-9);
    layer.pass = Pass::wgrad;
    EXPECT_EQ(transform_of(layer), Transform::none);
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

}  // namespace
}  // namespace gambrel
