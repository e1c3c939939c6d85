// What a library's call does beside its main kernel, and what the older engines cost: each on numbers of real rows.
#include <gtest/gtest.h>
#include <gambrel/delta.hpp>

#include "mapping/sample.hpp"

namespace gambrel {
namespace {

using namespace test;

constexpr const char* kExplicit = "void explicit_convolve_sgemm<float, int, (int)128, (int)6, (int)7, (int)3>";

Prediction cold_on(const char* id, Layer layer, double mhz = 1155) {
    layer.hints.cold = true;
    layer.hints.timing = Timing::kernel;
    return predict(layer, machine(id), *model_inputs(machine(id), Frequency{mhz * 1e6}));
}
Prediction on(const char* id, const Layer& layer) { return predict(layer, machine(id), *model_inputs(machine(id))); }

Layer by_algorithm(const Convolution& v, const char* algorithm, Precision precision = Precision::fp32) {
    Layer layer = layer_of(v, Pass::fwd, precision);
    layer.hints.algorithm = algorithm;
    return layer;
}

// conv_traffic_a100: the call less its main kernel reads the input and writes the matrix once, 754,974,720 bytes each,
// in 1.22 ms.
TEST(Calls, by_gemm_write_their_input_out_as_a_matrix) {
    Layer kernel = layer_of(square(128, 640, 48, 640, 1));
    kernel.hints.kernel = kExplicit;
    const Prediction alone = cold_on("a100-sxm4-80gb", kernel);
    const Prediction call = cold_on("a100-sxm4-80gb", by_algorithm(square(128, 640, 48, 640, 1), "GEMM"));
    ASSERT_EQ(call.mapping.cta, alone.mapping.cta);
    ASSERT_EQ(call.mapping.launches, 2);
    constexpr double kMatrix = 754974720;
    EXPECT_NEAR((call.traffic.l1.total() - alone.traffic.l1.total()).value() / kMatrix, 2, 0.01);
    EXPECT_NEAR((call.traffic.dram.total() - alone.traffic.dram.total()).value() / kMatrix, 2, 0.01);
    EXPECT_NEAR((call.time - alone.time).value(), 1.22e-3, 0.15e-3);
}

// 8 x 64 x 56 x 56 by 8 x 8 filters with stride 8: every pixel of a request lies in a sector of its own.
TEST(Calls, by_gemm_move_whole_sectors_for_strided_pixels) {
    const Prediction call = cold_on("a100-sxm4-80gb", by_algorithm(square(8, 64, 56, 64, 8, 0, 8), "GEMM"));
    EXPECT_NEAR(call.traffic.l1.total().value(), 84251488, 0.06 * 84251488);
}

TEST(Calls, by_gemm_in_groups_have_a_matrix_for_each_group) {
    Convolution v = square(16, 128, 28, 128, 3, 1);
    v.groups = 4;
    const Prediction call = on("v100-sxm2-16gb", by_algorithm(v, "GEMM"));
    ASSERT_TRUE(call.mapping.groups_in_turn);
    constexpr double kMatrix = 16.0 * 128 * 9 * 28 * 28 * 4, kTensors = 2 * 16.0 * 128 * 28 * 28 * 4;
    EXPECT_NEAR(call.traffic.dram.total().value(), 2 * kMatrix + kTensors, 0.02 * kMatrix);
}

// conv_time_cudnn_fp32: 272 channels of 14 x 14 in four groups take 49.6 us beside V100 and 34 us beside TITAN V, whose
// launches take 5.1 and 3.4 us: two for each group.
TEST(Calls, by_implicit_gemm_take_groups_of_1x1_filters_in_turn) {
    Convolution v = square(1, 272, 14, 272, 1);
    v.groups = 4;
    const Layer layer = by_algorithm(v, "IMPLICIT_GEMM");
    const Mapping mapping = on("v100-sxm2-16gb", layer).mapping;
    EXPECT_TRUE(mapping.groups_in_turn);
    EXPECT_EQ(mapping.launches, 2);
    EXPECT_NEAR(on("v100-sxm2-16gb", layer).time.value(), 49.6e-6, 0.12 * 49.6e-6);
    EXPECT_NEAR(on("titan-v", layer).time.value(), 34e-6, 0.12 * 34e-6);
    Convolution wide = square(1, 96, 27, 256, 5, 2), depthwise = square(1, 272, 14, 272, 1);
    wide.groups = 2, depthwise.groups = 272;
    EXPECT_FALSE(on("v100-sxm2-16gb", by_algorithm(wide, "IMPLICIT_GEMM")).mapping.groups_in_turn);
    EXPECT_FALSE(on("v100-sxm2-16gb", by_algorithm(depthwise, "IMPLICIT_GEMM")).mapping.groups_in_turn);
}

// Two kernels: the offsets and the product.
TEST(Calls, charge_the_launches_of_their_machine) {
    const Layer layer = by_algorithm(square(16, 128, 28, 128, 3, 1), "IMPLICIT_PRECOMP_GEMM");
    Machine titan = machine("titan-v");
    ASSERT_TRUE(titan.launch);
    const Seconds difference = calibration().launch - titan.launch->value, own = on("titan-v", layer).time;
    titan.launch.reset();
    EXPECT_NEAR((predict(layer, titan, *model_inputs(titan)).time - own) / difference, 2, 1e-6);
}

// 2 x 256 x 64 x 64, 3 x 3 with stride 2: 2.18 ms at 4 images, of which 1.19 ms are two borders; 97 x 97 meets padding
// at four sides, 3.18 ms.
TEST(Engines, compute_borders_apart_where_more_was_multiplied_than_whole_tiles) {
    Layer even = by_algorithm(square(4, 256, 64, 256, 3, 1, 2), "IMPLICIT_PRECOMP_GEMM");
    const double macs = 4096.0 * 256 * 2304;
    even.hints.fma = macs;
    const Prediction plain = cold_on("a100-sxm4-80gb", even);
    EXPECT_EQ(plain.mapping.border_sides, 0);
    even.hints.fma = macs * 1.015625;
    const Prediction with = cold_on("a100-sxm4-80gb", even);
    EXPECT_EQ(with.mapping.border_sides, 2);
    EXPECT_NEAR((with.time - plain.time).value(), 2 * 2304 * 300 / 1155e6, 1e-9);
    EXPECT_NEAR(with.time.value(), 1912e-6, 0.1 * 1912e-6);
    Layer odd = by_algorithm(square(2, 256, 97, 256, 3, 1, 2), "IMPLICIT_PRECOMP_GEMM");
    odd.hints.fma = 4802.0 * 256 * 2304 * 1.039567;
    EXPECT_EQ(cold_on("a100-sxm4-80gb", odd).mapping.border_sides, 4);
    EXPECT_NEAR(cold_on("a100-sxm4-80gb", odd).time.value(), 3175e-6, 0.1 * 3175e-6);
    // A warm call does not wait for DRAM there.
    EXPECT_LT(on("a100-sxm4-80gb", odd).time.value(), 1e-3);
}

// 32 x 64 x 300 x 17 by 192 filters: the multiply-adds are those of 256 filters.
TEST(Engines, have_the_tile_that_their_multiply_adds_tell) {
    Convolution v = square(32, 64, 300, 192, 1);
    v.w = 17;
    Layer layer = by_algorithm(v, "IMPLICIT_PRECOMP_GEMM");
    EXPECT_EQ(on("a100-sxm4-80gb", layer).mapping.cta.n, 32);
    layer.hints.fma = 163200.0 * 256 * 64;
    EXPECT_EQ(on("a100-sxm4-80gb", layer).mapping.cta.n, 128);
}

// conv_traffic_a100: 4.09 and 0.23 ms; 64 CTAs on 108 SMs, each 256 pixels a step.
TEST(DirectKernels, of_one_channel_wait_for_memory_twice_a_step) {
    for (const auto& [size, seconds] : {std::pair{1024, 4089.7e-6}, {256, 226.2e-6}}) {
        Layer layer = layer_of(square(64, 1, size, 1, 3));
        layer.hints.kernel = "void conv2d_c1_k1_nchw_hw_packed_kernel<float, float, (int)3>";
        const Prediction p = cold_on("a100-sxm4-80gb", layer);
        EXPECT_NEAR(p.time.value(), seconds, 0.1 * seconds) << size;
        EXPECT_EQ(p.bound, Term::latency);
    }
}

// conv_time_cudnn_fp16tc, V100: 29.22 ms by either algorithm.
TEST(TensorCores, of_cudnn_7_leave_three_channels_to_the_engines) {
    const Convolution v = square(1024, 3, 224, 64, 7, 3, 2);
    const auto nhwc = [&](const char* algorithm) {
        Layer layer = by_algorithm(v, algorithm, Precision::fp16);
        layer.layout = Layout::nhwc;
        return on("v100-sxm2-16gb", layer);
    };
    const Prediction a = nhwc("IMPLICIT_PRECOMP_GEMM"), b = nhwc("IMPLICIT_GEMM");
    EXPECT_FALSE(is_tensor(a.mapping.pipe));
    EXPECT_TRUE(a.mapping.engine);
    EXPECT_NEAR(a.time / b.time, 1, 0.01);
    EXPECT_TRUE(
        is_tensor(on("a100-sxm4-80gb", by_algorithm(v, "IMPLICIT_PRECOMP_GEMM", Precision::fp16)).mapping.pipe));
}

// 8 channels of 7 x 7 taps: 4.21 ms on V100, as steps of 32 channels end with each tap.
TEST(TensorCores, of_cudnn_7_fill_the_step_of_a_tap_up_with_zeros) {
    const Prediction p =
        on("v100-sxm2-16gb", by_algorithm(square(128, 8, 224, 64, 7, 3, 2), "IMPLICIT_PRECOMP_GEMM", Precision::fp16));
    EXPECT_EQ(p.mapping.padded_k, 49 * 32);
    EXPECT_NEAR(p.time.value(), 4.2e-3, 0.25 * 4.2e-3);
    // 2 x 512 x 7 x 7: no tile is smaller than 128 x 128.
    const Prediction few =
        on("v100-sxm2-16gb", by_algorithm(square(2, 512, 7, 512, 3, 1), "IMPLICIT_PRECOMP_GEMM", Precision::fp16));
    EXPECT_GE(few.mapping.cta.m * few.mapping.cta.n, 128 * 128);
    EXPECT_NEAR(few.time.value(), 172e-6, 0.2 * 172e-6);
}

// T4: cudnn-benchmark, which runs at the base clock, took 8.34 ms, 18.5 TFLOP/s. DeepBench took 464 us for 16 x 512 x
// 14 x 14 by 512 filters, 34 TFLOP/s.
TEST(TensorCores, of_a_board_fed_by_its_slot_run_at_the_clock_of_everything_else) {
    const Layer layer = by_algorithm(square(512, 512, 8, 512, 3, 1), "IMPLICIT_PRECOMP_GEMM", Precision::fp16);
    const ModelInputs base = *model_inputs(machine("t4"), Frequency{585e6});
    EXPECT_NEAR(predict(layer, machine("t4"), base).time.value(), 8.34e-3, 0.05 * 8.34e-3);
    EXPECT_GT(model_inputs(machine("t4"))->clock, Frequency{1e9});
    EXPECT_EQ(model_inputs(machine("t4"))->matrix_clock, 1);
}

// Of the three launches in DeepCAM's profile in mixed precision, the two that conv_traffic_v100_deepcam leaves out;
// their shapes follow from the counts of Tensor Core instructions. Bytes at L1, L2 and DRAM as counted.
TEST(TensorCores, of_a_strided_1x1_dgrad_write_no_zeros) {
    struct Counted {
        Convolution layer;
        double l1, l2, dram;
    };
    Convolution wide = square(2, 128, 192, 256, 1, 0, 2), large = square(2, 64, 384, 128, 1, 0, 2);
    wide.w = 288, large.w = 576;
    for (const auto& [v, l1, l2, dram] :
         {Counted{wide, 42467328, 42546528, 36286176}, {large, 49545216, 49549632, 42531264}}) {
        Layer layer = layer_of(v, Pass::dgrad, Precision::fp16);
        layer.hints.kernel = "dgrad_1x1_stride_2x2";
        const Traffic traffic = cold_on("v100-sxm2-16gb", layer, 1301).traffic;
        EXPECT_EQ(traffic.l1.total().value(), l1);
        EXPECT_NEAR(traffic.l2.total().value(), l2, 0.005 * l2);
        EXPECT_NEAR(traffic.dram.total().value(), dram, 0.1 * dram);
    }
}

// Volta_hmma_implicit_gemm_fprop_fp32_nhwc of DeepCAM: 2,089 MB at L1, 1,524 MB at L2. The taps of a row ask for the
// same channels of neighbouring pixels, one step after the other.
TEST(TensorCores, find_the_pixels_of_the_tap_before_in_l1) {
    Convolution v = square(2, 256, 192, 256, 3, 1);
    v.w = 288;
    Layer layer = layer_of(v, Pass::fwd, Precision::fp16);
    layer.hints.kernel = "Volta_hmma_implicit_gemm_fprop_fp32_nhwc_128x128x64x1_1x3x3x0x1";
    const Traffic near = cold_on("v100-sxm2-16gb", layer, 1293).traffic;
    EXPECT_NEAR(near.l2.total().value(), 1524e6, 0.1 * 1524e6);
    auto& far = std::get<Convolution>(layer.op);
    far.dilation_w = 128, far.pad_left = far.pad_right = 128;  // a tile of pixels further: nothing in common
    const Traffic apart = cold_on("v100-sxm2-16gb", layer, 1293).traffic;
    EXPECT_GT(apart.l2.a / apart.l1.a, 0.99);
}

// gemm_traffic_a100: beside the product a bias kernel moves 3 times the output at L1, a copy into C twice.
TEST(Calls, of_linear_layers_have_a_kernel_for_the_bias) {
    Layer layer = layer_of(Gemm{.m = 589824, .n = 512, .k = 128, .b_transposed = true});
    const Prediction plain = cold_on("a100-sxm4-80gb", layer);
    constexpr double kOutput = 589824.0 * 512 * 4;
    layer.hints.bias_kernel = BiasKernel::adds;
    const Prediction adds = cold_on("a100-sxm4-80gb", layer);
    EXPECT_NEAR((adds.traffic.l1.total() - plain.traffic.l1.total()).value() / kOutput, 3, 0.01);
    EXPECT_NEAR((adds.traffic.counted_l2() - plain.traffic.counted_l2()).value() / kOutput, 3.54, 0.1);
    EXPECT_NEAR((adds.traffic.counted_dram() - plain.traffic.counted_dram()).value() / kOutput, 1.98, 0.03);
    EXPECT_NEAR((adds.time - plain.time).value(), 1564e-6, 0.2 * 1564e-6);
    layer.hints.bias_kernel = BiasKernel::copies;
    const Prediction copies = cold_on("a100-sxm4-80gb", layer);
    EXPECT_TRUE(copies.mapping.overwrites);
    EXPECT_NEAR((copies.traffic.l1.total() - plain.traffic.l1.total()).value() / kOutput, 3, 0.01);  // with C read
}

// V100: a call with this kernel takes 934 us, of which the host takes about 95. With offsets in every step, as kernels
// have them that read one plane after the other, it would be 1,230 us.
TEST(Calls, read_along_channels_without_offsets_in_every_step) {
    Layer layer = layer_of(square(18, 544, 5, 1576, 3, 1));
    layer.hints.kernel = "cudnn_infer_volta_scudnn_128x32_sliced1x4_ldg4_relu_exp_small_nhwc_tn_v1";
    layer.hints.timing = Timing::kernel;
    EXPECT_NEAR(on("v100-pcie-32gb", layer).time.value(), 840e-6, 0.15 * 840e-6);
}

// conv_traffic_a100: spectra of 8 GiB; the counted multiply-adds tell which algorithm ran.
TEST(FourierTransforms, of_large_spectra_ran_where_their_multiply_adds_were_counted) {
    Layer layer = by_algorithm(square(4, 512, 64, 256, 3, 1), "FFT");
    EXPECT_EQ(transform_of(layer), Transform::none);
    layer.hints.fma = 8.083472 * flop(layer).value() / 2;
    EXPECT_EQ(transform_of(layer), Transform::fft);
    EXPECT_NEAR(cold_on("a100-sxm4-80gb", layer).time.value(), 52.1e-3, 0.35 * 52.1e-3);
    layer.hints.fma = flop(layer).value() / 2;
    EXPECT_EQ(transform_of(layer), Transform::none);
}

}  // namespace
}  // namespace gambrel
