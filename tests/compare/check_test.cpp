#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <gambrel/compare.hpp>

#include "report/sample.hpp"

namespace gambrel {
namespace {

using testing::HasSubstr;

Analysis run(double time, double dram, Machine machine = sample::toy_machine()) {
    // 0.8 s at least of 1 s, and a kernel of no weight that is far from its roof.
    Analysis a = analysis({"",
                           {sample::kernel({"triad", 10, time, 1e9, 0, 0, 0, dram, 1e9}),
                            sample::kernel({"tiny", 1, 1e-4, 1, 0, 0, 0, 8, 1e9})},
                           {std::move(machine)}});
    a.title = "run";
    return a;
}

const CheckItem& item(const CheckResult& r, const std::string& name, const std::string& what) {
    for (const auto& i : r.items)
        if (i.name == name && i.what == what) return i;
    static const CheckItem none;
    ADD_FAILURE() << name << " " << what << " was not checked";
    return none;
}

TEST(Check, holds_each_kernel_that_matters_to_its_roof) {
    CheckLimits limits;
    limits.min_roof = 0.8;
    const auto pass = check(run(1, 8e9), limits);
    ASSERT_TRUE(pass);
    EXPECT_TRUE(pass->passed());
    EXPECT_EQ(pass->items.size(), 1u) << "a kernel with less than 1 % of the time is not held to it";
    limits.min_roof = 0.81;
    const auto fail = check(run(1, 8e9), limits);
    EXPECT_FALSE(fail->passed());
    EXPECT_DOUBLE_EQ(fail->items[0].found, 0.8);
    limits.min_share = 0;
    EXPECT_EQ(check(run(1, 8e9), limits)->items.size(), 2u);
}

TEST(Check, compares_time_and_bytes_with_the_baseline) {
    const Analysis before[] = {run(1, 8e9)};
    const auto baseline = baseline_of(before);
    ASSERT_TRUE(baseline);
    const CheckLimits limits;
    EXPECT_TRUE(check(run(1.04, 8.1e9), limits, &*baseline)->passed());
    const auto slow = check(run(1.06, 8e9), limits, &*baseline);
    EXPECT_FALSE(item(*slow, "triad", "time").passed);
    EXPECT_TRUE(item(*slow, "triad", "DRAM bytes").passed);
    EXPECT_FALSE(item(*slow, "all kernels", "time").passed);
    const auto hungry = check(run(1, 8.2e9), limits, &*baseline);
    EXPECT_TRUE(item(*hungry, "triad", "time").passed) << "equal time, more traffic";
    EXPECT_FALSE(item(*hungry, "triad", "DRAM bytes").passed);
}

TEST(Check, a_kernel_of_no_weight_is_not_held_to_the_baseline) {
    Analysis before = run(1, 8e9), after = run(1, 8e9);
    after.rows[1].kernel.time->value = Seconds{3e-4};  // three times as long, and still 0.03 % of the time
    const auto baseline = baseline_of(std::span(&before, 1));
    const auto r = check(after, {}, &*baseline);
    ASSERT_TRUE(r);
    EXPECT_TRUE(r->passed());
    EXPECT_THAT(r->notes, testing::Contains(HasSubstr("1 kernels have less than 1 % of the time")));
    CheckLimits all;
    all.min_share = 0;
    EXPECT_FALSE(check(after, all, &*baseline)->passed());
    after.rows[1].kernel.time->value = Seconds{0.2};  // it has grown to matter
    EXPECT_FALSE(item(*check(after, {}, &*baseline), "tiny", "time").passed);
}

TEST(Check, a_change_is_shown_beside_the_baseline_and_the_clock_is_named) {
    const Analysis before = run(1, 8e9);
    const auto baseline = baseline_of(std::span(&before, 1));
    Analysis after = run(1.2, 8e9);
    after.rows[0].kernel.clock->value = Frequency{0.8e9};
    const auto r = check(after, {}, &*baseline);
    EXPECT_EQ(item(*r, "triad", "time").baseline, 1.0);
    EXPECT_THAT(r->notes, testing::Contains(HasSubstr("1 GHz in the baseline (-20.0 %): the clock is part")));
}

TEST(Check, half_a_profile_is_marked) {
    Analysis half = run(1, 8e9);
    half.partial = true;
    CheckLimits limits;
    limits.min_roof = 0.5;
    EXPECT_TRUE(check(half, limits)->partial);
    EXPECT_FALSE(check(run(1, 8e9), limits)->partial);
}

TEST(Check, noise_of_the_runs_widens_the_limit_of_that_kernel) {
    const Analysis runs[] = {run(0.9, 8e9), run(1.0, 8e9), run(1.1, 8e9)};
    const auto baseline = baseline_of(runs);
    ASSERT_TRUE(baseline);
    EXPECT_DOUBLE_EQ(baseline->kernels[0].time->value(), 1.0);
    EXPECT_DOUBLE_EQ(baseline->kernels[0].noise, 0.1);
    EXPECT_TRUE(item(*check(run(1.14, 8e9), {}, &*baseline), "triad", "time").passed);
    EXPECT_FALSE(item(*check(run(1.16, 8e9), {}, &*baseline), "triad", "time").passed);
}

TEST(Check, refuses_another_device_and_a_changed_one) {
    const Analysis before[] = {run(1, 8e9)};
    const auto baseline = baseline_of(before);
    Machine other = sample::toy_machine();
    other.name = "Toy 200";
    const auto mixed = check(run(1, 8e9, other), {}, &*baseline);
    ASSERT_FALSE(mixed);
    EXPECT_THAT(to_text(mixed.error()), HasSubstr("devices are not mixed"));
    Machine changed = sample::toy_machine();
    changed.levels[0].bandwidth->value = Bandwidth{11e9};
    EXPECT_THAT(to_text(check(run(1, 8e9, changed), {}, &*baseline).error()), HasSubstr("machine file has changed"));
    Machine cited = sample::toy_machine();
    cited.levels[0].bandwidth->cite = "a better page", cited.source = "elsewhere.json";
    EXPECT_TRUE(check(run(1, 8e9, cited), {}, &*baseline)) << "a better citation is not another machine";
    const Analysis two[] = {run(1, 8e9), run(1, 8e9, other)};
    EXPECT_FALSE(baseline_of(two));
}

TEST(Check, notes_what_came_and_went_and_scales_to_launches) {
    const Analysis before[] = {run(1, 8e9)};
    auto baseline = *baseline_of(before);
    baseline.kernels[1].name = "gone";
    baseline.kernels[0].launches = 5;  // half as many launches: half the time is allowed each
    const auto r = check(run(2, 16e9), {}, &baseline);
    ASSERT_TRUE(r);
    EXPECT_TRUE(item(*r, "triad", "time").passed);
    EXPECT_THAT(r->notes, testing::Contains(HasSubstr("tiny: not in the baseline")));
    EXPECT_THAT(r->notes, testing::Contains(HasSubstr("gone: in the baseline, not in this run")));
    EXPECT_THAT(r->notes, testing::Contains(HasSubstr("10 launches, 5 in the baseline")));
}

TEST(Baseline, survives_the_trip_through_its_file) {
    const Analysis runs[] = {run(0.9, 8e9), run(1.1, 8e9)};
    const auto baseline = *baseline_of(runs);
    const std::string text = to_json(baseline);
    const auto again = parse_baseline(text, "b.json");
    ASSERT_TRUE(again) << to_text(again.error());
    EXPECT_EQ(to_json(*again), text);
}

TEST(Baseline, says_what_is_wrong_with_a_file) {
    EXPECT_THAT(to_text(parse_baseline("[", "b.json").error()), HasSubstr("b.json: is not valid JSON"));
    EXPECT_THAT(to_text(parse_baseline("{}", "b.json").error()), HasSubstr("is not a baseline"));
    const auto bad =
        parse_baseline(R"({"schema": "gambrel-baseline-1", "kernels": [{"name": 3, "time_s": "x"}, 4]})", "b.json");
    const std::string text = to_text(bad.error());
    EXPECT_THAT(text, HasSubstr("machine_hash: missing"));
    EXPECT_THAT(text, HasSubstr("kernels[0].name: 3 is not a text"));
    EXPECT_THAT(text, HasSubstr("kernels[0].time_s: \"x\" is not a number"));
    EXPECT_THAT(text, HasSubstr("kernels[1]"));
}

}  // namespace
}  // namespace gambrel
