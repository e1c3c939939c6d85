// Each kind of rule on launches made by hand.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingest/metric_eval_sample.hpp"

namespace gambrel::ingest_detail {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kTwo = R"({"id": "a", "terms": [{"metric": "m"}]}, {"id": "b", "terms": [{"metric": "n"}]})";

TEST(Rules, the_first_that_can_be_made_counts) {
    const auto rules = rules_of("work.fp32", "first", kTwo);
    EXPECT_EQ(fp32(rules, {{"m", 1}, {"n", 5}}), 1);
    EXPECT_EQ(fp32(rules, {{"n", 5}}), 5);
    EXPECT_EQ(fp32(rules, {}), std::nullopt);
    EXPECT_EQ(evaluated(rules, {{"n", 5}}).work[Pipe::fp32]->rule.str(), "b");
    EXPECT_EQ(fp32(rules, {{"m", NAN}, {"n", 5}}), 5);  // a broken counter makes way for the next rule
}

TEST(Rules, the_largest_of_a_tier_counts_and_a_lower_tier_goes_before_a_larger_value) {
    const auto largest = rules_of("work.fp32", "largest", kTwo);
    EXPECT_EQ(fp32(largest, {{"m", 1}, {"n", 5}}), 5);
    EXPECT_EQ(fp32(largest, {{"m", 7}, {"n", 5}}), 7);
    const auto tiers =
        rules_of("work.fp32", "largest",
                 R"({"id": "a", "tier": 1, "terms": [{"metric": "m"}]}, {"id": "b", "terms": [{"metric": "n"}]})");
    EXPECT_EQ(fp32(tiers, {{"m", 7}, {"n", 5}}), 5);
    EXPECT_EQ(fp32(tiers, {{"m", 7}}), 7);
}

TEST(Rules, hold_only_for_their_compute_capabilities) {
    const auto rules = rules_of("work.fp32", "first", R"({"id": "a", "cc": "7.5-8.6", "terms": [{"metric": "m"}]})");
    for (const auto& [cc, holds] : std::vector<std::pair<ComputeCapability, bool>>{
             {{7, 2}, false}, {{7, 5}, true}, {{8, 0}, true}, {{8, 6}, true}, {{8, 9}, false}, {{10, 0}, false}})
        EXPECT_EQ(fp32(rules, {{"m", 1}}, {.cc = cc}).has_value(), holds) << to_text(cc);
    EXPECT_EQ(fp32(rules, {{"m", 1}}, {.cc = std::nullopt}), std::nullopt);
}

TEST(Rules, hold_only_for_their_names) {
    const auto has =
        rules_of("work.fp32", "first", R"({"id": "a", "name_has": ["x", "y"], "terms": [{"metric": "m"}]})");
    const auto lacks =
        rules_of("work.fp32", "first", R"({"id": "a", "name_lacks": ["x", "y"], "terms": [{"metric": "m"}]})");
    for (const auto& [name, there] :
         std::vector<std::pair<std::string, bool>>{{"ax", true}, {"yb", true}, {"ab", false}}) {
        EXPECT_EQ(fp32(has, {{"m", 1}}, {.name = name}).has_value(), there) << name;
        EXPECT_EQ(fp32(lacks, {{"m", 1}}, {.name = name}).has_value(), !there) << name;
    }
}

TEST(Rules, only_if_zero_and_at_least_zero) {
    const auto idle =
        rules_of("work.fp32", "first", R"({"id": "a", "only_if_zero": true, "terms": [{"metric": "m"}]})");
    EXPECT_EQ(fp32(idle, {{"m", 0}}), 0);
    EXPECT_EQ(fp32(idle, {{"m", 3}}), std::nullopt);
    const std::string difference = R"("terms": [{"metric": "m"}, {"metric": "n", "factor": -2}])";
    EXPECT_EQ(fp32(rules_of("work.fp32", "first", R"({"id": "a", "at_least_zero": true, )" + difference + "}"),
                   {{"m", 3}, {"n", 2}}),
              0);
    EXPECT_EQ(fp32(rules_of("work.fp32", "first", R"({"id": "a", )" + difference + "}"), {{"m", 3}, {"n", 2}}), -1);
}

TEST(Rules, optional_terms_count_as_zero_but_not_all_of_them) {
    const auto rules = rules_of("work.fp32", "first",
                                R"({"id": "a", "terms": [{"metric": "m_{x,y}", "factor": 2, "optional": true}]})");
    EXPECT_EQ(fp32(rules, {{"m_x", 1}}), 2);
    EXPECT_EQ(fp32(rules, {{"m_x", 1}, {"m_y", 4}}), 10);
    EXPECT_EQ(fp32(rules, {}), std::nullopt);
    const auto needed = rules_of("work.fp32", "first", R"({"id": "a", "terms": [{"metric": "m_{x,y}"}]})");
    EXPECT_EQ(fp32(needed, {{"m_x", 1}}), std::nullopt);
}

TEST(Rules, alternatives_of_a_term_products_and_quotients) {
    const auto either =
        rules_of("work.fp32", "first", R"({"id": "a", "terms": [{"metric": ["m", "n"], "factor": 3}]})");
    EXPECT_EQ(fp32(either, {{"n", 2}}), 6);
    EXPECT_EQ(fp32(either, {{"m", 1}, {"n", 2}}), 3);
    const auto over =
        rules_of("work.fp32", "first", R"({"id": "a", "terms": [{"metric": "m", "times": ["n"]}], "over": ["o"]})");
    EXPECT_EQ(fp32(over, {{"m", 6}, {"n", 2}, {"o", 4}}), 3);
    EXPECT_EQ(fp32(over, {{"m", 6}, {"o", 4}}), std::nullopt);
    EXPECT_EQ(fp32(over, {{"m", 6}, {"n", 2}}), std::nullopt);
    EXPECT_EQ(fp32(over, {{"m", 6}, {"n", 2}, {"o", 0}}), std::nullopt);
    const auto constant = rules_of("work.fp32", "first", R"({"id": "a", "terms": [{"constant": 0}]})");
    EXPECT_EQ(fp32(constant, {}), 0);
}

TEST(Rules, the_last_of_several_values_counts_and_nothing_is_left_from_the_launch_before) {
    const auto rules = rules_of("work.fp32", "first", kTwo);
    EXPECT_EQ(fp32(rules, {{"m", 1}, {"m", 2}}), 2);
    Profile profile;
    Launch a, b;
    add_value(profile, a, rules.metrics, rules.metrics.find("m"), 9);
    const IngestOptions options;
    Evaluator evaluator(rules, options);
    EXPECT_TRUE(evaluator.kernel(profile, a).work[Pipe::fp32]);
    EXPECT_FALSE(evaluator.kernel(profile, b).work[Pipe::fp32]);
}

TEST(Rules, launches_of_one_name_may_have_different_metrics) {
    const auto rules = rules_of("work.fp32", "first", kTwo);
    const IngestOptions options;
    Evaluator evaluator(rules, options);
    Profile profile;
    const auto rule_of = [&](const std::vector<std::string>& metrics, ComputeCapability cc = {8, 0}) {
        Launch launch;
        launch.cc = cc;
        for (const std::string& metric : metrics)
            add_value(profile, launch, rules.metrics, rules.metrics.find(metric), metric == "m" ? 1 : 5);
        const Kernel k = evaluator.kernel(profile, launch);
        return k.work[Pipe::fp32] ? k.work[Pipe::fp32]->rule.str() : "none";
    };
    EXPECT_EQ(rule_of({"m", "n"}), "a");
    EXPECT_EQ(rule_of({"n"}), "b");
    EXPECT_EQ(rule_of({"n"}), "b");
    EXPECT_EQ(rule_of({}), "none");
    EXPECT_EQ(rule_of({"n", "m"}), "a");
    EXPECT_EQ(rule_of({"n", "m"}, {9, 0}), "a");
}

// A rule whose first term is broken is refused even where its second term is absent.
TEST(Rules, a_broken_term_before_an_absent_one_is_a_refusal) {
    const auto rules = rules_of("work.fp32", "first", R"({"id": "a", "terms": [{"metric": "m"}, {"metric": "n"}]})");
    EXPECT_THAT(reasons(evaluated(rules, {{"m", NAN}})), testing::HasSubstr("no fp32 work: m is nan"));
    EXPECT_THAT(reasons(evaluated(rules, {{"n", NAN}})), testing::Not(testing::HasSubstr("no fp32 work")));
}

TEST(Rules, launches_that_lack_the_same_say_the_same) {
    const MetricRules& rules = metric_rules();
    const IngestOptions options;
    Evaluator evaluator(rules, options);
    Profile profile;
    const auto said = [&](const Values& values, ComputeCapability cc) {
        Launch launch;
        launch.cc = cc;
        for (const auto& [name, value] : values)
            add_value(profile, launch, rules.metrics, rules.metrics.find(name), value);
        const Kernel k = evaluator.kernel(profile, launch);
        const Kernel alone = evaluated(values, {.cc = cc});
        EXPECT_EQ(reasons(k), reasons(alone));
        EXPECT_EQ(k.remedies, alone.remedies);
        return reasons(k);
    };
    const Values timed = {{"gpu__time_duration.sum", 1000}}, none;
    EXPECT_EQ(said(timed, {7, 0}), said(timed, {7, 0}));
    EXPECT_NE(said(timed, {7, 0}), said(none, {7, 0}));
    said(timed, {8, 0});
    said(none, {9, 0});
    said({{"gpu__time_duration.sum", NAN}}, {7, 0});
    said(timed, {7, 0});
}

}  // namespace
}  // namespace gambrel::ingest_detail
