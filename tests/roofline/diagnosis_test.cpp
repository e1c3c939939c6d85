// Points above a roof are explained, never clamped; and the verdict obeys its limits on random kernels and machines.
#include <cmath>
#include <limits>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "roofline/toy.hpp"

namespace gambrel {
namespace {

using test::launch;
using test::measured;
using test::toy_machine;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(AboveRoof, within_two_per_cent_is_noise) {
    EXPECT_THAT(roofline(toy_machine(), launch("k", 1, 101.9e9, 1)).findings, IsEmpty());
    EXPECT_THAT(roofline(toy_machine(), launch("k", 1, 102.1e9, 1)).findings, testing::SizeIs(1));
}

TEST(AboveRoof, the_percentage_is_told_and_not_clamped) {
    const auto r = roofline(toy_machine(), launch("k", 1, 1e9, 30e9));
    EXPECT_DOUBLE_EQ(*r.of_roof, 3);
    EXPECT_DOUBLE_EQ(r.headroom->value(), -2);
    ASSERT_EQ(r.findings.size(), 1U);
    EXPECT_THAT(r.findings[0], AllOf(HasSubstr("DRAM at 300 % of its ceiling"), HasSubstr("do not fit together")));
}

TEST(AboveRoof, another_clock_that_would_hold_the_point_is_named) {
    Kernel k = launch("k", 1, 90e9, 1);
    k.clock = measured(Frequency{0.5e9});
    const auto r = roofline(toy_machine(), k);
    ASSERT_EQ(r.findings.size(), 1U);
    EXPECT_THAT(r.findings[0],
                AllOf(HasSubstr("FP32 at 180 %"), HasSubstr("at the boost clock of 1 GHz it would not be exceeded")));
    k.work[Pipe::fp32] = measured(Flops{150e9});  // above boost as well
    EXPECT_THAT(roofline(toy_machine(), k).findings.at(0), Not(HasSubstr("boost clock")));
}

TEST(AboveRoof, the_sparse_rate_and_another_precision_are_named) {
    Kernel k = launch("k", 1);
    k.work[Pipe::tensor_fp16] = measured(Flops{1.5e12});
    EXPECT_THAT(roofline(toy_machine(), k).findings.at(0),
                AllOf(HasSubstr("the sparse peak of 2 TFLOP/s would not be exceeded"),
                      HasSubstr("Tensor FP8 at 2 TFLOP/s would not be exceeded")));
    EXPECT_THAT(roofline(toy_machine(), launch("k", 1, 150e9, 1)).findings.at(0),
                HasSubstr("FP16 at 200 GFLOP/s would not be exceeded"));
}

TEST(AboveRoof, modelled_bytes_that_fit_in_l2_may_never_have_reached_dram) {
    Kernel k = launch("k", 1e-4, 1e3, 5e6);
    k.bytes[Level::dram]->origin = Origin::modelled;
    EXPECT_THAT(roofline(toy_machine(), k).findings.at(0), HasSubstr("5 MB a launch fit in the L2 of 6 MB"));
    k.bytes[Level::dram]->value = Bytes{7e6};
    EXPECT_THAT(roofline(toy_machine(), k).findings.at(0), Not(HasSubstr("fit in the L2")));
    k.launches = 2;  // 3.5 MB each
    EXPECT_THAT(roofline(toy_machine(), k).findings.at(0), HasSubstr("fit in the L2"));
    k.bytes[Level::dram]->origin = Origin::measured;  // a counter of DRAM saw them
    EXPECT_THAT(roofline(toy_machine(), k).findings.at(0), Not(HasSubstr("fit in the L2")));
}

TEST(AboveRoof, a_beaten_benchmark_is_said_to_be_one) {
    Machine m = toy_machine();
    m.at(Level::dram).measured = AtClock<Bandwidth>{{Bandwidth{9e9}, Origin::measured, "bench"}, {}};
    RooflineOptions options;
    options.roofs = Roofs::measured;
    EXPECT_THAT(roofline(m, launch("k", 1, 1, 9.9e9), options).findings.at(0),
                HasSubstr("a kernel can be faster than a benchmark"));
}

class Random {
public:
    double amount(double low, double high) { return low * std::pow(high / low, unit_(engine_)); }
    bool coin() { return unit_(engine_) < 0.5; }

    Machine machine() {
        Machine m = toy_machine();
        m.pipes[Pipe::fp32].dense->value *= amount(0.1, 10);
        for (auto& l : m.levels) {
            if (l.width) l.width->value *= amount(0.1, 10);
            if (l.bandwidth) l.bandwidth->value *= amount(0.1, 10);
        }
        return m;
    }
    Kernel kernel() {
        Kernel k = launch("k", amount(1e-6, 1));
        if (coin()) k.work[Pipe::fp32] = measured(Flops{coin() ? 0 : amount(1, 1e12)});
        if (coin()) k.work[Pipe::tensor_fp16] = measured(Flops{amount(1, 1e12)});
        for (const Level l : {Level::l1, Level::l2, Level::dram})
            if (coin()) k.bytes[l] = measured(Bytes{coin() && coin() ? 0 : amount(1, 1e12)});
        if (coin()) k.clock = measured(Frequency{amount(0.2e9, 2e9)});
        return k;
    }

private:
    std::mt19937_64 engine_{42};
    std::uniform_real_distribution<double> unit_{0, 1};
};

TEST(Limits, more_bandwidth_never_lowers_a_roof_and_never_takes_longer) {
    Random random;
    for (int i = 0; i < 3000; ++i) {
        const Machine m = random.machine();
        const Kernel k = random.kernel();
        Machine faster = m;
        for (auto& l : faster.levels) {
            const double factor = random.coin() ? 1 : random.amount(1, 100);
            if (l.width) l.width->value *= factor;
            if (l.bandwidth) l.bandwidth->value *= factor;
        }
        const auto a = roofline(m, k), b = roofline(faster, k);
        ASSERT_LE(b.shortest, a.shortest);
        ASSERT_EQ(a.levels.size(), b.levels.size());
        for (std::size_t l = 0; l < a.levels.size(); ++l) {
            ASSERT_LE(a.levels[l].ceiling, b.levels[l].ceiling);
            ASSERT_EQ(a.levels[l].roof.has_value(), b.levels[l].roof.has_value());
            ASSERT_LE(a.levels[l].roof.value_or(FlopRate{}), b.levels[l].roof.value_or(FlopRate{}));
        }
    }
}

TEST(Limits, the_binding_roof_is_the_longest_time_and_the_lowest_roof) {
    Random random;
    for (int i = 0; i < 3000; ++i) {
        const auto k = random.kernel();
        const auto r = roofline(random.machine(), k);
        Seconds longest{};
        for (const auto& p : r.pipes) longest = std::max(longest, p.shortest);
        for (const auto& l : r.levels) longest = std::max(longest, l.shortest);
        ASSERT_EQ(r.shortest, longest);
        ASSERT_EQ(r.of_roof.has_value(), longest.value() > 0);
        if (!r.of_roof || !flop(k) || is_zero_flop(k)) continue;
        // The same verdict in the paper's terms: the achieved rate over the lowest roof.
        double lowest = r.compute_roof ? r.compute_roof->value() : std::numeric_limits<double>::infinity();
        for (const auto& l : r.levels)
            if (l.roof) lowest = std::min(lowest, l.roof->value());
        ASSERT_NEAR(r.achieved->value() / lowest, *r.of_roof, *r.of_roof * 1e-9);
    }
}

TEST(Limits, zero_traffic_and_endless_bandwidth_leave_the_pipe) {
    Machine m = toy_machine();
    EXPECT_EQ(to_text(roofline(m, launch("k", 1, 1, 0)).bound), "fp32");
    m.at(Level::dram).bandwidth->value = Bandwidth{std::numeric_limits<double>::infinity()};
    EXPECT_EQ(to_text(roofline(m, launch("k", 1, 1, 1e15)).bound), "fp32");
}

}  // namespace
}  // namespace gambrel
