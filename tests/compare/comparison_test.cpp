#include <gtest/gtest.h>

#include <gambrel/compare.hpp>

#include "report/sample.hpp"

namespace gambrel {
namespace {

using sample::Spec;

Analysis side(const std::vector<Spec>& specs, Origin origin = Origin::measured, Grouping grouping = Grouping::launch) {
    std::vector<Kernel> kernels;
    for (const auto& s : specs) {
        kernels.push_back(sample::kernel(s));
        kernels.back().time->origin = origin;
    }
    AnalysisOptions options;
    options.grouping = grouping;
    gambrel::Run run{"", kernels, {sample::toy_machine()}};
    run.origin = origin;
    return analysis(std::move(run), options);
}
// The toy machine gives 100 GFLOP/s and 10 GB/s.
Spec spec(const char* name, double time, double flop, double dram) { return {name, 1, time, flop, 0, 0, 0, dram, 1e9}; }

TEST(Comparison, pairs_by_name_and_shows_what_has_no_partner) {
    const auto c = comparison(side({spec("a", 1, 1e9, 8e9), spec("gone", 0.5, 1e9, 1e9)}),
                              side({spec("new", 0.1, 1e9, 1e9), spec("a", 0.5, 1e9, 4e9)}), {MatchBy::name});
    ASSERT_EQ(c.pairs.size(), 3u);
    EXPECT_EQ(c.matched, 1u);
    EXPECT_EQ(c.only_before, 1u);
    EXPECT_EQ(c.only_after, 1u);
    EXPECT_DOUBLE_EQ(*c.pairs[0].time.ratio(), 0.5);
    EXPECT_DOUBLE_EQ(*c.pairs[0].bytes[Level::dram].ratio(), 0.5);
    EXPECT_DOUBLE_EQ(*c.pairs[0].intensity[Level::dram].ratio(), 2);
    EXPECT_DOUBLE_EQ(*c.pairs[0].flop.ratio(), 1);
    EXPECT_FALSE(c.pairs[1].after.has_value());
    EXPECT_FALSE(c.pairs[1].time.ratio().has_value());
}

TEST(Comparison, the_second_of_a_name_belongs_to_the_second) {
    const auto c =
        comparison(side({spec("a", 1, 1, 1e9), spec("a", 2, 1, 1e9)}),
                   side({spec("a", 3, 1, 1e9), spec("a", 4, 1, 1e9), spec("a", 5, 1, 1e9)}), {MatchBy::name});
    ASSERT_EQ(c.matched, 2u);
    for (const auto& p : c.pairs)
        if (p.before) {
            EXPECT_DOUBLE_EQ(*p.time.after - *p.time.before, 2);
        }
}

TEST(Comparison, falls_back_to_order_where_names_differ) {
    const auto c = comparison(side({spec("tf_conv", 1, 1e9, 1e9), spec("tf_relu", 1, 1e9, 1e9)}),
                              side({spec("pt_conv", 2, 1e9, 1e9), spec("pt_relu", 3, 1e9, 1e9)}));
    EXPECT_EQ(c.matched_by, MatchBy::order);
    EXPECT_EQ(c.matched, 2u);
    const auto same = comparison(side({spec("x", 1, 1e9, 1e9)}), side({spec("x", 2, 1e9, 1e9)}));
    EXPECT_EQ(same.matched_by, MatchBy::name);
}

TEST(Comparison, order_is_not_guessed_from_rows_sorted_by_time) {
    const auto c = comparison(side({spec("tf", 1, 1e9, 1e9)}, Origin::measured, Grouping::kernel),
                              side({spec("pt", 2, 1e9, 1e9)}, Origin::measured, Grouping::kernel));
    EXPECT_EQ(c.matched_by, MatchBy::name);
    EXPECT_EQ(c.matched, 0u);
}

TEST(Comparison, two_models_are_matched_by_layer_whatever_the_phase) {
    auto before = side({spec("conv1", 1, 1e9, 1e9)}, Origin::modelled);
    auto after = side({spec("conv1", 2, 1e9, 1e9)}, Origin::simulated);
    after.rows[0].kernel.phase = Symbol("forward");
    const auto c = comparison(before, after);
    EXPECT_EQ(c.matched_by, MatchBy::layer);
    EXPECT_EQ(c.matched, 1u);
    EXPECT_TRUE(c.is_prediction);  // the simulator is nearer to the hardware
    EXPECT_FALSE(comparison(after, before).is_prediction);
}

// Rows are sorted by time, so the n-th of a name on one side may be another pass than the n-th on the other.
TEST(Comparison, the_same_layer_in_another_pass_is_another_layer) {
    const auto in = [](const char* phase, double time) {
        Spec s = spec("conv1", time, 1e9, 1e9);
        s.phase = phase;
        return s;
    };
    const auto c = comparison(side({in("fwd", 1), in("wgrad", 2)}, Origin::modelled),
                              side({in("wgrad", 20), in("fwd", 10)}, Origin::simulated));
    ASSERT_EQ(c.matched, 2u);
    for (const auto& p : c.pairs) EXPECT_DOUBLE_EQ(*p.time.ratio(), 10);
}

TEST(Comparison, a_measured_kernel_belongs_to_the_layer_that_its_range_names) {
    Spec measured = spec("volta_sgemm_128x64_nn", 2, 1e9, 1e9);
    measured.phase = "step/block1/conv1/inner";
    const auto c = comparison(side({spec("conv1", 1, 1e9, 1e9), spec("fc", 1, 1e9, 1e9)}, Origin::modelled),
                              side({measured}), {MatchBy::layer});
    EXPECT_EQ(c.matched, 1u);
    EXPECT_EQ(c.only_before, 1u);
    EXPECT_DOUBLE_EQ(*c.pairs[0].time.ratio(), 2);
    measured.phase = "step/conv10";
    EXPECT_EQ(
        comparison(side({spec("conv1", 1, 1e9, 1e9)}, Origin::modelled), side({measured}), {MatchBy::layer}).matched,
        0u);
}

TEST(Comparison, a_model_against_a_measurement_is_a_prediction) {
    EXPECT_TRUE(comparison(side({spec("a", 1, 1, 1e9)}, Origin::modelled), side({spec("a", 1, 1, 1e9)})).is_prediction);
    EXPECT_FALSE(
        comparison(side({spec("a", 1, 1, 1e9)}), side({spec("a", 1, 1, 1e9)}, Origin::modelled)).is_prediction);
}

// 8e9 B at 10 GB/s take 0.8 s at least; it took 1 s. Half the bytes explain half the time, wholly.
TEST(Comparison, names_the_level_that_explains_the_time) {
    const auto c = comparison(side({spec("a", 1, 1e9, 8e9)}), side({spec("a", 0.5, 1e9, 4e9)}));
    EXPECT_EQ(c.pairs[0].explained_by, Bound{Level::dram});
    EXPECT_DOUBLE_EQ(c.pairs[0].explained, 1);
}

TEST(Comparison, equal_bytes_and_work_explain_nothing) {
    const auto c = comparison(side({spec("a", 1, 1e9, 8e9)}), side({spec("a", 0.9, 1e9, 8e9)}));
    EXPECT_EQ(c.pairs[0].explained_by, Bound{});
    EXPECT_EQ(c.pairs[0].explained, 0);
}

TEST(Comparison, changed_bytes_that_do_not_bind_explain_nothing) {
    // 90e9 FLOP at 100 GFLOP/s: bound by compute before and after; DRAM bytes double and are still far below.
    const auto c = comparison(side({spec("a", 1, 90e9, 1e9)}), side({spec("a", 1.5, 90e9, 2e9)}));
    EXPECT_EQ(c.pairs[0].explained_by, Bound{});
}

TEST(Comparison, a_part_is_stated_as_a_part) {
    // Bytes go from 8 to 6 (time 1 to 0.75 by them), but the time went to 0.5: half of the change.
    const auto c = comparison(side({spec("a", 1, 1e9, 8e9)}), side({spec("a", 0.5, 1e9, 6e9)}));
    EXPECT_EQ(c.pairs[0].explained_by, Bound{Level::dram});
    EXPECT_DOUBLE_EQ(c.pairs[0].explained, 0.5);
}

// At half the clock the toy machine gives 50 GFLOP/s; the work is the same.
TEST(Comparison, a_change_of_clock_is_named_as_such) {
    Spec slow = spec("a", 2, 90e9, 1e9);
    slow.clock = 0.5e9;
    const auto c = comparison(side({spec("a", 1, 90e9, 1e9)}), side({slow}));
    EXPECT_EQ(c.pairs[0].cause, Cause::clock);
    EXPECT_DOUBLE_EQ(c.pairs[0].explained, 1);
    EXPECT_DOUBLE_EQ(*c.pairs[0].clock.ratio(), 0.5);
    ASSERT_TRUE(c.pairs[0].factors);
    EXPECT_DOUBLE_EQ(c.pairs[0].factors->clock, 2);
    EXPECT_DOUBLE_EQ(c.pairs[0].factors->work, 1);
    EXPECT_DOUBLE_EQ(c.pairs[0].factors->rate, 1);
}

// A profiler that locks clocks also slows DRAM: its roof sinks with equal bytes. The bytes are not the cause.
TEST(Comparison, a_roof_that_sinks_with_equal_bytes_is_the_clock_and_not_the_level) {
    Analysis before = side({spec("a", 1, 1e9, 8e9)}), after = side({spec("a", 1.25, 1e9, 8e9)});
    for (LevelVerdict& l : after.rows[0].verdict.levels)
        if (l.level == Level::dram) l.ceiling = l.ceiling * 0.8, l.shortest = l.shortest / 0.8;
    const auto c = comparison(before, after);
    EXPECT_EQ(c.pairs[0].cause, Cause::clock);
    EXPECT_EQ(c.pairs[0].explained_by, Bound{});
}

TEST(Comparison, the_factors_of_a_change_multiply_to_it) {
    Spec after = spec("a", 3, 95e9, 20e9);
    after.clock = 0.7e9;
    const auto c = comparison(side({spec("a", 1, 90e9, 1e9)}), side({after}));
    const TimeFactors f = c.pairs[0].factors.value();
    EXPECT_NEAR(f.clock * f.bytes * f.work * f.rate, 3, 1e-12);
    EXPECT_EQ(f.work, 1) << "bound by DRAM after";
}

TEST(Comparison, template_arguments_do_not_keep_a_kernel_from_itself) {
    const auto c =
        comparison(side({spec("void ns::conv<float, 4>(float*)", 1, 1e9, 8e9), spec("void map<Add>()", 0.5, 1, 1e9),
                         spec("void map<Mul>()", 0.4, 1, 1e9)}),
                   side({spec("void ns::conv<half, 8>(half*)", 0.5, 1e9, 4e9), spec("void map<Sub>()", 0.5, 1, 1e9)}),
                   {MatchBy::name});
    EXPECT_EQ(c.matched, 1u) << "which of two maps became Sub cannot be known";
    EXPECT_EQ(c.matched_by_base_name, 1u);
    EXPECT_TRUE(c.pairs[0].by_base_name);
    EXPECT_DOUBLE_EQ(*c.pairs[0].time.ratio(), 0.5);
    EXPECT_EQ(c.only_before, 2u);
    EXPECT_EQ(c.only_after, 1u);
    const auto same = comparison(side({spec("f<int>", 1, 1, 1e9)}), side({spec("f<int>", 1, 1, 1e9)}), {MatchBy::name});
    EXPECT_EQ(same.matched_by_base_name, 0u);
}

TEST(Comparison, shares_are_of_the_time_of_their_own_side) {
    const auto c = comparison(side({spec("a", 1, 1e9, 8e9), spec("gone", 3, 1e9, 1e9)}),
                              side({spec("a", 0.5, 1e9, 4e9), spec("new", 0.5, 1e9, 1e9)}), {MatchBy::name});
    for (const auto& p : c.pairs) {
        if (p.before && p.after) {
            EXPECT_DOUBLE_EQ(*p.share.before, 0.25);
            EXPECT_DOUBLE_EQ(*p.share.after, 0.5);
        } else {
            EXPECT_EQ(p.share.before.has_value(), p.before.has_value());
            EXPECT_EQ(p.share.after.has_value(), p.after.has_value());
        }
    }
}

TEST(Comparison, more_launches_of_the_same_are_a_change_of_count) {
    Spec one = spec("a", 1, 1e9, 8e9), two = spec("a", 2, 2e9, 16e9);
    two.launches = 2;
    const auto c = comparison(side({one}), side({two}));
    EXPECT_EQ(c.pairs[0].cause, Cause::count);
    EXPECT_NEAR(c.pairs[0].explained, 1, 1e-9);
    two.launches = 1;
    EXPECT_EQ(comparison(side({one}), side({two})).pairs[0].cause, Cause::roof);
}

TEST(Comparison, every_row_is_in_exactly_one_pair) {
    for (const MatchBy by : {MatchBy::name, MatchBy::order, MatchBy::layer}) {
        const auto c = comparison(sample::many(50), sample::many(37), {by});
        std::vector<int> before(50), after(37);
        for (const auto& p : c.pairs) {
            if (p.before) ++before[*p.before];
            if (p.after) ++after[*p.after];
        }
        EXPECT_EQ(before, std::vector<int>(50, 1));
        EXPECT_EQ(after, std::vector<int>(37, 1));
        EXPECT_EQ(c.matched + c.only_before + c.only_after, c.pairs.size());
    }
}

}  // namespace
}  // namespace gambrel
