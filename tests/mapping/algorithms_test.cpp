// Which algorithms is a layer tried by where nobody says which one runs?
#include <gtest/gtest.h>

#include <gambrel/mapping.hpp>

#include "mapping/rules.hpp"
#include "mapping/sample.hpp"

namespace gambrel {
namespace {

using namespace test;

std::vector<std::string> algorithms(Layer layer, const std::string& gpu = "v100") {
    layer.hints.algorithm = kFastestAlgorithm;
    std::vector<std::string> names;
    for (const Layer& each : by_library_algorithms(layer, machine(gpu))) names.push_back(each.hints.algorithm);
    return names;
}
using Names = std::vector<std::string>;

TEST(Algorithms, a_3x3_layer_of_stride_1_has_those_of_implicit_gemm_and_both_of_winograd) {
    const Names all = {"", "IMPLICIT_GEMM", "IMPLICIT_PRECOMP_GEMM", "WINOGRAD", "WINOGRAD_NONFUSED"};
    EXPECT_EQ(algorithms(layer_of(square(8, 64, 56, 64, 3, 1))), all);
}

TEST(Algorithms, winograd_is_left_out_where_it_does_not_apply) {
    const Names implicit = {"", "IMPLICIT_GEMM", "IMPLICIT_PRECOMP_GEMM"};
    EXPECT_EQ(algorithms(layer_of(square(8, 64, 56, 64, 1))), implicit);
    EXPECT_EQ(algorithms(layer_of(square(8, 64, 56, 64, 3, 1, 2))), implicit);
    EXPECT_EQ(algorithms(layer_of(square(8, 64, 56, 64, 5, 2))).back(), "WINOGRAD_NONFUSED");
}

TEST(Algorithms, a_gradient_of_the_input_has_no_forward_engines) {
    EXPECT_EQ(algorithms(layer_of(square(8, 64, 56, 64, 3, 1), Pass::dgrad)),
              (Names{"", "WINOGRAD", "WINOGRAD_NONFUSED"}));
}

TEST(Algorithms, a_gradient_of_filters_has_no_fused_kernel) {
    EXPECT_EQ(algorithms(layer_of(square(8, 64, 56, 64, 3, 1), Pass::wgrad)), (Names{"", "WINOGRAD_NONFUSED"}));
    EXPECT_EQ(algorithms(layer_of(square(8, 64, 56, 64, 1), Pass::wgrad)), Names{""});
}

TEST(Algorithms, there_is_no_choice_on_tensor_cores_and_for_groups) {
    EXPECT_EQ(algorithms(layer_of(square(8, 64, 56, 64, 3, 1), Pass::fwd, Precision::fp16)), Names{""});
    Convolution grouped = square(8, 64, 56, 64, 3, 1);
    grouped.groups = 2;
    EXPECT_EQ(algorithms(layer_of(grouped)), Names{""});
}

TEST(Algorithms, a_layer_that_names_its_own_keeps_it) {
    Layer named = layer_of(square(8, 64, 56, 64, 3, 1));
    named.hints.algorithm = "GEMM";
    const auto all = by_library_algorithms(named, machine("v100"));
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all.front().hints.algorithm, "GEMM");
    EXPECT_FALSE(all.front().hints.algorithm_found);
}

TEST(Algorithms, are_known_by_their_words_whatever_stands_around_these) {
    using mapping_detail::parse_algorithm;
    for (const std::string_view name : kAlgorithmNames)
        EXPECT_EQ(parse_algorithm(name), parse_algorithm("cuDNN's " + std::string(name) + "!")) << name;
    EXPECT_TRUE(parse_algorithm("IMPLICIT_GEMM").implicit_gemm);
    EXPECT_FALSE(parse_algorithm("IMPLICIT_PRECOMP_GEMM").implicit_gemm);
    EXPECT_TRUE(parse_algorithm("GEMM").written_out);
    EXPECT_FALSE(parse_algorithm("winograd").winograd);
    EXPECT_TRUE(parse_algorithm("Winograd, nonfused").says_winograd);
    EXPECT_EQ(parse_algorithm(""), mapping_detail::AlgorithmName{});
}

}  // namespace
}  // namespace gambrel
