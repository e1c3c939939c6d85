// Does a row that sums counters over a framework's call give all kernels of that call?
#include <gambrel/network.hpp>

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

namespace gambrel {
namespace {

struct Kernels {
    std::string passes;  // of the convolutions, in order
    double copied = 0;   // elements read and written by all others
};

Kernels kernels(const std::string& framework, const std::string& precision, const std::string& pass,
                const std::string& pad = "0") {
    const auto table = read_layer_table(
        "framework,precision,N,C,H,W,K,R,S,stride,pad,pass,invocations,time_s,tc_flops,dram_bytes\n" + framework + "," +
            precision + ",16,64,112,112,128,3,3,2," + pad + "," + pass + ",9,0.001,1e9,1e8\n",
        "t.csv");
    EXPECT_TRUE(table);
    Kernels found;
    for (const Layer& layer : table->rows[0].layers) {
        EXPECT_TRUE(layer.hints.cold);
        if (std::holds_alternative<Convolution>(layer.op))
            found.passes += std::string(name(layer.pass)) + (layer.hints.other_layout ? "* " : " ");
        else
            found.copied += std::get<Streaming>(layer.op).read[0] + std::get<Streaming>(layer.op).written;
    }
    return found;
}

constexpr double kInput = 16.0 * 64 * 112 * 112, kOutput = 16.0 * 128 * 55 * 55, kPaddedOutput = 16.0 * 128 * 56 * 56;

TEST(ProfiledCall, of_pytorch_adds_a_bias_and_turns_fp16_tensors_over) {
    EXPECT_EQ(kernels("PT", "FP32", "forward").passes, "fwd ");
    EXPECT_EQ(kernels("PT", "FP32", "forward").copied, 2 * kOutput);
    EXPECT_EQ(kernels("PT", "FP16", "forward").passes, "fwd* ");
}

// FLOP that were counted, over those of a forward pass: 2.0 (PyTorch), 1.0 and 5.0 (TensorFlow 1 and 2).
TEST(ProfiledCall, of_a_backward_run_has_the_passes_that_the_script_runs) {
    EXPECT_EQ(kernels("PT", "FP32", "backward").passes, "fwd wgrad ");
    EXPECT_EQ(kernels("TF1", "FP32", "backward").passes, "wgrad ");
    EXPECT_EQ(kernels("TF2", "FP32", "backward").passes, "fwd dgrad wgrad dgrad wgrad ");
}

TEST(ProfiledCall, of_tensorflow_turns_fp32_tensors_over_and_pads_one_side_apart) {
    EXPECT_EQ(kernels("TF2", "FP16", "forward").copied, 0);
    EXPECT_EQ(kernels("TF2", "FP16", "forward", "SAME").copied, 2 * kInput);
    EXPECT_EQ(kernels("TF2", "FP32", "forward", "SAME").copied, 4 * kInput + 2 * kPaddedOutput);
    EXPECT_EQ(kernels("TF1", "FP16", "forward", "SAME").copied, 3 * kInput) << "and draws its input";
}

TEST(ProfiledCall, of_an_unknown_framework_is_dgrad_and_wgrad) {
    EXPECT_EQ(kernels("MX", "FP32", "backward").passes, "dgrad wgrad ");
}

}  // namespace
}  // namespace gambrel
