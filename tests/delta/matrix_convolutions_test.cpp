// Convolutions on the Tensor Cores of Volta and Turing, on rows of conv_time_cudnn_fp16tc that show one mechanism each.
// Times in microseconds, at the base clock.
#include <gtest/gtest.h>
#include <gambrel/delta.hpp>

#include "mapping/sample.hpp"

namespace gambrel {
namespace {

using namespace test;

Prediction on(const char* gpu, double mhz, const Convolution& v) {
    Layer layer = layer_of(v);
    layer.precision = Precision::fp16;
    layer.hints.algorithm = "IMPLICIT_PRECOMP_GEMM";
    layer.hints.workspace = Bytes{18824};  // no tensor changes its layout
    return predict(layer, machine(gpu), *model_inputs(machine(gpu), Frequency{mhz * 1e6}));
}
double on_turing(const Convolution& v) { return on("t4", 585, v).time.value() * 1e6; }

// 7,677 us for k = 512 and 13,960 for k = 1152: beside 80 cycles for each element of k, a CTA of 256 x 128 takes
// 12,800. Without them 6,581 us were predicted for the first.
TEST(ConvolutionsOnTensorCores, put_their_outputs_in_order_while_nothing_is_multiplied) {
    EXPECT_NEAR(on_turing(square(1024, 512, 7, 2048, 1)), 7677, 0.1 * 7677);
    EXPECT_NEAR(on_turing(square(1024, 128, 28, 128, 3, 1)), 13960, 0.05 * 13960);
}

// 20,368 us, 14,778 of them predicted when only what shared memory moves was bounded by the data path that L1 shares.
TEST(ConvolutionsOnTensorCores, load_through_the_path_that_shared_memory_takes) {
    EXPECT_NEAR(on_turing(square(1024, 64, 56, 64, 3, 1)), 20368, 0.15 * 20368);
}

// V100. 1,115 us where bytes take 0.99 at DRAM's rate: as a sum of memory, first tiles and outputs 1,415 were
// predicted.
TEST(ConvolutionsOnTensorCores, store_while_the_memory_serves_other_sms) {
    EXPECT_NEAR(on("v100-sxm2-16gb", 1312, square(1024, 64, 56, 64, 1)).time.value() * 1e6, 1115, 0.08 * 1115);
}

// V100. 621 GB/s, where 64 channels of a pixel, which follow one another, are read at 737: 3,309 us.
TEST(ConvolutionsOnTensorCores, read_short_pieces_of_pixels_with_many_channels) {
    EXPECT_NEAR(on("v100-sxm2-16gb", 1312, square(1024, 256, 56, 64, 1)).time.value() * 1e6, 3309, 0.08 * 3309);
}

// T4. Beside its data DRAM reads check bits, while outputs are stored, too: 6,697 us, 5,758 predicted without these.
TEST(ConvolutionsOnTensorCores, wait_for_check_bits_while_outputs_are_stored) {
    EXPECT_NEAR(on_turing(square(1024, 64, 56, 64, 1)), 6697, 0.08 * 6697);
}

// Found by make sweep: clusters take less of A from L2 than there is of it. All of it passes L2 on its way from DRAM,
// which was counted after the time was known: 2 % more bytes than L2 could have moved.
TEST(ConvolutionsOnTensorCores, take_the_time_that_l2_needs_for_all_operands) {
    Convolution v = square(64, 2, 293, 8, 6, 1);
    v.s = 4;
    v.pad_left = v.pad_right = 4;
    const Layer layer = layer_of(v, Pass::wgrad, Precision::tf32);
    const ModelInputs inputs = *model_inputs(machine("h200"));
    const Prediction p = predict(layer, machine("h200"), inputs);
    EXPECT_LE(p.traffic.l2.total() / inputs.l2_bandwidth, p.time);
}

}  // namespace
}  // namespace gambrel
