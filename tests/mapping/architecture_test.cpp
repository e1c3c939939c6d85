// What the rules take from an architecture's file, shown with an invented one; and which precisions a GPU computes in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gambrel/mapping.hpp>

#include "base/embedded.hpp"
#include "mapping/sample.hpp"

namespace gambrel {
namespace {

using namespace test;
using testing::HasSubstr;

Machine of_next_generation() {
    std::string text;
    for (const auto& [name, file] : embedded("architectures"))
        if (name == "hopper") text = file;
    const auto put = [&](const std::string& from, const std::string& to) {
        const std::size_t at = text.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        text.replace(at, from.size(), to);
    };
    put("\"128x256x64\", \"256x128x64\", \"128x128x64\", \"128x64x64\", \"64x64x64\"", "\"256x256x128\"");
    const std::size_t products = text.find("\"tiles\"", text.find("\"matrix_gemm\"")), end = text.find(']', products);
    text.replace(products, end - products, "\"tiles\": [\"256x256x128\"");
    put("\"stages\": 4", "\"stages\": 3");
    put("\"threads\": 384", "\"threads\": 512");
    put("\"registers\": 168", "\"registers\": 128");
    put("[\"9.0\"]", "[\"14.0\"]");
    auto parsed = parse_architecture(text, "next.json");
    EXPECT_TRUE(parsed) << to_text(parsed.error());
    Machine m = machine("h100-sxm");
    m.compute_capability = ComputeCapability{14, 0};
    m.own_architecture = std::make_shared<const Architecture>(std::move(*parsed));
    return m;
}

TEST(NextGeneration, is_mapped_by_its_file_alone) {
    const Machine next = of_next_generation();
    Layer layer = layer_of(Gemm{.m = 8192, .n = 8192, .k = 8192}, Pass::fwd, Precision::fp8);
    const Mapping m = mapping_for(layer, next);
    EXPECT_EQ(m.cta, (Tile{256, 256, 128}));
    EXPECT_EQ(m.threads, 512);
    EXPECT_EQ(m.stages, 3);
    EXPECT_GT(occupancy(next, m).ctas_per_sm, 0);
    EXPECT_EQ(known_tiles(next, m.pipe).size(), 1U);
}

TEST(Precisions, that_no_pipe_computes_in_are_refused_with_those_that_the_gpu_has) {
    const auto refused = [](const char* gpu, Precision precision) {
        const auto pipe = pipe_for(layer_of(Gemm{.m = 64, .n = 64, .k = 64}, Pass::fwd, precision), machine(gpu));
        return pipe ? std::string() : to_text(pipe.error());
    };
    EXPECT_THAT(refused("v100-sxm2-16gb", Precision::fp8),
                HasSubstr("does not compute in fp8; it has fp64, fp32, fp16"));
    EXPECT_NE(refused("v100-sxm2-16gb", Precision::bf16), "");
    EXPECT_NE(refused("v100-sxm2-16gb", Precision::tf32), "");
    EXPECT_NE(refused("p100-pcie-16gb", Precision::int8), "");
    EXPECT_EQ(refused("h100-sxm", Precision::fp8), "");
    EXPECT_EQ(refused("a100-sxm4-80gb", Precision::bf16), "");
}

TEST(Precisions, fp16_tensors_on_a_gpu_without_fp16_are_computed_in_fp32_and_that_is_noted) {
    const Layer layer = layer_of(Gemm{.m = 64, .n = 64, .k = 64}, Pass::fwd, Precision::fp16);
    const auto pipe = pipe_for(layer, machine("m60"));
    ASSERT_TRUE(pipe);
    EXPECT_EQ(pipe->pipe, Pipe::fp32);
    EXPECT_THAT(pipe->note, HasSubstr("computed in FP32"));
    EXPECT_EQ(pipe_for(layer, machine("v100-sxm2-16gb"))->note, "");
}

// Counters of DeepCAM on V100: implicit_convolve_sgemm<__half, ...> does 195.7 GFLOP in FP32 and 0.6 in FP16.
TEST(Pipes, kernels_of_single_precision_multiply_half_tensors_in_fp32) {
    Layer layer = layer_of(Gemm{.m = 64, .n = 64, .k = 64}, Pass::fwd, Precision::fp16);
    const std::pair<const char*, Pipe> kernels[] = {
        {"void cudnn::detail::implicit_convolve_sgemm<__half, __half, 512, 6, 8, 3, 3, 5, 1, true>", Pipe::fp32},
        {"volta_fp16_sgemm_fp16_32x32_sliced1x4_tn", Pipe::fp32},
        {"volta_hgemm_128x64_nn", Pipe::fp16},
        {"volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_tn", Pipe::tensor_fp16}};
    for (const auto& [kernel, pipe] : kernels) {
        layer.hints.kernel = kernel;
        EXPECT_EQ(pipe_for(layer, machine("v100-sxm2-16gb"))->pipe, pipe) << kernel;
    }
}

// What is asked once for a machine must be what every layer would be told.
TEST(Precisions, that_a_gpu_computes_plainly_have_neither_an_error_nor_a_note) {
    const auto of_any = [](Precision precision) {
        std::vector<Layer> layers = {layer_of(Gemm{.m = 64, .n = 64, .k = 64}, Pass::fwd, precision),
                                     layer_of(square(1, 60, 14, 60, 3), Pass::dgrad, precision)};
        layers.push_back(layers.front());
        layers.back().hints.kernel = "volta_fp16_sgemm_fp16_32x32_sliced1x4_tn";
        layers.push_back(layers.front());
        layers.back().hints.tensor_core = false;
        return layers;
    };
    for (const Machine& gpu : catalogue())
        for (std::size_t i = 0; i < kPrecisions; ++i) {
            const auto precision = static_cast<Precision>(i);
            if (!computes_plainly(gpu, precision)) continue;
            for (const Layer& layer : of_any(precision)) {
                const auto pipe = pipe_for(layer, gpu);
                ASSERT_TRUE(pipe) << gpu.id << ", " << name(precision);
                EXPECT_EQ(pipe->note, "") << gpu.id << ", " << name(precision);
            }
        }
    EXPECT_TRUE(computes_plainly(machine("v100-sxm2-16gb"), Precision::fp16));
    EXPECT_FALSE(computes_plainly(machine("v100-sxm2-16gb"), Precision::bf16));
    EXPECT_FALSE(computes_plainly(machine("p100-pcie-16gb"), Precision::fp16));  // with a note
    EXPECT_TRUE(computes_plainly(machine("h100-sxm"), Precision::fp8));
}

TEST(Precisions, of_layers_that_do_not_multiply_need_no_pipe) {
    Layer copy{"copy", Streaming{.kind = StreamingKind::copy, .read = {1e6}, .written = 1e6}};
    copy.precision = Precision::int8;
    EXPECT_TRUE(pipe_for(copy, machine("k80")));
}

}  // namespace
}  // namespace gambrel
