// Who is an outlier, who is not, and does a rank's result survive its journey?
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gambrel/measure.hpp>

namespace gambrel {
namespace {

RankResult rank_with(int rank, double rate, double latency = 1e-7) {
    RankResult r;
    r.rank = rank;
    r.measurement.device = {DeviceKind::host, "CPU", "node" + std::to_string(rank), "AVX2", 4, {}, {}, {}, {}};
    MeasuredCeiling dram;
    dram.kind = CeilingKind::bandwidth, dram.title = "DRAM load", dram.level = Level::dram, dram.primary = true;
    dram.value = statistics({rate});
    MeasuredCeiling chase;
    chase.kind = CeilingKind::latency, chase.title = "DRAM latency", chase.level = Level::dram;
    chase.value = statistics({latency});
    r.measurement.ceilings = {dram, chase};
    return r;
}

TEST(Cluster, names_the_slow_rank_and_only_it) {
    const auto s = cluster_summary({rank_with(0, 100), rank_with(1, 101), rank_with(2, 80), rank_with(3, 99.5)});
    ASSERT_EQ(s.ceilings.size(), 2U);
    ASSERT_EQ(s.ceilings[0].outliers.size(), 1U);
    EXPECT_EQ(s.ceilings[0].outliers[0].rank, 2);
    EXPECT_EQ(s.ceilings[0].outliers[0].device, "node2");
    EXPECT_TRUE(s.ceilings[0].outliers[0].worse);
    EXPECT_EQ(s.ceilings[0].lowest_rank, 2);
    EXPECT_TRUE(s.ceilings[1].outliers.empty());
    EXPECT_DOUBLE_EQ(s.typical.ceilings[0].value.median, 99.75);
}

TEST(Cluster, a_long_latency_is_worse_and_a_wide_spread_names_nobody) {
    const auto slow = cluster_summary({rank_with(0, 1), rank_with(1, 1), rank_with(2, 1, 2e-7), rank_with(3, 1)});
    ASSERT_EQ(slow.ceilings[1].outliers.size(), 1U);
    EXPECT_TRUE(slow.ceilings[1].outliers[0].worse);
    EXPECT_FALSE(has_outliers(cluster_summary(
        {rank_with(0, 80), rank_with(1, 90), rank_with(2, 100), rank_with(3, 110), rank_with(4, 120)})));
    EXPECT_FALSE(has_outliers(cluster_summary({rank_with(0, 100), rank_with(1, 50)})));
}

TEST(Cluster, a_failed_rank_is_told_and_the_others_counted) {
    RankResult failed;
    failed.rank = 1, failed.error = "no GPU";
    const auto s = cluster_summary({rank_with(0, 100), failed, rank_with(2, 100)});
    ASSERT_EQ(s.failed.size(), 1U);
    EXPECT_EQ(s.failed[0].first, 1);
    EXPECT_EQ(s.ceilings[0].ranks, 2U);
    EXPECT_TRUE(cluster_summary({failed}).ceilings.empty());
}

TEST(Cluster, a_result_survives_its_journey_and_junk_does_not) {
    RankResult r = rank_with(5, 123.25);
    r.measurement.ceilings[0].fault = "wrong sum";
    const auto again = from_wire(to_wire(r));
    ASSERT_TRUE(again) << to_text(again.error());
    EXPECT_EQ(again->rank, 5);
    EXPECT_EQ(again->measurement.device.id, "node5");
    EXPECT_EQ(again->measurement.ceilings[0].value.median, 123.25);
    EXPECT_EQ(again->measurement.ceilings[0].fault, "wrong sum");
    EXPECT_EQ(again->measurement.ceilings[0].level, Level::dram);
    EXPECT_FALSE(from_wire("{"));
    EXPECT_FALSE(from_wire("{}"));
    EXPECT_FALSE(from_wire(R"({"schema":9,"rank":1})"));
    for (const char* rank : {"118446744073709551616", "4294967297", "1.5", "-1"}) {
        const auto refused = from_wire(fmt::format(R"({{"schema":2,"rank":{}}})", rank));
        ASSERT_FALSE(refused) << rank;
        EXPECT_THAT(to_text(refused.error()), testing::HasSubstr("rank: expected a whole number up to 2147483647"));
    }
}

}  // namespace
}  // namespace gambrel
