// Names as profilers print them, made short: readable, never wider than asked, and never the end of the run.
#include <fstream>
#include <map>
#include <random>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gambrel/kernel.hpp>

#include "kernel/quoted_csv.hpp"

namespace gambrel {
namespace {

std::size_t code_points(std::string_view s) {
    std::size_t n = 0;
    for (const char c : s) n += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    return n;
}

TEST(ShortName, library_names_are_kept) {
    EXPECT_EQ(short_name("volta_sgemm_128x64_nn"), "volta_sgemm_128x64_nn");
    EXPECT_EQ(short_name("saxpy(int, float, float *, float *)"), "saxpy");
    EXPECT_EQ(short_name("void saxpy<float>(int, T1, T1 *)"), "saxpy<float>");
}

TEST(ShortName, namespaces_return_types_and_parameters_go_and_arguments_stay) {
    EXPECT_EQ(
        short_name(
            "void at::native::vectorized_elementwise_kernel<(int)4, at::native::BinaryFunctor<float, float, float, "
            "at::native::binary_internal::MulFunctor<float>>, at::detail::Array<char *, (int)3>>(int, T2, T3)",
            200),
        "vectorized_elementwise_kernel<4, BinaryFunctor<float, float, float, MulFunctor<float>>, Array<char *, 3>>");
    EXPECT_EQ(
        short_name("void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 4>(float*, int)",
                   80),
        "CatArrayBatchedCopy<float, unsigned int, 4>");
    EXPECT_EQ(short_name("cudnn::gemm::computeOffsetsKernel(cudnn::gemm::ComputeOffsetsParams)"),
              "computeOffsetsKernel");
    EXPECT_EQ(short_name("void at::native::<unnamed>::softmax<float>(float *)"), "softmax<float>");
    EXPECT_EQ(
        short_name(
            "void k<at::native::copy_kernel(at::TensorIterator &)::[lambda() (instance 3)]::operator ()() const>(int)"),
        "k<copy_kernel>");
}

TEST(ShortName, what_does_not_fit_is_cut_in_the_middle_because_tiles_stand_at_the_end) {
    const std::string a = "Volta_hmma_implicit_gemm_wgrad_fp32_nhwc_128x128x64x1_1x1x1x0x1";
    const std::string b = "Volta_hmma_implicit_gemm_wgrad_fp32_nhwc_128x128x64x1_1x1x1x1x1";
    EXPECT_NE(short_name(a), short_name(b));
    EXPECT_EQ(code_points(short_name(a)), 48U);
    EXPECT_THAT(short_name(a), testing::AllOf(testing::StartsWith("Volta_hmma"), testing::EndsWith("_1x1x1x0x1")));
    EXPECT_EQ(short_name("abcdefghij", 5), "ab…ij");
    EXPECT_EQ(short_name("abcdefghij", 1), "…");
    EXPECT_EQ(short_name("abcdefghij", 0), "");
}

TEST(ShortName, names_of_deepcam_stay_apart_and_within_width) {
    const std::string folder = std::string(GAMBREL_SHARED_DATA) + "/deepcam/";
    std::set<std::string> names;
    for (const char* table : {"pytorch/expected/fp32-O0-Adam-fw.csv", "pytorch/expected/fp32-O1-Adam-bw.csv",
                              "pytorch/expected/fp32-O1-Adam-fw.csv", "tensorflow/expected/fp16-batch2-fw-amp.csv",
                              "tensorflow/expected/fp32-batch1-fw-noamp.csv"}) {
        std::ifstream file(folder + table);
        if (!file) GTEST_SKIP() << "shared data not found at " << folder + table;
        for (const auto& row : test::rows(file)) names.insert(row.at("Kernel Name"));
    }
    ASSERT_GT(names.size(), 100U);
    std::map<std::string, std::string> owner;
    int shared = 0;
    for (const auto& name : names) {
        for (const std::size_t width : {1U, 2U, 3U, 10U, 24U, 48U, 120U, 1000U}) {
            const std::string text = short_name(name, width);
            ASSERT_LE(code_points(text), width) << name;
            ASSERT_FALSE(text.empty()) << name;
        }
        const auto [it, fresh] = owner.emplace(short_name(name, 48), name);
        const bool library = name.find('<') == std::string::npos && name.find("::") == std::string::npos;
        if (library) {
            EXPECT_TRUE(fresh) << it->first << " is both " << name << " and " << it->second;
        }
        shared += !fresh;
    }
    // Template arguments that do not fit in 48 columns are left out, so PyTorch's elementwise kernels look alike. May
    // only fall.
    EXPECT_LE(shared, 65);
    RecordProperty("names", static_cast<int>(names.size()));
    RecordProperty("sharing_a_short_name", shared);
}

TEST(ShortName, a_kernel_of_cutlass_is_what_its_wrapper_calls) {
    EXPECT_EQ(short_name("void cutlass::Kernel2<cutlass_80_simt_sgemm_128x256_8x4_tt_align1>(T1::Params)"),
              "cutlass_80_simt_sgemm_128x256_8x4_tt_align1");
    EXPECT_THAT(
        short_name("void cutlass::Kernel2<cutlass_80_tensorop_s16816gemm_f16_256x64_32x4_nn_align8>(T1::Params)", 30),
        testing::HasSubstr("256x64"));
    const std::string hopper =
        "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int, int, int>, "
        "cutlass::gemm::collective::CollectiveMma<cutlass::gemm::MainloopSm90TmaGmmaWarpSpecialized<7, "
        "cute::tuple<cute::C<2>, cute::C<1>, cute::C<1>>, cutlass::gemm::KernelTmaWarpSpecializedPingpong>, "
        "cute::tuple<cute::C<64>, cute::C<128>, cute::C<64>>, cutlass::bfloat16_t, cute::tuple<long, cute::C<1>, "
        "long>>, "
        "void, void>>(T1::Params)";
    EXPECT_EQ(short_name(hopper), "GemmUniversal<64x128x64 bf16>");
    EXPECT_THAT(
        short_name("void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<flash::"
                   "CollectiveMainloopFwdSm90<2, cute::tuple<cute::C<1>, cute::C<1>, cute::C<1>>, "
                   "cute::tuple<cute::C<128>, cute::C<176>, cute::C<128>>, 128, cutlass::bfloat16_t, float>>>>(P)"),
        testing::AllOf(testing::StartsWith("FlashAttnFwdSm90<"), testing::HasSubstr("128x176x128 bf16")));
    EXPECT_EQ(short_name("void Kernel<float>(int)"), "Kernel<float>") << "a kernel of somebody else";
}

TEST(ShortNames, of_different_kernels_in_one_view_differ) {
    const std::string base =
        "void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, float, "
        "float, at::native::binary_internal::";
    const std::vector<std::string> full = {
        base + "MulFunctor<float>>, Array<char*, 3>>(int)",
        base + "DivFunctor<float>>, Array<char*, 3>>(int)",
        base + "MulFunctor<float>>, Array<char*, 3>>(int)",
        "saxpy(int)",
        "fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvCausalP16VarSeqQ128Kv128Context",
        "fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvSlidingCausalP16VarSeqQ128Kv128Context"};
    const std::vector<std::string_view> views(full.begin(), full.end());
    for (const std::size_t width : {24U, 48U, 64U}) {
        const auto shown = short_names(views, width);
        ASSERT_EQ(shown.size(), full.size());
        EXPECT_EQ(shown[0], shown[2]);
        EXPECT_NE(shown[0], shown[1]);
        EXPECT_EQ(shown[3], "saxpy");
        EXPECT_NE(shown[4], shown[5]);
        for (const std::string& text : shown) EXPECT_LE(code_points(text), width) << text;
    }
    EXPECT_THAT(short_names(views, 48)[1], testing::HasSubstr("DivFunctor"));
}

TEST(ShortName, hostile_names_neither_crash_nor_widen) {
    std::vector<std::string> names{"",
                                   " ",
                                   "<",
                                   ">",
                                   "(",
                                   ")",
                                   "::",
                                   "<>",
                                   "a<",
                                   "a<b",
                                   "a<b>>>>>",
                                   "operator()",
                                   "void ",
                                   "(((((",
                                   "{lambda",
                                   "a::{lambda",
                                   ",,,",
                                   "a<,,,>",
                                   "\xff\xfe\x80\x80",
                                   "é<ü>",
                                   std::string("a\0b", 3)};
    for (const std::string_view part : {"<", "a<", "(", "a(", "::", "a::", "<a,", "{", "[", ")", ">", "\xc3", "\x80",
                                        "operator", "a<(", "x<y::{lambda("}) {
        std::string many;
        for (int i = 0; i < 10000; ++i) many += part;
        names.push_back(many);
    }
    names.push_back(std::string(10000, '(') + std::string(10000, ')'));
    for (const auto& name : names)
        for (const std::size_t width : {0U, 1U, 2U, 48U})
            EXPECT_LE(code_points(short_name(name, width)), width) << name.substr(0, 20);
}

TEST(ShortName, random_bytes_neither_crash_nor_widen) {
    std::mt19937 random(7);
    constexpr std::string_view alphabet = "ab<>(){}[]:, _#\xc3\xa9\x80\xff*&operatorlambda";
    for (int i = 0; i < 5000; ++i) {
        std::string name;
        for (auto n = random() % 60; n > 0; --n) name += alphabet[random() % alphabet.size()];
        ASSERT_LE(code_points(short_name(name, 20)), 20U) << name;
    }
}

}  // namespace
}  // namespace gambrel
