// Do operators of a trace get the work and bytes that their shapes say, and is what is not known refused with a reason?
#include <gambrel/trace.hpp>

#include <filesystem>
#include <fstream>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace gambrel {
namespace {

using testing::HasSubstr;

// One operator on an A100 and the kernels that it launched.
std::string trace_of(const std::string& op, const std::string& inputs, const std::vector<std::string>& kernels) {
    std::string text =
        R"({"deviceProperties":[{"id":0,"name":"NVIDIA A100-SXM4-40GB"}],"traceEvents":[{"ph":"X","cat":"cpu_op","name":")" +
        op + R"(","pid":1,"tid":1,"ts":100,"dur":100,"args":{)" + inputs + "}}";
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        const std::string n = std::to_string(i + 1);
        text += R"(,{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":10)" + n +
                R"(,"dur":1,"args":{"correlation":)" + n + "}}";
        text += R"(,{"ph":"X","cat":"kernel","name":")" + kernels[i] + R"(","pid":0,"tid":7,"ts":30)" + n +
                R"(0,"dur":900,"args":{"device":0,"stream":7,"correlation":)" + n +
                R"(,"grid":[64,1,1],"block":[256,1,1]}})";
    }
    return text + "]}";
}

std::vector<Kernel> kernels_of(const std::string& text, const TraceOptions& options = {}) {
    const auto timeline = read_timeline(text, "t");
    EXPECT_TRUE(timeline) << to_text(timeline.error());
    auto run = to_run(*timeline, options);
    EXPECT_TRUE(run) << to_text(run.error());
    return run ? std::move(run->kernels) : std::vector<Kernel>{};
}

double dram(const Kernel& k) { return k.bytes[Level::dram] ? k.bytes[Level::dram]->value.value() : -1; }
double work(const Kernel& k) { return flop(k) ? flop(k)->value.value() : -1; }

TEST(Operators, a_matrix_product_does_two_flop_for_each_multiply_add_on_the_pipe_of_its_type) {
    const auto k = kernels_of(trace_of(
        "aten::mm",
        R"("Input Dims":[[512,256],[256,1024]],"Input type":["c10::Half","c10::Half"],"Concrete Inputs":["",""])",
        {"ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_tn"}));
    ASSERT_EQ(k.size(), 1u);
    EXPECT_EQ(k[0].time_class.str(), "modelled");
    EXPECT_DOUBLE_EQ(work(k[0]), 2.0 * 512 * 256 * 1024);
    EXPECT_GT(k[0].work[Pipe::tensor_fp16]->value.value(), 0);
    EXPECT_GE(dram(k[0]), 2.0 * (512 * 256 + 256 * 1024 + 512 * 1024));
    EXPECT_EQ(k[0].time->origin, Origin::measured);
    EXPECT_EQ(k[0].bytes[Level::l2]->origin, Origin::modelled);
}

TEST(Operators, a_convolution_with_recorded_stride_is_that_convolution) {
    const auto k =
        kernels_of(trace_of("aten::cudnn_convolution",
                            R"("Input Dims":[[8,64,56,56],[128,64,3,3],[],[],[],[]],)"
                            R"("Input type":["float","float","ScalarList","ScalarList","ScalarList","Scalar"],)"
                            R"("Concrete Inputs":["","","[1, 1]","[2, 2]","[1, 1]","1"])",
                            {"ampere_scudnn_128x64_relu_interior_nn_v1", "void cudnn::nchwToNhwcKernel<float>"}));
    ASSERT_EQ(k.size(), 2u);
    EXPECT_DOUBLE_EQ(work(k[0]), 2.0 * 8 * 128 * 28 * 28 * 64 * 9);
    // The layout change is a kernel of its own: it moves the larger operand, the input, and computes nothing.
    EXPECT_DOUBLE_EQ(work(k[1]), 0);
    EXPECT_DOUBLE_EQ(dram(k[1]), 2.0 * 4 * 8 * 64 * 56 * 56);
}

TEST(Operators, a_broadcast_operand_is_read_once) {
    const auto k =
        kernels_of(trace_of("aten::add",
                            R"("Input Dims":[[1000,1000],[1000],[]],"Input type":["float","float","Scalar"],)"
                            R"("Concrete Inputs":["","","1"])",
                            {"void at::native::elementwise_kernel<128, 2, add>"}));
    EXPECT_DOUBLE_EQ(dram(k.at(0)), 4.0 * (2 * 1000 * 1000 + 1000));
    EXPECT_DOUBLE_EQ(work(k.at(0)), 1e6);
}

TEST(Operators, an_expanded_tensor_is_counted_as_it_lies_in_memory) {
    const auto k =
        kernels_of(trace_of("aten::copy_",
                            R"("Input Dims":[[100,1000],[100,1000],[]],"Input type":["float","float","Scalar"],)"
                            R"("Input Strides":[[1000,1],[0,1],[]],"Concrete Inputs":["","","False"])",
                            {"void at::native::elementwise_kernel<128, 2, copy>"}));
    EXPECT_DOUBLE_EQ(dram(k.at(0)), 4.0 * (100 * 1000 + 1000));
    EXPECT_DOUBLE_EQ(work(k.at(0)), 0);
}

TEST(Operators, causal_attention_does_half_the_work) {
    const auto attention = [](const char* causal) {
        return kernels_of(
            trace_of("aten::_flash_attention_forward",
                     R"("Input Dims":[[2,512,8,64],[2,512,8,64],[2,512,8,64],[],[],[],[],[],[]],)"
                     R"("Input type":["c10::Half","c10::Half","c10::Half","","","Scalar","Scalar","Scalar","Scalar"],)"
                     R"("Concrete Inputs":["","","","","","512","512","0.",")" +
                         std::string(causal) + "\"]",
                     {"flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 64, 4> >"}));
    };
    const double whole = work(attention("False").at(0)), half = work(attention("True").at(0));
    EXPECT_DOUBLE_EQ(whole, 4.0 * 2 * 8 * 512 * 512 * 64);
    EXPECT_NEAR(half / whole, 0.5, 0.002);
    EXPECT_DOUBLE_EQ(dram(attention("False").at(0)), 4.0 * 2 * 2 * 512 * 8 * 64);
}

// The memory-efficient kernels have the type of their mask where the version of PyTorch has put it.
double work_of_efficient_attention(const std::string& op, std::size_t first, std::size_t count,
                                   const std::map<std::size_t, std::string>& values) {
    std::string dims, types, concrete;
    for (std::size_t i = 0; i < count; ++i) {
        const std::string comma = i == 0 ? "" : ",";
        const bool tensor = i >= first && i < first + 3;
        dims += comma + (tensor ? "[2,512,8,64]" : "[]");
        types += comma + (tensor ? R"("c10::Half")" : R"("Scalar")");
        concrete += comma + '"' + (values.contains(i) ? values.at(i) : "") + '"';
    }
    return work(kernels_of(trace_of(op,
                                    R"("Input Dims":[)" + dims + R"(],"Input type":[)" + types +
                                        R"(],"Concrete Inputs":[)" + concrete + "]",
                                    {"fmha_cutlassF_f16_aligned_64x64_rf_sm80"}))
                    .at(0));
}

TEST(Operators, the_mask_of_efficient_attention_is_found_in_every_version) {
    const auto work_with = [](const std::string& op, std::size_t first, std::size_t count,
                              const std::map<std::size_t, std::string>& values) {
        return work_of_efficient_attention("aten::" + op, first, count, values);
    };
    const std::string forward = "_efficient_attention_forward", backward = "_efficient_attention_backward",
                      outer = "_scaled_dot_product_efficient_attention_backward";
    const double whole = 4.0 * 2 * 8 * 512 * 512 * 64;
    EXPECT_DOUBLE_EQ(work_with(forward, 0, 13, {{8, "0."}, {9, "0"}, {10, "True"}}), whole) << "2.4 and later";
    EXPECT_NEAR(work_with(forward, 0, 13, {{8, "0."}, {9, "1"}, {10, "True"}}) / whole, 0.5, 0.002);
    EXPECT_DOUBLE_EQ(work_with(forward, 0, 12, {{7, "0."}, {8, "0"}, {9, "True"}}), whole) << "2.1 to 2.3";
    EXPECT_NEAR(work_with(forward, 0, 12, {{7, "0."}, {8, "1"}, {9, "True"}}) / whole, 0.5, 0.002);
    EXPECT_NEAR(
        work_with(backward, 1, 18, {{14, "1"}, {15, "True"}}) / work_with(backward, 1, 18, {{14, "0"}, {15, "True"}}),
        0.5, 0.002);
    EXPECT_NEAR(work_with(outer, 1, 13, {{10, "[True, True, True, False]"}, {11, "True"}}) /
                    work_with(outer, 1, 13, {{10, "[True, True, True, False]"}, {11, "False"}}),
                9.0 / 16, 0.002)
        << "heads before tokens: of eight tokens";
}

// Packed sequences: 1024 tokens of two sequences, the longest of which is given.
Kernel packed_attention(const std::string& longest) {
    return kernels_of(trace_of("flash_attn::_flash_attn_varlen_forward",
                               R"("Input Dims":[[1024,8,64],[1024,8,64],[1024,8,64],[3],[3],[],[],[],[],[],[]],)"
                               R"("Input type":["c10::BFloat16","c10::BFloat16","c10::BFloat16","int","int","Scalar",)"
                               R"("Scalar","Scalar","Scalar","Scalar","Scalar"],)"
                               R"("Concrete Inputs":["","","","","",")" +
                                   longest + R"(",")" + longest + R"(","0.","0.125","True","-1"])",
                               {"flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4> >"}))
        .at(0);
}

TEST(Operators, packed_sequences_are_modelled_where_their_number_and_longest_settle_the_lengths) {
    const Kernel equal = packed_attention("512");
    EXPECT_EQ(equal.time_class.str(), "modelled");
    EXPECT_DOUBLE_EQ(work(equal), 4.0 * 8 * 64 * 2 * (512 * 513 / 2));
    EXPECT_DOUBLE_EQ(dram(equal), 2.0 * 4 * 1024 * 8 * 64);
    const Kernel unequal = packed_attention("1000");
    EXPECT_EQ(unequal.time_class.str(), "unmodelled");
    EXPECT_THAT(unequal.reasons.back().str(), HasSubstr("packed sequences"));
}

TEST(Operators, a_grouped_product_counts_each_token_once) {
    const auto k = kernels_of(
        trace_of("aten::_grouped_mm",
                 R"("Input Dims":[[4096,2048],[8,2048,768],[8],[],[]],)"
                 R"("Input type":["c10::BFloat16","c10::BFloat16","int","",""],"Concrete Inputs":["","","","",""])",
                 {"void cutlass::device_kernel<GroupProblemShape>"}));
    EXPECT_DOUBLE_EQ(work(k.at(0)), 2.0 * 4096 * 2048 * 768);
    EXPECT_GE(dram(k.at(0)), 2.0 * (4096 * 2048 + 8 * 2048 * 768 + 4096 * 768));
    EXPECT_LT(dram(k.at(0)), 3.0 * (4096 * 2048 + 8 * 2048 * 768 + 4096 * 768));
}

TEST(Operators, fused_experts_are_two_products_of_the_chosen_rows) {
    const auto k = kernels_of(trace_of(
        "vllm::inplace_fused_experts",
        R"("Input Dims":[[64,2048],[8,1536,2048],[8,2048,768],[64,2],[64,2]],)"
        R"("Input type":["c10::BFloat16","c10::BFloat16","c10::BFloat16","float","int"],"Concrete Inputs":["","","","",""])",
        {"fused_moe_kernel", "fused_moe_kernel"}));
    ASSERT_EQ(k.size(), 2u);
    EXPECT_DOUBLE_EQ(work(k[0]), 2.0 * 128 * 1536 * 2048);
    EXPECT_DOUBLE_EQ(work(k[1]), 2.0 * 128 * 768 * 2048);
    EXPECT_GE(dram(k[0]), 2.0 * 8 * 1536 * 2048);
}

TEST(Operators, a_bag_of_embeddings_reads_its_rows_and_writes_their_sums) {
    const auto k = kernels_of(trace_of("aten::_embedding_bag",
                                       R"("Input Dims":[[100000,64],[4096],[256]],)"
                                       R"("Input type":["float","long int","long int"])",
                                       {"EmbeddingBag_updateOutputKernel_sum_mean<float, long>"}));
    ASSERT_EQ(k.size(), 1u);
    EXPECT_EQ(k[0].time_class.str(), "modelled");
    EXPECT_NEAR(k[0].bytes[Level::l1]->value.value(), 4096 * (64 * 4 + 8) + 256 * 64 * 4, 4096);
    EXPECT_DOUBLE_EQ(work(k[0]), 4096.0 * 64);
}

TEST(Operators, kernels_of_a_search_read_its_input_and_those_that_only_prepare_read_nothing) {
    const auto k = kernels_of(trace_of("aten::nonzero", R"("Input Dims":[[1000000]],"Input type":["bool"])",
                                       {"void cub::DeviceReduceKernel<x>", "void cub::DeviceCompactInitKernel<x>",
                                        "void cub::DeviceSelectSweepKernel<x>"}));
    ASSERT_EQ(k.size(), 3u);
    for (const Kernel& kernel : k) EXPECT_EQ(kernel.time_class.str(), "modelled");
    EXPECT_GT(k[0].bytes[Level::l1]->value.value(), 0.99e6);
    EXPECT_LT(k[1].bytes[Level::l1]->value.value(), 0.01e6);
    EXPECT_GT(k[2].bytes[Level::l1]->value.value(), 0.99e6);
}

TEST(Operators, what_no_gpu_does_in_the_measured_time_is_refused) {
    const auto k = kernels_of(trace_of("aten::relu", R"("Input Dims":[[40000,40000]],"Input type":["float"])",
                                       {"vectorized_elementwise_kernel<4, relu>"}));
    ASSERT_EQ(k.size(), 1u);
    EXPECT_EQ(k[0].time_class.str(), "unmodelled");
    EXPECT_FALSE(k[0].bytes[Level::dram]);
    EXPECT_FALSE(flop(k[0]));
    ASSERT_FALSE(k[0].reasons.empty());
    EXPECT_THAT(k[0].reasons.back().str(), HasSubstr("not what this kernel did"));
}

TEST(Operators, an_unknown_operator_is_a_row_with_a_reason) {
    const std::string text =
        trace_of("mylib::scale_rows", R"("Input Dims":[[100,50],[100]],"Input type":["float","float"])", {"scale"});
    const auto k = kernels_of(text);
    EXPECT_EQ(k.at(0).time_class.str(), "unmodelled");
    EXPECT_THAT(k.at(0).reasons.back().str(), HasSubstr("no rule for operator mylib::scale_rows"));
    EXPECT_FALSE(k.at(0).bytes[Level::dram]);
}

TEST(Operators, a_user_can_add_an_operator) {
    const auto path =
        std::filesystem::temp_directory_path() / ("gambrel_operators_" + std::to_string(::getpid()) + ".json");
    std::ofstream(path)
        << R"({"schema":"gambrel-operators-1","operators":[{"names":["mylib::scale_*"],"rule":"stream",)"
           R"("read":[0,1],"write":"first","flop":1}]})";
    TraceOptions options;
    options.operator_files = {path.string()};
    const auto k = kernels_of(
        trace_of("mylib::scale_rows", R"("Input Dims":[[100,50],[100]],"Input type":["float","float"])", {"scale"}),
        options);
    EXPECT_DOUBLE_EQ(dram(k.at(0)), 4.0 * (2 * 5000 + 100));
    std::ofstream(path) << R"({"schema":"gambrel-operators-1","operators":[{"names":["a"],"rule":"steam"}]})";
    const auto timeline = read_timeline(trace_of("a", "", {"k"}), "t");
    const auto wrong = to_run(*timeline, options);
    ASSERT_FALSE(wrong);
    EXPECT_THAT(wrong.error().front().what, HasSubstr("steam"));
    std::filesystem::remove(path);
}

TEST(Operators, hostile_shapes_are_refused) {
    for (const char* inputs :
         {R"("Input Dims":[[9223372036854775807,2],[2,9223372036854775807]],"Input type":["float","float"])",
          R"("Input Dims":[[-1,2],[2,2]],"Input type":["float","float"])", R"("Input Dims":[[]],"Input type":[])",
          R"("Input Dims":"x","Input type":7)", R"("Input Dims":[[0,4],[4,4]],"Input type":["float","float"])"})
        EXPECT_EQ(kernels_of(trace_of("aten::mm", inputs, {"sgemm_128x64"})).at(0).time_class.str(), "unmodelled")
            << inputs;
}

}  // namespace
}  // namespace gambrel
