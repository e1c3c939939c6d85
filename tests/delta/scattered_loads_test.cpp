// Engines whose threads load elements from lines that lie apart, on rows of conv_time_cudnn_fp16tc and
// conv_traffic_v100_deepcam. Times in microseconds.
#include <gtest/gtest.h>
#include <gambrel/delta.hpp>

#include "mapping/sample.hpp"

namespace gambrel {
namespace {

using namespace test;

double time_on(const char* gpu, double mhz, const Layer& layer) {
    return predict(layer, machine(gpu), *model_inputs(machine(gpu), Frequency{mhz * 1e6})).time.value() * 1e6;
}
double by_implicit_gemm(const char* gpu, double mhz, Layout layout, const Convolution& v) {
    Layer layer = layer_of(v, Pass::fwd, Precision::fp16);
    layer.hints.algorithm = "IMPLICIT_GEMM";
    layer.layout = layout;
    return time_on(gpu, mhz, layer);
}
double t4(const Convolution& v) { return by_implicit_gemm("t4", 585, Layout::nhwc, v); }
double v100(const Convolution& v) { return by_implicit_gemm("v100-sxm2-16gb", 1312, Layout::nhwc, v); }

// By tiles of 32 x 32, 64 x 128 and 64 x 256. As loads of FP32 they were predicted at 0.84, 1.00 and 0.82 of this.
TEST(ScatteredLoads, of_nhwc_pixels_take_a_line_each) {
    EXPECT_NEAR(t4(square(1024, 64, 56, 64, 3, 1)), 484297, 0.05 * 484297);
    EXPECT_NEAR(t4(square(1024, 512, 28, 128, 1)), 91106, 0.05 * 91106);
    EXPECT_NEAR(t4(square(1024, 2048, 7, 512, 1)), 55688, 0.1 * 55688);
    EXPECT_NEAR(v100(square(1024, 64, 56, 64, 3, 1)), 55104, 0.05 * 55104);
    EXPECT_NEAR(v100(square(1024, 1024, 14, 256, 1)), 10235, 0.1 * 10235);
}

// Three channels of 32 pixels lie in six lines: 29.2 ms, where 32 lines would take twice as long.
TEST(ScatteredLoads, of_pixels_that_share_a_line_take_it_once) {
    EXPECT_NEAR(v100(square(1024, 3, 224, 64, 7, 3, 2)), 29219, 0.1 * 29219);
}

// Two thirds of the time of 64 channels are stores; without them 0.54 was predicted.
TEST(ScatteredLoads, come_with_stores_of_two_filters_to_a_line_each) {
    EXPECT_NEAR(t4(square(1024, 64, 56, 256, 1)), 94178, 0.05 * 94178);
    EXPECT_NEAR(v100(square(1024, 64, 56, 256, 1)), 16066, 0.1 * 16066);
}

// implicit_convolve_hhgemm in 11.9 and 12.0 ms, where NHWC tensors take 29.0 and 22.1.
TEST(Engines, of_nchw_tensors_multiply_and_add_in_fp16) {
    const auto nchw = [](const Convolution& v) { return by_implicit_gemm("v100-sxm2-16gb", 1312, Layout::nchw, v); };
    EXPECT_NEAR(nchw(square(1024, 512, 7, 512, 3, 1)), 11886, 0.1 * 11886);
    EXPECT_NEAR(nchw(square(1024, 256, 14, 256, 3, 1)), 12019, 0.1 * 12019);
    EXPECT_NEAR(nchw(square(1024, 128, 28, 128, 3, 1)), 12317, 0.1 * 12317);
}

// Gradients pixel by pixel, of filters that lie a plane apart: 1,717 us, of which 0.66 were predicted.
TEST(ScatteredLoads, of_gradients_take_a_line_each_in_split_filter_gradients) {
    Convolution v = square(2, 1024, 48, 1024, 1);
    v.w = 72;
    Layer layer = layer_of(v, Pass::wgrad);
    layer.hints.kernel = "volta_scudnn_128x128_stridedB_splitK_interior_nn_v1";
    layer.hints.cold = true;
    layer.hints.timing = Timing::kernel;
    EXPECT_NEAR(time_on("v100-sxm2-16gb", 1311, layer), 1717, 0.05 * 1717);
}

}  // namespace
}  // namespace gambrel
