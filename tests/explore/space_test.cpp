#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "explore/toy.hpp"

namespace {

using namespace gambrel;
using namespace gambrel::test;
using testing::ElementsAre;
using testing::HasSubstr;

Result<Space> space(std::string_view text) { return parse_space(text, titan(), *model_inputs(titan())); }

TEST(Space, a_range_with_a_step_a_list_and_a_single_value) {
    const auto s = space("macs=1:4:0.5, l2.capacity={4,1,2,2},clock=1.5");
    ASSERT_TRUE(s);
    EXPECT_THAT(s->axes[0].values, ElementsAre(1, 1.5, 2, 2.5, 3, 3.5, 4));
    EXPECT_THAT(s->axes[1].values, ElementsAre(1, 2, 4));
    EXPECT_THAT(s->axes[2].values, ElementsAre(1.5));
    EXPECT_EQ(s->size(), 21u);
}

TEST(Space, a_range_without_a_step_rises_by_one_factor_and_holds_the_start) {
    const auto s = space("l2.capacity=1:8,clock=0.8:1.5");
    ASSERT_TRUE(s);
    EXPECT_EQ(s->axes[0].values.size(), kRangePoints);
    EXPECT_DOUBLE_EQ(s->axes[0].values[2], 2);
    EXPECT_EQ(s->axes[0].values.back(), 8);
    EXPECT_THAT(s->axes[1].values, testing::Contains(1.0));
}

TEST(Space, amounts_with_units_are_factors_of_the_start) {
    const auto s = space("l2.capacity={3MiB,6 MiB},sms={30SM,45 SM},dram.bandwidth=1TB/s");
    ASSERT_TRUE(s) << to_text(s.error());
    EXPECT_THAT(s->axes[0].values, ElementsAre(1, 2));
    EXPECT_THAT(s->axes[1].values, ElementsAre(1, 1.5));
    EXPECT_NEAR(s->axes[2].values[0], 1e12 / model_inputs(titan())->dram_bandwidth.value(), 1e-12);
}

TEST(Space, sms_are_whole_so_near_factors_are_one_design) {
    const auto s = space("sms={1,1.01,1.5}");
    ASSERT_TRUE(s);
    EXPECT_THAT(s->axes[0].values, ElementsAre(1, 1.5));
    EXPECT_EQ(scaled(*model_inputs(titan()), only(Resource::sms, 1.26)).sms, 38);
}

TEST(Space, every_index_is_a_design_of_its_own) {
    const auto s = space("macs={1,2},registers={1,2,3},clock={1,2}");
    ASSERT_TRUE(s);
    std::set<std::array<double, kResources>> seen;
    for (std::uint64_t i = 0; i < s->size(); ++i) seen.insert(s->at(i));
    EXPECT_EQ(seen.size(), 12u);
    EXPECT_EQ(s->at(1)[Resource::clock], 2);
    EXPECT_EQ(s->at(1)[Resource::macs], 1);
}

TEST(Space, faults_name_the_entry_what_was_found_and_what_was_expected_all_at_once) {
    const auto s = space("l2.bandwith=1:2,sms=4:1,macs=two,clock=1:2:0,shared={1,registers=-1");
    ASSERT_FALSE(s);
    const std::string text = to_text(s.error());
    EXPECT_THAT(text, HasSubstr("did you mean \"l2.bandwidth\""));
    EXPECT_THAT(text, HasSubstr("\"sms=4:1\": ends below its start"));
    EXPECT_THAT(text, HasSubstr("\"two\""));
    EXPECT_THAT(text, HasSubstr("no closing brace"));
    EXPECT_EQ(s.error().size(), 5u) << text;
    EXPECT_FALSE(space("sms"));
    EXPECT_FALSE(space(""));
    EXPECT_FALSE(space("sms=1:2,sms=1:3"));
    EXPECT_FALSE(space("l2.capacity=6MHz"));
    EXPECT_FALSE(space("macs=1:1e6:1e-6"));
}

TEST(Limit, holds_for_cost_speed_time_and_resources) {
    const auto l = parse_limits("cost<=2.0,speedup>=1.5,sms<=60SM,time<=2ms", titan(), *model_inputs(titan()));
    ASSERT_TRUE(l) << to_text(l.error());
    const auto all = [&](const Factors& f, double cost, double time) {
        for (const Limit& limit : *l)
            if (!limit.holds(f, cost, time, 3e-3)) return false;
        return true;
    };
    EXPECT_TRUE(all(only(Resource::sms, 2), 2, 2e-3));
    EXPECT_FALSE(all(only(Resource::sms, 2.1), 2, 2e-3));
    EXPECT_FALSE(all({}, 2.01, 2e-3));
    EXPECT_FALSE(all({}, 2, 2.1e-3));
    for (const char* wrong : {"cost<2", "cost", "price<=2", "cost<=x", "time<=2", "cost<=-1"})
        EXPECT_FALSE(parse_limits(wrong, titan(), *model_inputs(titan()))) << wrong;
}

TEST(Costs, the_start_costs_one_and_every_resource_costs) {
    EXPECT_NEAR(default_costs()({}), 1, 1e-9);
    for (const Resource r : all_resources()) EXPECT_GT(default_costs()(only(r, 2)), 1.0) << name(r);
}

TEST(Costs, a_table_of_the_user_replaces_it_and_its_faults_are_reported) {
    const auto table = parse_costs(
        R"({"schema":"gambrel-costs-1","note":"","items":[{"what":"a","share":0.5,"scales_with":{"sms":2},"cite":"me"},
            {"what":"b","share":0.5,"scales_with":{},"cite":"me"}]})",
        "mine.json");
    ASSERT_TRUE(table) << to_text(table.error());
    EXPECT_DOUBLE_EQ((*table)(only(Resource::sms, 3)), 5);
    const auto wrong = parse_costs(
        R"({"schema":"gambrel-costs-1","note":"","items":[{"what":"a","share":2,"scale_with":{"smss":1},"cite":"me"}]})",
        "mine.json");
    ASSERT_FALSE(wrong);
    EXPECT_THAT(to_text(wrong.error()), HasSubstr("mine.json: items[0].scale_with"));
    EXPECT_THAT(to_text(wrong.error()), HasSubstr("items[0].share"));
    EXPECT_FALSE(parse_costs("{", "x"));
    EXPECT_THAT(to_text(parse_costs(R"({"schema":"gambrel-costs-1","note":"","items":[{"what":"a","share":0.9,
        "scales_with":{},"cite":""}]})",
                                    "x")
                            .error()),
                HasSubstr("sum to 0.9"));
}

}  // namespace
