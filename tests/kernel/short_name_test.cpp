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
