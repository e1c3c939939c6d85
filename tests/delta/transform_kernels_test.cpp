// What the kernels of cuDNN 7's transforms and of its explicit matrix take on six GPUs, each mechanism on rows of
// conv_time_cudnn_fp32 that show it alone. Times in microseconds.
#include <gtest/gtest.h>
#include <gambrel/delta.hpp>

#include "mapping/sample.hpp"

namespace gambrel {
namespace {

using namespace test;

struct ClockedGpu {
    const char* id;
    double mhz;
    [[nodiscard]] double time(const Convolution& v, const char* algorithm) const {
        Layer layer = layer_of(v);
        layer.hints.algorithm = algorithm;
        const Machine gpu = machine(id);
        return predict(layer, gpu, *model_inputs(gpu, Frequency{mhz * 1e6})).time.value() * 1e6;
    }
    [[nodiscard]] Mapping mapping(const Convolution& v, const char* algorithm) const {
        Layer layer = layer_of(v);
        layer.hints.algorithm = algorithm;
        return mapping_for(layer, machine(id));
    }
    void expect(double measured, double error, const Convolution& v, const char* algorithm) const {
        EXPECT_NEAR(time(v, algorithm) / measured, 1, error) << id << ", " << v.n << " images";
    }
};
constexpr ClockedGpu kVolta{"v100-sxm2-16gb", 1312}, kTitan{"titan-v", 1200}, kTuring{"t4", 585}, kMaxwell{"m60", 557},
    kKepler{"k80", 562}, kOldKepler{"grid-k520", 797};

// 256 images of 512 channels of 7 x 7 with 512 filters: 20,909 us on V100, 127,721 on T4 and 165,139 on M60. Clocks and
// multipliers say 4.5 and 5.9 times as long, and their products take 6.1 and 7.9: shared memory gives T4 and M60 half
// as much for each multiplication.
TEST(TransformKernels, multiply_complex_numbers_as_fast_as_shared_memory_gives_them) {
    const Convolution v = square(256, 512, 7, 512, 3, 1);
    const double volta = kVolta.time(v, "FFT_TILING");
    EXPECT_NEAR(kTuring.time(v, "FFT_TILING") / volta, 127721. / 20909, 0.06 * 127721 / 20909);
    EXPECT_NEAR(kMaxwell.time(v, "FFT_TILING") / volta, 165139. / 20909, 0.1 * 165139 / 20909);
}

// The same layer with one image and with 32: 3,906 and 4,136 us on V100, 33,256 and 34,719 on M60, as for half of the
// tile of more images. With 2,048 filters of 1 x 1, 7 to 28 rows take 979 to 987 us on V100, as 56 do; on T4 3,219 and
// 4,984.
TEST(TransformKernels, have_their_long_side_where_less_of_it_stays_empty) {
    for (const ClockedGpu& gpu : {kVolta, kTitan, kTuring, kMaxwell}) {
        EXPECT_EQ(gpu.mapping(square(32, 512, 7, 512, 3, 1), "FFT_TILING").cta, (Tile{32, 64, 8})) << gpu.id;
        EXPECT_EQ(gpu.mapping(square(64, 512, 7, 512, 3, 1), "FFT_TILING").cta, (Tile{64, 32, 8})) << gpu.id;
    }
    kVolta.expect(3906, 0.1, square(1, 512, 7, 512, 3, 1), "FFT_TILING");
    kMaxwell.expect(34719, 0.1, square(32, 512, 7, 512, 3, 1), "FFT_TILING");
    EXPECT_EQ(kVolta.mapping(square(4, 512, 7, 2048, 1), "FFT_TILING").cta, (Tile{64, 32, 8}));
    EXPECT_EQ(kTuring.mapping(square(4, 512, 7, 2048, 1), "FFT_TILING").cta, (Tile{32, 64, 8}));
    EXPECT_EQ(kTuring.mapping(square(1024, 512, 7, 512, 3, 1), "FFT_TILING").cta, (Tile{64, 64, 8}));
    EXPECT_EQ(kMaxwell.mapping(square(32, 512, 7, 2048, 1), "FFT_TILING").cta, (Tile{64, 64, 8}));
    kVolta.expect(987, 0.12, square(4, 512, 7, 2048, 1), "FFT_TILING");
    kTuring.expect(4984, 0.18, square(8, 512, 7, 2048, 1), "FFT_TILING");
}

// 32 filters of three channels of 224 x 224 in 64 tiles: 14,833 us for two images on M60, and 11,633 for 32, which fill
// a tile; 2,193 on V100.
TEST(TransformKernels, go_through_32_channels_where_products_are_small) {
    Convolution v = square(2, 3, 224, 32, 3, 1);
    v.stride_h = v.stride_w = 2;
    EXPECT_EQ(kMaxwell.mapping(v, "FFT_TILING").padded_k, 32);
    EXPECT_EQ(kMaxwell.mapping(v, "FFT_TILING").cta, (Tile{64, 64, 8}));
    EXPECT_EQ(kTuring.mapping(v, "FFT_TILING").cta, (Tile{32, 32, 8}));
    kMaxwell.expect(14833, 0.25, v, "FFT_TILING");
    kVolta.expect(2193, 0.25, v, "FFT_TILING");
    v.n = 32;
    EXPECT_EQ(kMaxwell.mapping(v, "FFT_TILING").padded_k, 0);
    kMaxwell.expect(11633, 0.25, v, "FFT_TILING");
}

// GRID K520 takes 47,403 us for one image of 512 channels of 7 x 7 with 512 filters, 50,548 for 16 and 77,828 for 32.
TEST(TransformKernels, multiply_at_half_the_rate_from_registers_of_one_bank) {
    for (const auto& [images, measured] : {std::pair<std::int64_t, double>{1, 47403}, {16, 50548}, {32, 77828}})
        kOldKepler.expect(measured, 0.1, square(images, 512, 7, 512, 3, 1), "FFT_TILING");
    EXPECT_TRUE(kOldKepler.mapping(square(1, 512, 7, 512, 3, 1), "FFT_TILING").four_products);
    EXPECT_FALSE(kKepler.mapping(square(1, 512, 7, 512, 3, 1), "FFT_TILING").four_products);
}

// 256 channels of 14 x 14 by FFT: 415 us for one image on TITAN V and 720 for two; by tiles on T4 3,463 and 5,725.
TEST(TransformKernels, multiply_single_images_as_vectors_where_the_library_does) {
    const auto of_two = [](const ClockedGpu& gpu, const char* algorithm) {
        return gpu.time(square(1, 256, 14, 256, 3, 1), algorithm) / gpu.time(square(2, 256, 14, 256, 3, 1), algorithm);
    };
    EXPECT_LT(of_two(kTitan, "FFT"), 0.85);
    EXPECT_NEAR(of_two(kTuring, "FFT_TILING"), 3463. / 5725, 0.1);
    EXPECT_NEAR(of_two(kVolta, "FFT_TILING"), 1, 0.02);
    Convolution one_filter = square(1, 64, 7, 64, 3, 1);
    one_filter.groups = 64;
    EXPECT_EQ(kTitan.mapping(one_filter, "FFT_TILING").cta.m, 4);
    EXPECT_EQ(kVolta.mapping(one_filter, "FFT_TILING").cta, (Tile{64, 64, 8}));
}

// A layer of 192 channels of 28 x 28 and 64 filters by GEMM: 90 us on V100 and TITAN V, whose DRAM is 432 and 313
// cycles away and L2 212 and 211; 189 us on T4, 209 on M60.
TEST(TransformKernels, wait_twice_in_each_row_of_a_matrix) {
    const Convolution v = square(1, 192, 28, 64, 1);
    kVolta.expect(90.4, 0.1, v, "GEMM");
    kTitan.expect(90.0, 0.1, v, "GEMM");
    kTuring.expect(188.9, 0.1, v, "GEMM");
    kMaxwell.expect(208.7, 0.1, v, "GEMM");
    kOldKepler.expect(218.8, 0.12, v, "GEMM");
}

// Separate transforms of 512 channels of 7 x 7 with 512 filters have 64 rows for 16 images and 128 for 32: 1,997 and
// 3,483 us on GRID K520, and 1,280 and 1,350 on T4.
TEST(TransformKernels, of_winograd_have_narrower_tiles_than_cudnn_8) {
    const Convolution few = square(16, 512, 7, 512, 3, 1), more = square(32, 512, 7, 512, 3, 1);
    for (const ClockedGpu& gpu : {kVolta, kTitan, kTuring, kMaxwell})
        EXPECT_EQ(gpu.mapping(few, "WINOGRAD_NONFUSED").cta, (Tile{128, 64, 8})) << gpu.id;
    for (const ClockedGpu& gpu : {kKepler, kOldKepler})
        EXPECT_EQ(gpu.mapping(few, "WINOGRAD_NONFUSED").cta, (Tile{64, 64, 8})) << gpu.id;
    kOldKepler.expect(1997, 0.1, few, "WINOGRAD_NONFUSED");
    kOldKepler.expect(3483, 0.1, more, "WINOGRAD_NONFUSED");
    kTuring.expect(1280, 0.1, few, "WINOGRAD_NONFUSED");
    kTuring.expect(1350, 0.1, more, "WINOGRAD_NONFUSED");
}

// 32 x 64 x 55 x 55 and 192 filters, most of which is transforms: 8,751 us on M60, and 930 on V100 with 56 x 56.
TEST(TransformKernels, of_winograd_load_whole_tiles_before_they_add) {
    kMaxwell.expect(8751, 0.15, square(32, 64, 55, 192, 3, 1), "WINOGRAD_NONFUSED");
    kVolta.expect(930, 0.1, square(32, 64, 56, 192, 3, 1), "WINOGRAD_NONFUSED");
}

}  // namespace
}  // namespace gambrel
