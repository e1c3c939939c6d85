// Operators of serving libraries, and kernels that torch.compile made before profilers recorded their inputs: what
// their names and grids show.
#include <gambrel/trace.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gambrel {
namespace {

using testing::HasSubstr;

struct Call {
    std::string name, dims, types;
    std::vector<std::pair<std::string, std::string>> kernels;  // name, grid
    std::string block = "128,1,1";
    std::string values = "[]";
};

Run run_of(const std::vector<Call>& calls, const std::string& gpu, std::vector<Layer> network = {}) {
    std::string text = R"({"deviceProperties":[{"id":0,"name":")" + gpu + R"("}],"traceEvents":[)";
    int id = 0, at = 0;
    for (const Call& call : calls) {
        text += std::string(id == 0 ? "" : ",") + R"({"ph":"X","cat":"cpu_op","name":")" + call.name +
                R"(","pid":1,"tid":1,"dur":900,"ts":)" + std::to_string(at) + R"(,"args":{)" +
                (call.dims.empty() ? ""
                                   : R"("Input Dims":)" + call.dims + R"(,"Input type":)" + call.types +
                                         R"(,"Concrete Inputs":)" + call.values) +
                "}}";
        for (const auto& [kernel, grid] : call.kernels) {
            const std::string number = std::to_string(++id);
            text += R"(,{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"dur":1,"ts":)" +
                    std::to_string(at + id % 100) + R"(,"args":{"correlation":)" + number +
                    R"(}},{"ph":"X","cat":"kernel","name":")" + kernel + R"(","pid":0,"tid":7,"dur":900,"ts":)" +
                    std::to_string(at + 1000 * (id % 100)) + R"(,"args":{"device":0,"stream":7,"correlation":)" +
                    number + R"(,"grid":[)" + grid + R"(],"block":[)" + call.block + "]}}";
        }
        at += 100'000;
    }
    const auto timeline = read_timeline(text + "]}", "t.json");
    EXPECT_TRUE(timeline) << (timeline ? "" : to_text(timeline.error()));
    TraceOptions options;
    options.network = std::move(network);
    auto run = to_run(*timeline, options);
    EXPECT_TRUE(run) << (run ? "" : to_text(run.error()));
    return run ? std::move(*run) : Run{};
}

double flop_of(const Kernel& k) {
    double sum = 0;
    for (const Pipe pipe : all_pipes())
        if (k.work[pipe]) sum += k.work[pipe]->value.value();
    return sum;
}

const Call kExperts{"vllm::moe_forward",
                    "[[888,3072],[888,128],[]]",
                    R"(["c10::BFloat16","c10::BFloat16",""])",
                    {{"bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_et128x16", "8,342,1"},
                     {"bmm_Bfloat16_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_et128x16", "24,342,1"},
                     {"void moe::dev::finalize::finalizeKernelVecLoad<int>(int)", "888,1,1"}}};

// 342 tiles of 16 tokens are room for 888 tokens with 4 of 128 experts each: (3552 + 128 x 15) / 16.
TEST(ServingOperators, experts_without_recorded_weights_have_the_sizes_that_their_grids_show) {
    const gambrel::Run run = run_of({kExperts}, "NVIDIA B200");
    ASSERT_EQ(run.kernels.size(), 3U);
    EXPECT_DOUBLE_EQ(flop_of(run.kernels[0]), 2.0 * 888 * 4 * 1024 * 3072);
    EXPECT_DOUBLE_EQ(flop_of(run.kernels[1]), 2.0 * 888 * 4 * 512 * 3072);
    ASSERT_TRUE(run.kernels[0].bytes[Level::dram]);
    // Weights of four bits with their scales, once: 128 x 1024 x 3072 / 2 bytes and a few percent.
    EXPECT_NEAR(run.kernels[0].bytes[Level::dram]->value.value() / (128.0 * 1024 * 3072 / 2), 1.15, 0.15);
    EXPECT_TRUE(run.kernels[2].bytes[Level::dram]);
}

TEST(ServingOperators, experts_of_other_kernels_take_their_sizes_from_the_network_or_stay_unknown) {
    Call triton = kExperts;
    triton.kernels = {{"fused_moe_kernel", "3000,1,1"}, {"fused_moe_kernel", "9000,1,1"}};
    const gambrel::Run unknown = run_of({triton}, "NVIDIA B200");
    EXPECT_FALSE(unknown.kernels[0].bytes[Level::dram]);
    EXPECT_THAT(unknown.kernels[0].reasons.back().str(), HasSubstr("--model-config"));
    Layer layer;
    layer.op = MixtureOfExperts{.tokens = 1, .hidden = 3072, .intermediate = 512, .experts = 128, .topk = 4};
    const gambrel::Run known = run_of({triton}, "NVIDIA B200", {layer});
    EXPECT_DOUBLE_EQ(flop_of(known.kernels[0]), 2.0 * 888 * 4 * 1024 * 3072);
    EXPECT_DOUBLE_EQ(flop_of(known.kernels[1]), 2.0 * 888 * 4 * 512 * 3072);
}

TEST(ServingOperators, attention_over_prompts_is_modelled_by_its_grid_and_over_a_cache_it_is_not) {
    Call call{
        "vllm::unified_attention_with_output",
        "[[888,8,64],[888,1,64],[888,1,64],[888,8,64],[],[],[]]",
        R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","c10::BFloat16","","",""])",
        {{"fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvCausalP16VarSeqQ128Kv128PersistentContext", "4,8,1"},
         {"fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvSlidingOrChunkedCausalP16VarSeqQ128PersistentContext", "4,8,1"},
         {"fmhaSm100fKernel_QkvBfloat16OBfloat16H64PagedKvCausalP64VarSeqQ8Kv128ForGen", "148,1,1"}}};
    const gambrel::Run run = run_of({call}, "NVIDIA B200");
    EXPECT_DOUBLE_EQ(flop_of(run.kernels[0]), 4.0 * 64 * 8 * 888 * 889 / 2);
    EXPECT_THAT(run.kernels[0].reasons.back().str(), HasSubstr("taken as those of this call's tokens"));
    EXPECT_THAT(run.kernels[1].reasons.back().str(), HasSubstr("window"));
    EXPECT_THAT(run.kernels[2].reasons.back().str(), HasSubstr("cache"));
}

TEST(ServingOperators, weights_of_four_bits_are_a_product_whose_width_follows_from_their_number) {
    // 4096 x 11008 weights, eight in an integer; argument 1 is absent in newer versions.
    const Call newer{"_C::gptq_marlin_gemm",
                     "[[16,4096],[],[256,22016],[],[32,11008]]",
                     R"(["c10::Half","","int","","c10::Half"])",
                     {{"void marlin::Marlin<long>(int4)", "108,1,1"}}};
    Call older = newer;
    older.dims = "[[16,4096],[256,22016],[32,11008]]", older.types = R"(["c10::Half","int","c10::Half"])";
    for (const Call& call : {newer, older}) {
        const gambrel::Run run = run_of({call}, "NVIDIA A100-SXM4-80GB");
        EXPECT_DOUBLE_EQ(flop_of(run.kernels[0]), 2.0 * 16 * 4096 * 11008);
        ASSERT_TRUE(run.kernels[0].bytes[Level::dram]);
        EXPECT_LT(run.kernels[0].bytes[Level::dram]->value.value(), 4096.0 * 11008);
    }
}

// 32768 CTAs of 128 threads are 33,554,432 elements: 8192 x 4096.
TEST(FusedKernels, without_recorded_inputs_are_known_by_name_and_grid_where_they_are_point_wise) {
    const Call product{"aten::mm",
                       "[[8192,4096],[4096,4096]]",
                       R"(["c10::Half","c10::Half"])",
                       {{"ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_tn", "64,32,1"}}};
    const Call fused{"triton_poi_fused_add_0", "", "", {{"triton__0d1d2d3d4de", "32768,1,1"}}};
    const Call reduction{"triton_red_fused_sum_0", "", "", {{"triton__0d1d2d", "64,1,1"}}};
    const gambrel::Run run = run_of({product, fused, reduction}, "NVIDIA A100-SXM4-80GB");
    ASSERT_EQ(run.kernels.size(), 3U);
    EXPECT_DOUBLE_EQ(flop_of(run.kernels[1]), 33554432);
    ASSERT_TRUE(run.kernels[1].bytes[Level::dram]);
    EXPECT_NEAR(run.kernels[1].bytes[Level::dram]->value.value(), 4 * 2 * 33554432.0, 1e6);
    EXPECT_FALSE(run.kernels[2].bytes[Level::dram]);
    EXPECT_THAT(run.kernels[2].reasons.back().str(), HasSubstr("not point-wise"));
}

}  // namespace
}  // namespace gambrel
