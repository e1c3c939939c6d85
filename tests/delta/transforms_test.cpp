// Convolutions by Fourier transforms: spectra are written and read between kernels. Split products whose parts add up
// in order: the chain of sums takes time.
#include <gtest/gtest.h>
#include <gambrel/delta.hpp>

#include "mapping/sample.hpp"

namespace gambrel {
namespace {

using namespace test;

const Machine& a100() { return machine("a100-sxm4-80gb"); }

Prediction on_a100(const Layer& layer) { return predict(layer, a100(), *model_inputs(a100())); }

double spectra(const Convolution& v, Transform transform) {
    const Spectra s = spectra_of(v, transform);
    const auto images = static_cast<double>(v.n * s.tiles), filters = static_cast<double>(v.k),
               channels = static_cast<double>(v.c);
    return 8.0 * static_cast<double>(s.numbers) * (images * channels + filters * channels + images * filters);
}

// A100's counters: 2.0, 4.0 and 6.0 times the spectra with 32, 64 and 128 points a side.
TEST(FourierTransforms, write_and_read_spectra_once_for_each_pass) {
    const std::pair<std::int64_t, double> sizes[] = {{32, 2}, {64, 4}, {128, 6}};
    for (const auto& [size, times] : sizes) {
        Layer layer = layer_of(square(4, 256, size - 2, 128, 3, 1));
        layer.hints.algorithm = "FFT";
        ASSERT_EQ(transform_of(layer), Transform::fft) << size;
        const Bytes tensors = compulsory_bytes(layer).read + compulsory_bytes(layer).written;
        const Bytes moved = on_a100(layer).traffic.dram.total() - tensors;
        EXPECT_NEAR(moved.value() / spectra(std::get<Convolution>(layer.op), Transform::fft), times, 0.05) << size;
    }
}

// conv_traffic_a100: 2 x 47 x 46 x 46 by 128 filters of 11 x 11 in nine tiles, each of which reads the 26.2 MB of all
// transformed filters from DRAM: 262.8 MB, where all tiles together would take 51.
TEST(FourierTransforms, of_tiles_read_the_filters_again_for_each_tile) {
    Layer layer = layer_of(square(2, 47, 46, 128, 11, 5));
    layer.hints.algorithm = "FFT_TILING";
    layer.hints.cold = true;
    const Traffic t = on_a100(layer).traffic;
    EXPECT_NEAR(t.counted_dram().value() / 262.8e6, 1, 0.1);
    EXPECT_NEAR(t.counted_l2().value() / 619.7e6, 1, 0.1);
}

// conv_traffic_a100: 1 x 1026 x 12 x 14 by two filters moves 13.52 MB at L1; with each sector loaded once 7.9.
TEST(FourierTransforms, of_16_points_load_a_sector_for_each_element) {
    Convolution v = square(1, 1026, 12, 2, 3, 1);
    v.w = 14;
    Layer layer = layer_of(v);
    layer.hints.algorithm = "FFT";
    EXPECT_NEAR(on_a100(layer).traffic.l1.total().value() / 13.52e6, 1, 0.05);
}

TEST(FourierTransforms, of_tiles_take_four_kernels_for_each_tile_and_four_for_the_filters) {
    Layer layer = layer_of(square(1, 3, 224, 32, 3, 1));
    layer.hints.algorithm = "FFT_TILING";
    // cuDNN 7 on V100 took 2.1 ms for 64 tiles of next to no work; an implicit GEMM takes 0.06 ms.
    const Prediction p = on_a100(layer);
    EXPECT_EQ(p.mapping.launches, 4 * 64 + 4);
    EXPECT_GT(p.time.value(), 1e-3);
    EXPECT_LT(p.time.value(), 3e-3);
}

// A filter of three rows has 3 / 2 + 17 one-sided transforms of columns to make where a tile of 32 rows has 16 + 17.
// cuDNN 7 on V100 takes 3,906 us for one image of 512 channels of 7 x 7 and 512 filters, which are nearly all of the
// spectra, and 78.5 ms for 1,024 images; with as much work for a filter as for a tile 1.4 and 1.05 times that.
TEST(FourierTransforms, of_filters_leave_out_rows_of_zeros) {
    const Machine& v100 = machine("v100-sxm2-16gb");
    const ModelInputs inputs = *model_inputs(v100, Frequency{1312e6});
    for (const auto& [images, measured] : {std::pair<std::int64_t, double>{1, 3906e-6}, {1024, 78.54e-3}}) {
        Layer layer = layer_of(square(images, 512, 7, 512, 3, 1));
        layer.hints.algorithm = "FFT_TILING";
        EXPECT_NEAR(predict(layer, v100, inputs).time.value() / measured, 1, 0.12) << images;
    }
}

// cuDNN 7 on V100, FP16: 1024 x 256 x 56 x 56 with a workspace of 1,849,758,327 bytes, which are input and output.
TEST(Workspaces, that_hold_input_and_output_are_written_and_read) {
    Layer layer = layer_of(square(1024, 256, 56, 128, 1, 0, 2), Pass::fwd, Precision::fp16);
    layer.hints.algorithm = "IMPLICIT_PRECOMP_GEMM";
    const Prediction without = on_a100(layer);
    EXPECT_FALSE(without.mapping.transposes);
    layer.hints.workspace = Bytes{1849758327};
    const Prediction with = on_a100(layer);
    EXPECT_TRUE(with.mapping.transposes);
    EXPECT_NEAR((with.traffic.dram.total() - without.traffic.dram.total()).value() / 1849758327.0, 2, 0.01);
    EXPECT_GT(with.time.value() - without.time.value(), 2 * 1849758327.0 / 2.039e12);
}

// PyTorch keeps NCHW unless asked for another layout, and TF32 kernels read NHWC: both activations of every pass are
// read and written once more. So is the gradient of a filter.
TEST(Workspaces, of_another_layout_hold_both_activations_of_every_pass) {
    for (const Pass pass : {Pass::fwd, Pass::dgrad, Pass::wgrad}) {
        Layer layer = layer_of(square(64, 256, 28, 128, 3, 1), pass, Precision::tf32);
        const Prediction as_kernels_like = on_a100(layer);
        layer.hints.other_layout = true;
        const Prediction turned = on_a100(layer);
        const double input = 64.0 * 256 * 28 * 28 * 4, output = 64.0 * 128 * 28 * 28 * 4;
        const double filter = pass == Pass::wgrad ? 128.0 * 256 * 9 * 4 : 0;
        EXPECT_NEAR((turned.traffic.dram.total() - as_kernels_like.traffic.dram.total()).value(),
                    2 * (input + output + filter), 1)
            << name(pass);
        EXPECT_GT(turned.time, as_kernels_like.time) << name(pass);
        layer.precision = Precision::fp32;
        EXPECT_FALSE(on_a100(layer).mapping.transposes) << name(pass);
    }
}

// conv_time_cudnn_fp32, V100, 512 channels of 7 x 7: 2.4 ms up to cuDNN 7.6.3, 1.3 to 1.8 in 7.6.4. 24 channels of 56 x
// 56 by 144 filters: 0.71 ms with four images and 0.31 with eight, whose filters are not turned over.
TEST(FourierTransforms, of_cudnn_7_turn_each_spectrum_over_once) {
    const auto time_of = [](const Convolution& v) {
        Layer layer = layer_of(v);
        layer.hints.algorithm = "FFT";
        const Machine& v100 = machine("v100-sxm2-16gb");
        return predict(layer, v100, *model_inputs(v100, Frequency{1312e6})).time.value();
    };
    EXPECT_NEAR(time_of(square(8, 512, 7, 512, 3, 1)), 2.2e-3, 0.3e-3);
    const double four = time_of(square(4, 24, 56, 144, 1)), eight = time_of(square(8, 24, 56, 144, 1));
    EXPECT_NEAR(four, 710e-6, 0.2 * 710e-6);
    EXPECT_LT(eight, 0.8 * four);
}

// Launches of gemm_traffic_a100: 32 tiles in 12 parts take 159 us, 129 us longer than their multiplications.
TEST(OrderedSums, of_parts_that_run_beside_each_other_come_one_after_the_other) {
    Layer layer = layer_of(Gemm{.m = 128, .n = 1024, .k = 1024, .b_transposed = true});
    layer.hints.kernel = "ampere_sgemm_128x32_tn";
    const Prediction whole = on_a100(layer);
    layer.hints.fma = 128.0 * 1024 * (1048 + 11);
    const Prediction split = on_a100(layer);
    ASSERT_EQ(split.mapping.split_k, 12);
    ASSERT_EQ(split.mapping.sums, SplitSums::in_order);
    const double link = calibration().ordered_sum.value() / 1.41e9;
    EXPECT_GT(split.time.value() - 11 * link, 0);
    EXPECT_LT(split.time.value(), whole.time.value() + 12 * link);
}

// With as many tiles as SMs each part ends in a round of its own, and the sums pass under the next one's work.
TEST(OrderedSums, of_parts_that_run_after_each_other_are_hidden) {
    Layer layer = layer_of(Gemm{.m = 1024, .n = 1024, .k = 4096, .b_transposed = true});
    layer.hints.kernel = "ampere_sgemm_128x32_tn";
    const Prediction whole = on_a100(layer);
    layer.hints.fma = 1024.0 * 1024 * (4096 + 3);
    const Prediction split = on_a100(layer);
    ASSERT_EQ(split.mapping.split_k, 4);
    EXPECT_LT(split.time, whole.time);  // and the parts fill the last wave better
}

}  // namespace
}  // namespace gambrel
