// Work, intensity and sums over launches: right on numbers one can check in the head, and no hole is hidden.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gambrel/kernel.hpp>

#include "kernel/sample.hpp"

namespace gambrel {
namespace {

using test::launch;
using test::measured;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> reasons(const Kernel& k) {
    std::vector<std::string> out;
    for (const Symbol s : k.reasons) out.push_back(s.str());
    return out;
}

TEST(KernelWork, integer_operations_are_not_flop) {
    Kernel k = launch("k", 1);
    EXPECT_FALSE(flop(k));
    for (const Pipe p : all_pipes()) k.work[p] = measured(Flops{1});
    EXPECT_EQ(flop(k)->value, Flops{static_cast<double>(kPipes) - 4});
    EXPECT_EQ(tensor_flop(k)->value, Flops{static_cast<double>(kPipes) - 5 - 3});
    Kernel integers = launch("k", 1);
    integers.work[Pipe::int32] = measured(Flops{5});
    integers.work[Pipe::tensor_int8] = measured(Flops{5});
    EXPECT_FALSE(flop(integers));
    EXPECT_FALSE(tensor_flop(integers));
    EXPECT_FALSE(is_zero_flop(integers));
}

TEST(KernelWork, a_sum_with_a_modelled_part_is_modelled) {
    Kernel k = launch("k", 1);
    k.work[Pipe::fp32] = measured(Flops{1});
    k.work[Pipe::tensor_fp16] = Amount<Flops>{Flops{2}, Origin::modelled, Symbol("delta")};
    EXPECT_EQ(flop(k)->origin, Origin::modelled);
    EXPECT_EQ(flop(k)->value, Flops{3});
}

TEST(KernelWork, intensity_is_flop_over_bytes_and_rate_is_flop_over_time) {
    const Kernel k = launch("k", 2, 100, 50);
    EXPECT_EQ(intensity(k, Level::dram), Intensity{2});
    EXPECT_EQ(flop_rate(k), FlopRate{50});
    EXPECT_EQ(intensity(k, Level::l2), std::nullopt);
    EXPECT_EQ(intensity(launch("k", 2, 100, 0), Level::dram), std::nullopt);
    EXPECT_EQ(flop_rate(launch("k", 0, 100, 50)), std::nullopt);
    EXPECT_TRUE(is_zero_flop(launch("k", 1, 0, 50)));
    EXPECT_FALSE(is_zero_flop(launch("k", 1)));  // unknown is not zero
    for (const Pipe p : {Pipe::fp32, Pipe::fp16, Pipe::tensor_fp16}) {
        Kernel hole = launch("k", 1, 0, 50);
        hole.work[p].reset();
        EXPECT_FALSE(is_zero_flop(hole)) << name(p);
    }
    Kernel busy = launch("k", 1, 5, 50);
    busy.has_uncounted_work = true;
    EXPECT_FALSE(flop(busy) || intensity(busy, Level::dram) || flop_rate(busy));
}

TEST(Grouping, launches_of_one_name_are_summed_in_order_of_falling_time) {
    const auto groups = grouped(
        {launch("short", 1, 10, 100), launch("long", 3, 30, 1), launch("short", 1, 5, 50), launch("long", 4, 40, 2)},
        Grouping::kernel);
    ASSERT_EQ(groups.size(), 2U);
    EXPECT_EQ(groups[0].name.str(), "long");
    EXPECT_EQ(groups[0].launches, 2U);
    EXPECT_EQ(groups[0].time->value, Seconds{7});
    EXPECT_EQ(groups[0].work[Pipe::fp32]->value, Flops{70});
    EXPECT_EQ(groups[0].bytes[Level::dram]->value, Bytes{3});
    EXPECT_EQ(groups[1].work[Pipe::fp32]->value, Flops{15});
    EXPECT_THAT(reasons(groups[0]), IsEmpty());
}

TEST(Grouping, has_one_spelling_of_each_kind) {
    for (const std::string& name : grouping_names()) EXPECT_TRUE(grouping_from(name)) << name;
    EXPECT_EQ(grouping_from("operator"), Grouping::op);
    EXPECT_EQ(grouping_from("rank"), Grouping::rank);
    EXPECT_EQ(grouping_from("op"), std::nullopt);
}

TEST(Grouping, by_launch_keeps_file_order) {
    const auto launches = grouped({launch("a", 1), launch("b", 3), launch("a", 2)}, Grouping::launch);
    ASSERT_EQ(launches.size(), 3U);
    EXPECT_EQ(launches[1].name.str(), "b");
}

TEST(Grouping, phases_and_devices_are_never_mixed) {
    Kernel a = launch("k", 1), b = launch("k", 1), c = launch("k", 1), d = launch("k", 1);
    a.phase = b.phase = c.phase = Symbol("forward");
    d.phase = Symbol("backward");
    c.device = Symbol("Other");
    EXPECT_EQ(grouped({a, b, c, d}, Grouping::kernel).size(), 3U);
    Kernel other_name = launch("other", 5);
    other_name.phase = Symbol("forward");
    const auto phases = grouped({a, b, c, d, other_name}, Grouping::phase);
    ASSERT_EQ(phases.size(), 3U);
    EXPECT_EQ(phases[0].name.str(), "forward");
    EXPECT_EQ(phases[0].time->value, Seconds{7});
    EXPECT_EQ(grouped({launch("a", 1), launch("b", 1)}, Grouping::phase).at(0).name.str(), "(no phase)");
}

TEST(Grouping, the_clock_is_weighted_by_time) {
    Kernel a = launch("k", 1), b = launch("k", 3);
    a.clock = measured(Frequency{1e9});
    b.clock = measured(Frequency{2e9});
    EXPECT_DOUBLE_EQ(grouped({a, b}, Grouping::kernel)[0].clock->value.value(), 1.75e9);
}

TEST(Grouping, a_launch_without_a_clock_does_not_pull_the_clock_down) {
    Kernel a = launch("k", 1);
    a.clock = measured(Frequency{1e9});
    const auto group = grouped({a, launch("k", 3)}, Grouping::kernel)[0];
    EXPECT_DOUBLE_EQ(group.clock->value.value(), 1e9);
    EXPECT_DOUBLE_EQ(grouped({launch("k", 3), a}, Grouping::kernel)[0].clock->value.value(), 1e9);
    EXPECT_EQ(grouped({a, launch("k", 3)}, Grouping::kernel, TimeSum::mean_rate)[0].time->value, Seconds{4});
}

TEST(Grouping, the_time_of_the_paper_is_summed_cycles_over_the_mean_clock) {
    Kernel a = launch("k", 1), b = launch("k", 1);
    a.clock = measured(Frequency{1e9});
    b.clock = measured(Frequency{3e9});
    EXPECT_EQ(grouped({a, b}, Grouping::kernel)[0].time->value, Seconds{2});
    // 1e9 + 3e9 cycles over 2e9 Hz.
    EXPECT_DOUBLE_EQ(grouped({a, b}, Grouping::kernel, TimeSum::mean_rate)[0].time->value.value(), 2);
    b.time = measured(Seconds{2});  // 1e9 + 6e9 cycles over 2e9 Hz, not 3 s
    const auto group = grouped({a, b}, Grouping::kernel, TimeSum::mean_rate)[0];
    EXPECT_DOUBLE_EQ(group.time->value.value(), 3.5);
    EXPECT_DOUBLE_EQ(group.clock->value.value(), 2e9);
    EXPECT_EQ(grouped({a, b}, Grouping::kernel)[0].time->value, Seconds{3});
}

TEST(Grouping, an_amount_unknown_in_one_launch_is_unknown_in_the_sum_with_a_reason) {
    const Kernel whole = launch("k", 1, 10, 100);
    Kernel hole = launch("k", 1, 10, 100);
    hole.bytes[Level::dram].reset();
    for (const auto& order : {std::vector{whole, hole}, std::vector{hole, whole}, std::vector{whole, hole, whole}}) {
        const auto group = grouped(order, Grouping::kernel)[0];
        EXPECT_FALSE(group.bytes[Level::dram]);
        EXPECT_TRUE(group.work[Pipe::fp32]);
        EXPECT_THAT(reasons(group), Contains("DRAM bytes unknown for some launches"));
        EXPECT_THAT(reasons(group), testing::SizeIs(1));
    }
    EXPECT_THAT(reasons(grouped({hole, hole}, Grouping::kernel)[0]), IsEmpty());  // unknown in all: nothing is hidden
}

TEST(Grouping, sparse_work_unknown_in_one_launch_is_unknown_in_the_sum) {
    Kernel a = launch("k", 1, 10, 100), b = a;
    a.work[Pipe::tensor_fp16] = b.work[Pipe::tensor_fp16] = measured(Flops{8});
    a.sparse_work = measured(Flops{8});
    EXPECT_FALSE(grouped({a, b}, Grouping::kernel)[0].sparse_work);
    EXPECT_FALSE(grouped({b, a}, Grouping::kernel)[0].sparse_work);
    EXPECT_EQ(grouped({a, a}, Grouping::kernel)[0].sparse_work->value, Flops{16});
}

TEST(Grouping, a_launch_without_time_is_counted_named_and_left_out) {
    Kernel broken = launch("k", 1, 1000, 1000);
    broken.time.reset();
    broken.reasons.emplace_back("l1tex__t_bytes.sum is nan");
    const Kernel good = launch("k", 2, 10, 100);
    for (const auto& order :
         {std::vector{broken, good, good}, std::vector{good, broken, good}, std::vector{good, good, broken}}) {
        const auto group = grouped(order, Grouping::kernel)[0];
        EXPECT_EQ(group.launches, 3U);
        EXPECT_EQ(group.time->value, Seconds{4});
        EXPECT_EQ(group.work[Pipe::fp32]->value, Flops{20});
        EXPECT_EQ(group.bytes[Level::dram]->value, Bytes{200});
        EXPECT_THAT(reasons(group), AllOf(Contains("1 of 3 launches have no time and are left out of the sums"),
                                          Contains("l1tex__t_bytes.sum is nan")));
    }
    const auto none = grouped({broken, broken}, Grouping::kernel)[0];
    EXPECT_FALSE(none.time);
    EXPECT_EQ(none.work[Pipe::fp32]->value, Flops{2000});
}

TEST(Grouping, a_left_out_launch_does_not_change_the_time_of_the_paper) {
    Kernel a = launch("k", 1), b = launch("k", 2), broken = launch("k", 1);
    a.clock = measured(Frequency{1e9});
    b.clock = measured(Frequency{3e9});
    broken.time.reset();
    broken.clock = measured(Frequency{9e9});
    for (const auto& order : {std::vector{broken, a, b}, std::vector{a, broken, b}})
        EXPECT_DOUBLE_EQ(grouped(order, Grouping::kernel, TimeSum::mean_rate)[0].time->value.value(), 3.5);
}

TEST(Grouping, the_weakest_origin_and_differing_rules_are_told) {
    Kernel a = launch("k", 1, 10, 100), b = a;
    b.work[Pipe::fp32] = Amount<Flops>{Flops{1}, Origin::modelled, Symbol("delta")};
    const auto group = grouped({a, b}, Grouping::kernel)[0];
    EXPECT_EQ(group.work[Pipe::fp32]->origin, Origin::modelled);
    EXPECT_EQ(group.work[Pipe::fp32]->rule.str(), "several");
    EXPECT_EQ(group.bytes[Level::dram]->rule.str(), "test");
}

TEST(Grouping, shape_and_source_survive_only_if_all_agree) {
    Kernel a = launch("k", 1), b = launch("k", 1);
    a.shape = b.shape = LaunchShape{{8, 1, 1}, {32, 1, 1}};
    a.source = b.source = Symbol("one.csv");
    EXPECT_EQ(grouped({a, b}, Grouping::kernel)[0].shape, a.shape);
    EXPECT_EQ(grouped({a, b}, Grouping::kernel)[0].source.str(), "one.csv");
    b.shape->grid[0] = 9;
    b.source = Symbol("two.csv");
    EXPECT_FALSE(grouped({a, b}, Grouping::kernel)[0].shape);
    EXPECT_TRUE(grouped({a, b}, Grouping::kernel)[0].source.empty());
}

TEST(Grouping, peaks_of_a_group_are_means_over_time) {
    Kernel a = launch("k", 1), b = launch("k", 3);
    a.level_peaks = {{Level::dram, measured(Bandwidth{100})}};
    b.level_peaks = {{Level::dram, measured(Bandwidth{200})}};
    a.pipe_peaks = {{Pipe::fp32, measured(FlopRate{10})}};
    b.pipe_peaks = {{Pipe::fp32, measured(FlopRate{30})}};
    const auto group = grouped({a, b}, Grouping::kernel)[0];
    EXPECT_DOUBLE_EQ(group.level_peaks.at(0).peak.value.value(), 175);
    EXPECT_DOUBLE_EQ(group.pipe_peaks.at(0).peak.value.value(), 25);
}

TEST(Total, adds_everything_and_is_no_phase) {
    Kernel a = launch("a", 1, 10, 100), b = launch("b", 3, 0, 1);
    a.phase = Symbol("forward");
    b.launches = 5;
    b.zero_flop_launches = 5;
    const Kernel all = total({a, b}, "everything");
    EXPECT_EQ(all.name.str(), "everything");
    EXPECT_TRUE(all.phase.empty());
    EXPECT_EQ(all.launches, 6U);
    EXPECT_EQ(all.zero_flop_launches, 5U);
    EXPECT_EQ(all.time->value, Seconds{4});
    EXPECT_EQ(flop(all)->value, Flops{10});
    EXPECT_EQ(total({}).launches, 0U);
    EXPECT_FALSE(total({}).time);
}

TEST(Kernels, every_launch_knows_the_place_of_its_group) {
    std::vector<Kernel> launches(4);
    const char* names[] = {"short", "long", "short", "longest"};
    const double times[] = {1, 3, 1, 9};
    for (std::size_t i = 0; i < 4; ++i)
        launches[i].name = Symbol(names[i]), launches[i].time = {Seconds{times[i]}, Origin::measured, Symbol("t")};
    const Groups groups = groups_of(launches, Grouping::kernel);
    EXPECT_EQ(groups.of_launch, (std::vector<std::size_t>{2, 1, 2, 0}));
    EXPECT_EQ(groups.kernels.at(2).launches, 2U);
    EXPECT_EQ(groups_of(launches, Grouping::launch).of_launch, (std::vector<std::size_t>{0, 1, 2, 3}));
}

TEST(Kernels, repeated_multiplies_every_amount_and_nothing_else) {
    Kernel k;
    k.time = {Seconds{2}, Origin::modelled, Symbol("t")};
    k.bytes[Level::l2] = {Bytes{3}, Origin::modelled, Symbol("b")};
    k.work[Pipe::fp32] = {Flops{5}, Origin::derived, Symbol("w")};
    k.clock = {Frequency{1e9}, Origin::assumed, Symbol("c")};
    const Kernel four = repeated(k, 4);
    EXPECT_EQ(four.launches, 4U);
    EXPECT_EQ(four.time->value, Seconds{8});
    EXPECT_EQ(four.bytes[Level::l2]->value, Bytes{12});
    EXPECT_EQ(four.work[Pipe::fp32]->value, Flops{20});
    EXPECT_EQ(four.clock->value, Frequency{1e9});
    EXPECT_EQ(four.time->origin, Origin::modelled);
}

}  // namespace
}  // namespace gambrel
