// Does a sampled simulation say how much it does not know?
#include "sim/sampled_estimate.hpp"

#include <gtest/gtest.h>

namespace gambrel::sim_detail {
namespace {

// All in one tensor; `filled` lines took empty ways of a cache.
TensorCounts counts(std::uint64_t l2_read, std::uint64_t dram_read, std::uint64_t l1_filled = 0,
                    std::uint64_t l2_filled = 0) {
    TensorCounts all{};
    all[0].l1_read = 2 * l2_read;
    all[0].l2_read = l2_read;
    all[0].dram_read = dram_read;
    all[0].l1_filled = l1_filled;
    all[0].l2_filled = l2_filled;
    return all;
}

// The start does a tenth of the work and as much for its work as two windows that agree.
SampledEstimate agreeing(std::uint64_t l1_filled, std::uint64_t l2_filled) {
    SampledEstimate estimate(counts(1000, 500), {}, 10, 0);
    for (int i = 0; i < 2; ++i) estimate.add(counts(1000, 500, l1_filled, l2_filled), {}, 10, 0);
    return estimate;
}

constexpr double kRest = 90, kUnseen = 0.01;

TEST(SampledEstimate, windows_that_agree_are_scaled_by_their_work) {
    const SampledEstimate estimate = agreeing(0, 0);
    EXPECT_EQ(estimate.total(kRest)[0].l2_read, 10'000U);
    EXPECT_EQ(estimate.total(kRest)[0].dram_read, 5'000U);
    EXPECT_EQ(estimate.error(kRest).l1, 0);
    EXPECT_DOUBLE_EQ(estimate.error(kRest).l2, kUnseen);
    EXPECT_DOUBLE_EQ(estimate.error(kRest).dram, kUnseen);
}

// Lines of four sectors; of ten tenths, nine are estimated.
TEST(SampledEstimate, miss_that_a_longer_past_could_have_made_a_hit_is_doubtful) {
    EXPECT_DOUBLE_EQ(agreeing(25, 0).error(kRest).l2, kUnseen + 0.9 * 25 * 4 / 1000);
    EXPECT_DOUBLE_EQ(agreeing(25, 0).error(kRest).dram, kUnseen);
    EXPECT_DOUBLE_EQ(agreeing(0, 25).error(kRest).dram, kUnseen + 0.9 * 25 * 4 / 500);
    EXPECT_DOUBLE_EQ(agreeing(0, 25).error(kRest).l2, kUnseen);
    // No more than there was.
    EXPECT_DOUBLE_EQ(agreeing(0, 1000).error(kRest).dram, kUnseen + 0.9);
}

TEST(SampledEstimate, windows_that_differ_widen_the_bound) {
    SampledEstimate estimate(counts(1000, 500), {}, 10, 0);
    estimate.add(counts(1000, 500), {}, 10, 0);
    estimate.add(counts(1000, 520), {}, 10, 0);
    EXPECT_DOUBLE_EQ(estimate.error(kRest).l2, kUnseen);
    EXPECT_GT(estimate.error(kRest).dram, 10 * kUnseen);  // two windows know little: Student's t is 64
}

TEST(SampledEstimate, what_is_written_is_shared_out_by_work) {
    TensorCounts own{}, others{};
    own[0].dram_write = 100;
    others[0].dram_write = 300;
    for (const auto& [other_work, written] : {std::pair{30.0, 100U}, {90.0, 40U}}) {
        SampledEstimate estimate(own, others, 10, other_work);
        estimate.add({}, {}, 1, 0);
        EXPECT_EQ(estimate.total(0)[0].dram_write, written);
    }
}

}  // namespace
}  // namespace gambrel::sim_detail
