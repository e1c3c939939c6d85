// What holds a kernel up when no roof is near, and verdicts by the profiler's own percentages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "roofline/toy.hpp"

namespace gambrel {
namespace {

using test::launch;
using test::measured;
using test::toy_machine;
using ::testing::HasSubstr;

void add_gauge(Kernel& k, std::string_view name, double value) {
    k.gauges.push_back({Symbol(name), {value, Origin::measured, Symbol("by hand")}});
}

// 1e8 B of DRAM at 10 GB/s are 10 ms; L2 and FLOP take less.
Kernel judged_everywhere(double seconds) {
    Kernel k = launch("k", seconds, 1e8, 1e8);
    k.bytes[Level::l2] = measured(Bytes{1e8});
    return k;
}

// A kernel of which only the time and the profiler's percentages are known.
Kernel only_percentages(double dram, double l2, double sm) {
    Kernel k;
    k.name = Symbol("k");
    k.time = measured(Seconds{1});
    add_gauge(k, "use_dram", dram);
    add_gauge(k, "use_l2", l2);
    add_gauge(k, "use_sm", sm);
    return k;
}

TEST(Limits, under_forty_percent_of_every_roof_is_latency_and_the_nearest_roof_is_kept) {
    const auto far = roofline(toy_machine(), judged_everywhere(0.1));
    EXPECT_EQ(to_text(far.bound), "latency");
    EXPECT_EQ(to_text(far.nearest), "DRAM");
    EXPECT_DOUBLE_EQ(*far.of_roof, 0.1);
    EXPECT_THAT(far.why, HasSubstr("under 40 % of every roof"));
    const auto near = roofline(toy_machine(), judged_everywhere(0.02));
    EXPECT_EQ(to_text(near.bound), "DRAM");
    EXPECT_EQ(near.why, "");
}

TEST(Limits, a_kernel_is_not_far_from_a_roof_that_nobody_knows) {
    EXPECT_EQ(to_text(roofline(toy_machine(), launch("k", 1, 1e8, 1e8)).bound), "DRAM") << "caches were not counted";
    Kernel no_work = judged_everywhere(0.1);
    no_work.has_uncounted_work = true;
    EXPECT_EQ(to_text(roofline(toy_machine(), no_work).bound), "DRAM");
}

TEST(Limits, a_grid_that_does_not_fill_the_gpu_is_occupancy) {
    Kernel k = judged_everywhere(0.1);
    add_gauge(k, "waves_per_sm", 0.4);
    const auto r = roofline(toy_machine(), k);
    EXPECT_EQ(to_text(r.bound), "occupancy");
    EXPECT_THAT(r.why, HasSubstr("0.4 waves"));
    Kernel full = judged_everywhere(0.1);
    add_gauge(full, "waves_per_sm", 4);
    EXPECT_EQ(to_text(roofline(toy_machine(), full).bound), "latency");
}

TEST(Limits, blocks_fewer_than_sms_are_occupancy_without_any_counter) {
    Machine m = toy_machine();
    m.sm.sms = test::known(80.0);
    Kernel k = judged_everywhere(0.1);
    k.shape = LaunchShape{{20, 1, 1}, {256, 1, 1}};
    EXPECT_THAT(roofline(m, k).why, HasSubstr("20 blocks for 80 SMs"));
    k.shape = LaunchShape{{160, 1, 1}, {256, 1, 1}};
    EXPECT_EQ(to_text(roofline(m, k).bound), "latency");
}

TEST(Limits, low_occupancy_names_the_resource_that_limits_it) {
    Kernel k = judged_everywhere(0.1);
    add_gauge(k, "theoretical_occupancy", 0.12);
    add_gauge(k, "registers_per_thread", 168);
    add_gauge(k, "limit_registers", 1);
    add_gauge(k, "limit_shared", 8);
    const auto r = roofline(toy_machine(), k);
    EXPECT_EQ(to_text(r.bound), "occupancy");
    EXPECT_THAT(r.why, HasSubstr("12 % occupancy is possible: limited by 168 registers a thread"));
}

TEST(Limits, a_latency_verdict_names_the_longest_stall) {
    Kernel k = judged_everywhere(0.1);
    add_gauge(k, "stall_long_scoreboard", 6);
    add_gauge(k, "stall_barrier", 2);
    EXPECT_THAT(roofline(toy_machine(), k).why, HasSubstr("75 % of the stalls: long scoreboard"));
}

TEST(Limits, busy_sms_are_not_latency) {
    Kernel k = judged_everywhere(0.1);
    add_gauge(k, "use_sm", 0.7);
    const auto r = roofline(toy_machine(), k);
    EXPECT_EQ(to_text(r.bound), "SM");
    EXPECT_DOUBLE_EQ(*r.of_roof, 0.1) << "the share is still that of the nearest roof";
    EXPECT_THAT(r.why, HasSubstr("Nsight Compute"));
}

TEST(Limits, percentages_of_the_profiler_judge_what_nobody_counted) {
    const auto r = roofline(toy_machine(), only_percentages(0.8, 0.3, 0.2));
    EXPECT_EQ(to_text(r.bound), "DRAM");
    EXPECT_TRUE(r.by_profiler);
    EXPECT_DOUBLE_EQ(*r.of_roof, 0.8);
    EXPECT_DOUBLE_EQ(r.headroom->value(), 0.2);
    EXPECT_THAT(r.why, HasSubstr("Nsight Compute's own percentages"));
    EXPECT_EQ(to_text(roofline(toy_machine(), only_percentages(0.1, 0.2, 0.9)).bound), "SM");
    const auto far = roofline(toy_machine(), only_percentages(0.1, 0.2, 0.15));
    EXPECT_EQ(to_text(far.bound), "latency");
    EXPECT_EQ(to_text(far.nearest), "L2");
}

TEST(Limits, counters_go_before_the_percentages_of_the_profiler) {
    Kernel k = judged_everywhere(0.02);  // 50 % of DRAM as counted
    add_gauge(k, "use_dram", 0.9);
    const auto r = roofline(toy_machine(), k);
    EXPECT_FALSE(r.by_profiler);
    EXPECT_DOUBLE_EQ(*r.of_roof, 0.5);
}

TEST(Limits, gauges_of_a_group_are_means_by_time) {
    Kernel a = judged_everywhere(1), b = judged_everywhere(3);
    add_gauge(a, "achieved_occupancy", 0.2), add_gauge(b, "achieved_occupancy", 0.6);
    const auto sum = grouped({a, b}, Grouping::kernel).front();
    ASSERT_NE(gauge(sum, "achieved_occupancy"), nullptr);
    EXPECT_DOUBLE_EQ(gauge(sum, "achieved_occupancy")->value, 0.5);
    EXPECT_EQ(gauge(total({a, b}), "achieved_occupancy"), nullptr);
}

}  // namespace
}  // namespace gambrel
