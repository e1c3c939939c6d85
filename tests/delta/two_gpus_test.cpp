// What makes the ratio of two GPUs' times, each mechanism on rows of conv_time_cudnn_fp32 and gemm_time_tiles_fp32 that
// show it alone. Times in microseconds.
#include <gtest/gtest.h>
#include <gambrel/delta.hpp>

#include "mapping/sample.hpp"

namespace gambrel {
namespace {

using namespace test;

struct ClockedGpu {
    const char* id;
    double mhz;
    [[nodiscard]] Prediction predicted(const Layer& layer) const {
        return predict(layer, machine(id), *model_inputs(machine(id), Frequency{mhz * 1e6}));
    }
    [[nodiscard]] double time(const Convolution& v, const char* algorithm) const {
        Layer layer = layer_of(v);
        layer.hints.algorithm = algorithm;
        return predicted(layer).time.value() * 1e6;
    }
};
constexpr ClockedGpu kVolta{"v100-sxm2-16gb", 1312}, kTitan{"titan-v", 1200}, kTuring{"t4", 585}, kMaxwell{"m60", 557},
    kKepler{"k80", 562}, kOldKepler{"grid-k520", 797};

// 35,520 us on GRID K520, 2,666 on K80: with 255 registers for a thread 4,000 were predicted.
TEST(TwoGpus, differ_by_the_sums_that_found_no_register) {
    const Convolution v = square(16, 256, 14, 256, 3, 1);
    EXPECT_NEAR(kOldKepler.time(v, "WINOGRAD"), 35520, 0.2 * 35520);
    EXPECT_LT(kKepler.time(v, "WINOGRAD"), 3e3);
    Layer layer = layer_of(v);
    layer.hints.algorithm = "IMPLICIT_PRECOMP_GEMM";
    EXPECT_EQ(mapping_for(layer, machine("grid-k520")).spilled, 0);
}

Mapping mapping_on(const ClockedGpu& gpu, const Convolution& v, const char* algorithm) {
    Layer layer = layer_of(v);
    layer.hints.algorithm = algorithm;
    return mapping_for(layer, machine(gpu.id));
}

// Filters that eight images share are written and read once. Their bytes were those of three passes, whose time at
// DRAM's full speed was 1.24 times the predicted one on M60.
TEST(TwoGpus, move_no_more_bytes_by_fourier_than_their_time_has_room_for) {
    for (const ClockedGpu& gpu : {kVolta, kTitan, kTuring, kMaxwell, kKepler, kOldKepler})
        for (const std::int64_t images : {1, 4, 8, 16, 32, 64}) {
            Layer layer = layer_of(square(images, 64, 56, 64, 3, 1));
            layer.hints.algorithm = "FFT";
            const Prediction p = gpu.predicted(layer);
            const Bandwidth dram = model_inputs(machine(gpu.id))->dram_bandwidth;
            EXPECT_LE(p.traffic.dram.total() / dram, p.time) << gpu.id << ", " << images;
            EXPECT_GE(p.traffic.l2.total(), p.traffic.dram.total() * (1 - 1e-9)) << gpu.id << ", " << images;
        }
}

// 128 x 28 x 28 and 128 filters: 521 us for one image on V100 and 552 for 16. 144 channels and 32 filters, 0.28 of the
// filters, take 278 us: half of a tile. On T4 32 filters fill one.
TEST(TwoGpus, multiply_the_spectra_of_few_images_by_other_tiles) {
    for (const std::int64_t images : {2, 16}) {
        const Convolution v = square(images, 128, 28, 128, 3, 1);
        EXPECT_EQ(mapping_on(kVolta, v, "FFT").cta, (Tile{64, 64, 8})) << images;
        EXPECT_EQ(mapping_on(kTuring, v, "FFT").cta, (Tile{32, 32, 8})) << images;
        EXPECT_TRUE(mapping_on(kVolta, v, "FFT").four_products) << images;
    }
    EXPECT_NEAR(kVolta.time(square(2, 128, 28, 128, 3, 1), "FFT"), 521, 0.12 * 521);
    EXPECT_NEAR(kVolta.time(square(16, 128, 28, 128, 3, 1), "FFT"), 552, 0.12 * 552);
    EXPECT_NEAR(kVolta.time(square(2, 144, 28, 32, 1), "FFT"), 278, 0.12 * 278);
    EXPECT_NEAR(kTuring.time(square(2, 128, 28, 128, 3, 1), "FFT"), 1572, 0.12 * 1572);
    EXPECT_FALSE(mapping_on(kVolta, square(32, 128, 28, 128, 3, 1), "FFT").four_products);
    // Eight images share filters of more than 32 points a side.
    EXPECT_TRUE(mapping_on(kVolta, square(4, 64, 56, 64, 1), "FFT").four_products);
    EXPECT_FALSE(mapping_on(kVolta, square(8, 64, 56, 64, 1), "FFT").four_products);
}

// 256 x 14 x 14 and 256 filters: 1,232 us for one image on T4, 1,858 for two; V100 632 for either.
TEST(TwoGpus, differ_by_single_images_that_are_vectors) {
    const auto times = [](const ClockedGpu& gpu, std::int64_t images) {
        return gpu.time(square(images, 256, 14, 256, 3, 1), "FFT");
    };
    EXPECT_NEAR(times(kTuring, 1), 1232, 0.15 * 1232);
    EXPECT_NEAR(times(kTuring, 2), 1858, 0.15 * 1858);
    EXPECT_NEAR(times(kVolta, 1) / times(kVolta, 2), 1, 0.02);
}

// 784 pixels, 128 filters and 704 channels take 352 us on K80 and 266 on GRID K520: 100 tiles of 32 x 32 there, and 13
// of 64 x 128 here, which would be one for each of K80's SMs.
TEST(TwoGpus, differ_by_the_tile_of_engines_that_leaves_no_sm_without_ctas) {
    const Convolution v = square(4, 704, 14, 128, 1);
    EXPECT_EQ(mapping_on(kKepler, v, "IMPLICIT_GEMM").cta, (Tile{32, 32, 8}));
    EXPECT_EQ(mapping_on(kOldKepler, v, "IMPLICIT_GEMM").cta, (Tile{64, 128, 8}));
    EXPECT_NEAR(kKepler.time(v, "IMPLICIT_GEMM"), 352, 0.13 * 352);
    EXPECT_NEAR(kOldKepler.time(v, "IMPLICIT_GEMM"), 266, 0.08 * 266);
}

// Of the same layer 16 images take 3,137 us on K80 and 4,359 on GRID K520, 32 take 4,431 and 6,512.
TEST(TwoGpus, take_wide_tiles_of_spectra_from_17_images_on_kepler) {
    for (const auto& [gpu, few, many] : {std::tuple(kKepler, 3137., 4431.), std::tuple(kOldKepler, 4359., 6512.)}) {
        EXPECT_NEAR(gpu.time(square(16, 256, 14, 256, 3, 1), "FFT"), few, 0.15 * few);
        EXPECT_NEAR(gpu.time(square(32, 256, 14, 256, 3, 1), "FFT"), many, 0.16 * many);
    }
}

// 64 x 56 x 56 and 64 filters: 6,911, 12,468 and 24,841 us for 8, 16 and 32 images on GRID K520; on K80 2,418 to 6,358.
TEST(TwoGpus, differ_by_filters_that_each_image_reads_again) {
    for (const auto& [images, measured] : {std::pair<std::int64_t, double>{8, 6911}, {16, 12468}, {32, 24841}})
        EXPECT_NEAR(kOldKepler.time(square(images, 64, 56, 64, 1), "FFT"), measured, 0.25 * measured) << images;
    EXPECT_LT(kKepler.time(square(32, 64, 56, 64, 1), "FFT"), 7e3);
}

// 128 x 28 x 28 and 128 filters: 3,430 us for one image on K80, 4,528 for 64, 8,108 for 128. 64 x 400 x 400 and
// 64 filters are 196 tiles, and eight images of each fill a CTA's tile alone: 160.7 ms.
TEST(TwoGpus, multiply_tiles_by_fourier_in_whole_cta_tiles_on_kepler) {
    for (const auto& [images, measured] : {std::pair<std::int64_t, double>{1, 3430}, {64, 4528}, {128, 8108}})
        EXPECT_NEAR(kKepler.time(square(images, 128, 28, 128, 3, 1), "FFT_TILING"), measured, 0.22 * measured)
            << images;
    EXPECT_NEAR(kKepler.time(square(8, 64, 400, 64, 3, 1), "FFT_TILING"), 160.7e3, 0.15 * 160.7e3);
}

// A group of one channel and one filter of 112 x 112 with 32 images takes 3,894 us on M60 and 428 on V100, and 564 and
// 119 with 16.
TEST(TwoGpus, differ_by_what_a_cta_of_products_of_whole_images_takes) {
    const auto of_group = [](const ClockedGpu& gpu, std::int64_t images) {
        Convolution v = square(images, 32, 112, 32, 3, 1);
        v.groups = 32;
        return gpu.time(v, "FFT") / 32;
    };
    EXPECT_NEAR(of_group(kMaxwell, 32), 3894, 0.15 * 3894);
    EXPECT_LT(of_group(kMaxwell, 16), 1e3);
    EXPECT_NEAR(of_group(kVolta, 32), 428, 0.25 * 428);
    EXPECT_LT(of_group(kVolta, 16), 150);
}

// A group of one channel and one filter of 112 x 112 is 16 tiles in turn: 342 us beside T4, whose host takes 5.1 for
// each of its launches.
TEST(TwoGpus, wait_for_the_launches_of_tiles_in_turn) {
    Convolution v = square(1, 32, 112, 32, 3, 1);
    v.groups = 32;
    EXPECT_NEAR(kTuring.time(v, "FFT_TILING") / 32, 342, 0.06 * 342);
}

// A matrix of 5 x 5 taps of 48 channels and 36 pixels is 173 kB, and takes 110 us of the 278 on M60. V100 keeps in L1
// what the tap before fetched.
TEST(TwoGpus, wait_for_each_row_of_the_matrix_where_l1_keeps_nothing) {
    const Convolution v = square(1, 48, 6, 128, 5, 2);
    EXPECT_NEAR(kMaxwell.time(v, "GEMM"), 278, 0.15 * 278);
    EXPECT_NEAR(kOldKepler.time(square(1, 8, 14, 16, 5), "GEMM"), 134, 0.25 * 134);
}

// Spectra of 2,048 x 512 filters of 16 x 16 points, one image: 43,937 us on K80, 58,244 on GRID K520, 36,254 on M60.
// Moved once, as their length needs, at half of the bandwidth: 35,900 and 52,700.
TEST(TwoGpus, turn_over_the_spectra_of_whole_images_on_kepler_too) {
    const Convolution v = square(1, 2048, 7, 512, 1);
    EXPECT_NEAR(kKepler.time(v, "FFT"), 43937, 0.06 * 43937);
    EXPECT_NEAR(kOldKepler.time(v, "FFT"), 58244, 0.06 * 58244);
}

// 32 x 256 x 56 x 56 with 64 filters of 1 x 1: V100 1,065 us, TITAN V 1,215, T4 5,116. Clocks and SMs say 1.09 and 4.5,
// the bandwidths of DRAM 1.36 and 3.5.
TEST(TwoGpus, transform_tiles_by_fourier_as_their_multipliers_are_fast) {
    const Convolution v = square(32, 256, 56, 64, 1);
    const double volta = kVolta.time(v, "FFT_TILING");
    EXPECT_NEAR(kTitan.time(v, "FFT_TILING") / volta, 1215. / 1065, 0.1);
    EXPECT_NEAR(kTuring.time(v, "FFT_TILING") / volta, 5116. / 1065, 0.12 * 5116 / 1065);
}

// One channel and one filter of 7 x 7, which is one tile, in groups: 348 us on K80, 286 on M60, 82 on GRID K520. 16
// tiles of 112 x 112 take 4,475, 3,717 and 867 us, and 533 on V100, whose launches take 347. Beside M60 the filters'
// four kernels take longer than their launches, 54 us.
TEST(TwoGpus, differ_by_what_a_cta_of_fourier_products_takes) {
    const auto of_group = [](const ClockedGpu& gpu, std::int64_t side) {
        Convolution v = square(1, 64, side, 64, 3, 1);
        v.groups = 64;
        return gpu.time(v, "FFT_TILING") / 64;
    };
    EXPECT_NEAR(of_group(kKepler, 7), 348, 0.1 * 348);
    EXPECT_NEAR(of_group(kMaxwell, 7), 286, 0.11 * 286);
    EXPECT_NEAR(of_group(kOldKepler, 7), 82, 0.2 * 82);
    EXPECT_NEAR(of_group(kKepler, 112), 4475, 0.25 * 4475);
    EXPECT_NEAR(of_group(kMaxwell, 112), 3717, 0.2 * 3717);
    EXPECT_GT(of_group(kVolta, 112), 360);
    EXPECT_LT(of_group(kVolta, 112), 600);
}

// 32 groups of one filter, 32 images of 112 x 112: each is 3,136 tiles of 128 x 64, of whose columns one is stored.
// They take 634 us on M60, 292 on T4, 59.4 on V100 and 64.3 on TITAN V.
TEST(TwoGpus, store_only_the_columns_that_have_a_filter) {
    Convolution v = square(32, 32, 112, 32, 3, 1);
    v.groups = 32;
    for (const auto& [gpu, measured] : {std::pair{kMaxwell, 634.}, {kTuring, 292.}, {kVolta, 59.4}, {kTitan, 64.3}})
        EXPECT_NEAR(gpu.time(v, "IMPLICIT_PRECOMP_GEMM") / 32, measured, 0.16 * measured) << gpu.id;
    // By separate Winograd kernels 965, 92.5 and 92.2 us: a pixel takes 20 to 24 cycles of an SM.
    for (const auto& [gpu, measured] : {std::pair{kMaxwell, 965.}, {kVolta, 92.5}, {kTitan, 92.2}})
        EXPECT_NEAR(gpu.time(v, "WINOGRAD_NONFUSED") / 32, measured, 0.25 * measured) << gpu.id;
}

// 960 groups of one channel and one filter of 7 x 7: their kernels have hardly any work, and take longer on K80 and M60
// than the host's launches.
TEST(TwoGpus, run_short_kernels_one_after_the_other) {
    Convolution v = square(1, 960, 7, 960, 3, 1);
    v.groups = 960;
    struct Measured {
        const ClockedGpu& gpu;
        const char* algorithm;
        double microseconds;
    };
    for (const auto& [gpu, algorithm, measured] : {Measured{kKepler, "FFT", 81.3},
                                                   {kMaxwell, "FFT", 56.0},
                                                   {kTuring, "FFT", 34.1},
                                                   {kKepler, "GEMM", 27.5},
                                                   {kMaxwell, "GEMM", 16.6},
                                                   {kKepler, "WINOGRAD", 26.5},
                                                   {kMaxwell, "WINOGRAD", 14.8},
                                                   {kMaxwell, "WINOGRAD_NONFUSED", 34.2},
                                                   {kTuring, "WINOGRAD_NONFUSED", 21.9}})
        EXPECT_NEAR(gpu.time(v, algorithm) / 960, measured, 0.12 * measured) << gpu.id << ' ' << algorithm;
}

// 4,952 us on K80, 3,221 on GRID K520, which has two thirds of its multipliers. By IMPLICIT_GEMM it takes 300 us less.
TEST(TwoGpus, differ_by_stores_that_scatter) {
    const Convolution v = square(16, 16, 112, 96, 1);
    EXPECT_NEAR(kKepler.time(v, "GEMM"), 4952, 0.15 * 4952);
    EXPECT_NEAR(kOldKepler.time(v, "GEMM") - kOldKepler.time(v, "IMPLICIT_GEMM"), 300, 150);
    // The matrix of 3 x 3 taps is written by all threads at once: 153 us on V100 and 139 by IMPLICIT_GEMM.
    EXPECT_NEAR(kVolta.time(square(1, 256, 14, 256, 3, 1), "GEMM"), 153, 0.1 * 153);
}

// Fused Winograd takes 1,215 us on T4 and 253 on V100, whose multipliers are 4.5 times as fast: shared memory gives T4
// half as much in a cycle, and L1 takes its part of it.
TEST(TwoGpus, differ_by_what_passes_the_lines_of_shared_memory) {
    Layer layer = layer_of(square(16, 256, 14, 256, 3, 1));
    layer.hints.algorithm = "WINOGRAD";
    const Prediction t4 = kTuring.predicted(layer), v100 = kVolta.predicted(layer);
    EXPECT_EQ(t4.bound, Term::shared);
    EXPECT_EQ(v100.bound, Term::compute);
    EXPECT_NEAR(t4.time.value(), 1215e-6, 0.12 * 1215e-6);
    EXPECT_NEAR(v100.time.value(), 253e-6, 0.05 * 253e-6);
}

// Outputs pass through shared memory on their way, however short the reduction is.
TEST(TwoGpus, differ_by_outputs_that_are_put_in_order_in_shared_memory) {
    const auto shared_over_compute = [](const ClockedGpu& gpu, std::int64_t channels) {
        Layer layer = layer_of(square(31, channels, 54, 960, 3, 1));
        layer.hints.kernel = "cudnn_infer_volta_scudnn_128x64_relu_small_nn_v1";
        const Prediction p = gpu.predicted(layer);
        return p.terms[Term::shared] / p.terms[Term::compute];
    };
    EXPECT_GT(shared_over_compute(kTuring, 3), 1.1);
    EXPECT_LT(shared_over_compute(kTuring, 64), 0.8);
    EXPECT_LT(shared_over_compute(kVolta, 3), 0.7);
}

}  // namespace
}  // namespace gambrel
