// The sentences that answer: what to scale, what a layer is, what to change.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/answer_text.hpp"
#include "report/estimate_words.hpp"
#include "report/explore_charts.hpp"
#include "report/sample.hpp"

namespace gambrel {
namespace {

using namespace report_detail;
using ::testing::HasSubstr;
using ::testing::Not;

Sensitivity sensitivity(Resource resource, double half_more) {
    Sensitivity s;
    s.resource = resource, s.half_more = half_more;
    return s;
}

TEST(ExploreAnswer, names_the_resource_that_gains_most_and_the_next_two) {
    ExplorationReport report;
    report.sensitivities = {sensitivity(Resource::sms, 1.04), sensitivity(Resource::dram_bandwidth, 1.31),
                            sensitivity(Resource::clock, 1.12), sensitivity(Resource::registers, 1.0)};
    EXPECT_EQ(explore_answer(report), "DRAM bandwidth first: +50 % gives 1.31x; clock alone 1.12x, SMs alone 1.04x.");
    report.sensitivities = {sensitivity(Resource::sms, 1.01), sensitivity(Resource::clock, 1.015)};
    EXPECT_THAT(explore_answer(report), HasSubstr("No single resource matters"));
    report.sensitivities.clear();
    EXPECT_EQ(explore_answer(report), "");
}

TEST(EstimateWords, name_operator_and_shape) {
    Convolution c;
    c.n = 32, c.c = 64, c.h = 56, c.w = 56, c.k = 128, c.r = 3, c.s = 3, c.stride_h = 2, c.stride_w = 2;
    c.pad_top = c.pad_bottom = c.pad_left = c.pad_right = 1;
    Layer layer;
    layer.op = c;
    EXPECT_EQ(operator_text(layer), "conv 3x3 /2");
    EXPECT_EQ(shape_text(layer), "64x56x56 -> 128x28x28");
    Gemm g;
    g.m = 512, g.n = 1024, g.k = 768;
    layer.op = g;
    EXPECT_EQ(operator_text(layer), "gemm");
    EXPECT_EQ(shape_text(layer), "512x1024x768");
}

// One kernel in two phases is two rows, which name alone does not tell apart.
TEST(AnswerText, a_kernel_of_two_phases_is_named_with_its_phase) {
    const auto gemm = [](double time, std::string phase) {
        return sample::kernel({"gemm_128x128", 1, time, 40e9, 0, 0, 0, 1e9, 1e9, std::move(phase)});
    };
    const auto softmax = sample::kernel({"softmax", 1, 0.7, 1e9, 0, 0, 0, 1e9, 1e9, "attention"});
    const Analysis two =
        sample::analysis_of({gemm(0.9, "mlp"), gemm(0.8, "attention"), softmax}, sample::toy_machine(), "two phases");
    EXPECT_THAT(answer_text(two), HasSubstr("gemm_128x128 in mlp (-500 ms"));
    EXPECT_THAT(answer_text(two), HasSubstr("gemm_128x128 in attention (-400 ms"));
    EXPECT_THAT(answer_text(two), HasSubstr(" softmax (-"));
    EXPECT_THAT(text_table(two, {.width = 120}), HasSubstr("% roof  phase"));

    const Analysis one = sample::analysis_of({gemm(0.9, "mlp"), softmax}, sample::toy_machine(), "names tell");
    EXPECT_THAT(answer_text(one), HasSubstr("First: softmax (-"));
    EXPECT_THAT(answer_text(one), HasSubstr(", gemm_128x128 (-500 ms"));
    EXPECT_THAT(text_table(one, {.width = 120}), Not(HasSubstr("% roof  phase")));
}

TEST(AdviceText, has_evidence_gain_and_whether_it_is_a_bound) {
    const auto lines = advice_texts(sample::toy());
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_THAT(lines[0], HasSubstr("4 launches without FLOP take 250 ms"));
    EXPECT_THAT(lines[0], HasSubstr("Saves at most 250 ms (step 1.17x)."));
}

}  // namespace
}  // namespace gambrel
