// Caches and schedule on their own, with a handful of accesses whose outcome can be counted by hand.
#include "sim/hierarchy.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "sim/script.hpp"

namespace gambrel::sim_detail {
namespace {

// Of tensor 0.
Counts after(const std::vector<Access>& accesses, const std::vector<std::uint32_t>& sms, CacheShape shape) {
    return all_after(accesses, sms, shape)[0];
}

TEST(Hierarchy, half_of_l2_keeps_copies_until_the_other_half_writes) {
    std::uint64_t line = 0;
    while ((mixed(line) >> 31U & 1U) != 0) ++line;  // at home in the half of SM 0
    const CacheShape shape{.sms = 2, .l1_lines = 0, .l2_lines = 4096, .partitions = 2};
    const Access read{line, 0x3, Action::read}, write{line, 0x1, Action::write};
    Counts counts = after({read, read, read}, {1, 1, 0}, shape);
    EXPECT_EQ(counts.fabric, 2U);  // the first time only
    EXPECT_EQ(counts.dram_read, 2U);
    EXPECT_EQ(counts.l2_hit, 4U);
    counts = after({read, write, read}, {1, 0, 1}, shape);
    EXPECT_EQ(counts.fabric, 4U);  // the copy was dropped
    EXPECT_EQ(counts.dram_read, 2U);
    EXPECT_EQ(counts.l2_hit, 2U);
    counts = after({read, write, read}, {1, 1, 1}, shape);
    EXPECT_EQ(counts.fabric, 5U);  // a write from afar crosses too, and drops the copy
    EXPECT_EQ(counts.l2_write, 1U);
}

TEST(Hierarchy, line_of_a_group_that_is_read_by_itself_is_the_same_line) {
    std::vector<std::uint64_t> lines(16);
    std::iota(lines.begin(), lines.end(), 0);
    LineGroups groups;
    ASSERT_TRUE(groups.find_or_add(lines).has_value());
    groups.end_adding(true);
    const auto group = [](unsigned sectors) { return Access::group(Tensor::input, 0, sectors, Action::read_group); };
    const CacheShape shape{.sms = 1, .l1_lines = 1024, .l2_lines = 4096};
    const Counts counts =
        all_after({group(1), Access{3, 0x3, Action::read}, group(2)}, {0, 0, 0}, shape, false, groups)[0];
    EXPECT_EQ(counts.l1_read, 16U + 2U + 16U);
    EXPECT_EQ(counts.l1_hit, 1U + 1U);  // line 3: its first sector, then its second one
    EXPECT_EQ(counts.l2_read, 16U + 1U + 15U);
    EXPECT_EQ(counts.dram_read, 32U);
}

// Sectors that no line of a group has yet, where that costs no more than DRAM, and where it moves check bits or copies.
TEST(Hierarchy, sectors_that_a_whole_group_misses_in_l2_count_as_those_of_its_lines) {
    // Each has check bits in another line, which are more than a memory controller keeps.
    std::vector<std::uint64_t> lines(256);
    for (std::size_t i = 0; i < lines.size(); ++i) lines[i] = 16 * i;
    LineGroups groups;
    ASSERT_TRUE(groups.find_or_add(lines).has_value());
    groups.end_adding(false);
    for (const CacheShape& shape : {CacheShape{.sms = 2, .l1_lines = 0, .l2_lines = 4096},
                                    CacheShape{.sms = 2, .l1_lines = 0, .l2_lines = 4096, .ecc_lines = 16},
                                    CacheShape{.sms = 2, .l1_lines = 0, .l2_lines = 4096, .partitions = 2}}) {
        std::vector<Access> together, alone;
        std::vector<std::uint32_t> sms, sms_alone;
        for (const auto& [sectors, sm] : {std::pair{1U, 0U}, {2U, 1U}, {12U, 0U}, {3U, 1U}, {2U, 0U}}) {
            together.push_back(Access::group(Tensor::input, 0, sectors, Action::read_group));
            sms.push_back(sm);
            for (const std::uint64_t line : lines) alone.emplace_back(line, sectors, Action::read);
            sms_alone.resize(alone.size(), sm);
        }
        const TensorCounts counts = all_after(together, sms, shape, false, groups);
        const TensorCounts expected = all_after(alone, sms_alone, shape);
        for (const Tensor tensor : {Tensor::input, Tensor::check_bits}) {
            const Counts &got = counts[static_cast<std::size_t>(tensor)],
                         &wanted = expected[static_cast<std::size_t>(tensor)];
            EXPECT_EQ(got.l2_read, wanted.l2_read);
            EXPECT_EQ(got.l2_hit, wanted.l2_hit);
            EXPECT_EQ(got.fabric, wanted.fabric);
            EXPECT_EQ(got.dram_read, wanted.dram_read);
        }
        EXPECT_EQ(counts[0].dram_read, 4 * lines.size());
    }
}

// Requests that are the same as those just before them, of two SMs on each side.
TEST(Hierarchy, repeated_reads_of_l2_count_as_reads_one_by_one) {
    std::uint64_t near = 0, far = 0;
    while ((mixed(near) >> 31U & 1U) != 0) ++near;
    while ((mixed(far) >> 31U & 1U) == 0) ++far;
    const CacheShape shape{.sms = 4, .l1_lines = 0, .l2_lines = 4096, .partitions = 2};
    for (const std::uint64_t line : {near, far}) {
        const Script script(std::vector<Access>(4, Access{line, 0x3, Action::read}));
        Hierarchy hierarchy(script, shape, 1, 1);
        std::vector<Event> events;
        for (std::uint32_t i = 0; i < 4; ++i) events.push_back({i, 0, i, 0, true, false});
        hierarchy.run(events, {});  // in one round, so that they meet in their slice
        const Counts counts = hierarchy.counts()[0];
        EXPECT_EQ(counts.l2_read, 8U);
        EXPECT_EQ(counts.l2_hit, 6U);
        EXPECT_EQ(counts.fabric, 2U);
        EXPECT_EQ(counts.dram_read, 2U);
    }
}

TEST(Hierarchy, atomic_reads_what_is_missing_and_a_write_does_not) {
    const CacheShape shape{.sms = 1, .l1_lines = 0, .l2_lines = 4096};
    EXPECT_EQ(after({Access{5, 0x7, Action::atomic}}, {0}, shape).dram_read, 3U);
    EXPECT_EQ(after({Access{5, 0x7, Action::write}}, {0}, shape).dram_read, 0U);
    EXPECT_EQ(after({Access{5, 0x7, Action::write}, Access{5, 0xF, Action::atomic}}, {0, 0}, shape).dram_read, 1U);
}

// Two bytes for each sector: 16 lines have 128 bytes of check bits, and four lines share a sector of them.
TEST(Hierarchy, check_bits_that_lie_in_the_same_memory_move_beside_the_data) {
    const CacheShape ecc{.sms = 1, .l1_lines = 0, .l2_lines = 4096, .ecc_lines = 16};
    const auto checks = [](const std::vector<Access>& accesses, CacheShape shape) {
        return all_after(accesses, std::vector<std::uint32_t>(accesses.size(), 0), shape,
                         true)[static_cast<std::size_t>(Tensor::check_bits)];
    };
    std::vector<Access> read, written, apart;
    for (std::uint64_t line = 0; line < 16; ++line) {
        read.emplace_back(line, kAllSectors, Action::read);
        written.emplace_back(line, kAllSectors, Action::write);
        apart.emplace_back(64 * line, 0x1, Action::read);
    }
    EXPECT_EQ(checks(read, ecc).dram_read, 4U);
    EXPECT_EQ(checks(read, ecc).dram_write, 0U);
    EXPECT_EQ(checks(written, ecc).dram_read, 0U);
    EXPECT_EQ(checks(written, ecc).dram_write, 4U);
    // At the end lines are written in order, so that those which share a sector do so one after the other.
    std::vector<Access> many;
    for (std::uint64_t line = 0; line < 16 * 1024; ++line) many.emplace_back(line, 0x1, Action::write);
    EXPECT_EQ(checks(many, {.sms = 1, .l1_lines = 0, .l2_lines = 1 << 20, .ecc_lines = 16}).dram_write, 4U * 1024);
    EXPECT_EQ(checks(apart, ecc).dram_read, 16U);  // as many as of data: nothing is shared
    CacheShape eighth = ecc;
    eighth.ecc_lines = 8;
    EXPECT_EQ(checks(read, eighth).dram_read, 8U);
    // What L2 has needs none.
    std::vector<Access> twice = read;
    twice.insert(twice.end(), read.begin(), read.end());
    EXPECT_EQ(checks(twice, ecc).dram_read, 4U);
    CacheShape hbm = ecc;
    hbm.ecc_lines = 0;
    EXPECT_EQ(checks(read, hbm).dram_read + checks(written, hbm).dram_write, 0U);
}

TEST(Hierarchy, few_check_bits_are_kept_for_the_next_access) {
    const CacheShape ecc{.sms = 1, .l1_lines = 0, .l2_lines = 4096, .ecc_lines = 16};
    const auto reads_of = [&](std::uint64_t groups) {
        // A line of each group, then the next one of each.
        std::vector<Access> accesses;
        for (std::uint64_t line = 0; line < 2; ++line)
            for (std::uint64_t group = 0; group < groups; ++group)
                accesses.emplace_back(16 * group + line, kAllSectors, Action::read);
        const std::vector<std::uint32_t> sms(accesses.size(), 0);
        return all_after(accesses, sms, ecc)[static_cast<std::size_t>(Tensor::check_bits)].dram_read;
    };
    EXPECT_EQ(reads_of(8), 8U);
    EXPECT_EQ(reads_of(4096), 2U * 4096);
}

TEST(Hierarchy, load_that_l1_does_not_keep_is_merged_within_its_step_only) {
    const CacheShape shape{.sms = 1, .l1_lines = 64, .l2_lines = 4096};
    const Access load{5, 0x3, Action::read_step};
    const Counts counts = after({load, load}, {0, 0}, shape);
    EXPECT_EQ(counts.l1_hit, 0U);
    EXPECT_EQ(counts.l2_read, 4U);
    const Access kept{5, 0x3, Action::read};
    EXPECT_EQ(after({kept, kept}, {0, 0}, shape).l1_hit, 2U);
}

TEST(Hierarchy, misses_that_take_an_empty_way_are_counted_apart) {
    // One line in each cache: only the first miss finds it empty.
    const CacheShape shape{.sms = 1, .l1_lines = 1, .l2_lines = 16, .l2_ways = 1};
    std::uint64_t other = 6;  // in the same slice of L2, which then has one set
    while (mixed(other) % 16 != mixed(5) % 16) ++other;
    const Access first{5, 0x3, Action::read}, second{other, 0x3, Action::read};
    const Counts counts = after({first, second, first}, {0, 0, 0}, shape);
    EXPECT_EQ(counts.l1_filled, 1U);
    EXPECT_EQ(counts.l2_filled, 1U);
    EXPECT_EQ(counts.dram_read, 6U);
}

TEST(Schedule, ctas_of_one_sm_share_its_throughput) {
    // CTAs 0 and 2 on SM 0, CTA 1 alone on SM 1: it is done when the others are half way.
    const Script script(std::vector<Access>(3), 10);
    Schedule schedule(script, {.sms = 2, .ctas_per_sm = 2}, {.spread = 0}, 1, 0, 3);
    std::vector<Event> events;
    schedule.next(1000, events);
    ASSERT_EQ(events.size(), 33U);
    std::int64_t steps = 0;
    for (const Event& event : events) {
        if (event.cta == 0) steps = event.step;
        if (event.cta == 1 && event.last) break;
    }
    EXPECT_GE(steps, 4);
    EXPECT_LE(steps, 6);
}

TEST(Schedule, of_equal_times_the_sm_with_the_lower_number_is_first) {
    for (const std::uint32_t sms : {1U, 2U, 5U, 8U}) {
        const Script script(std::vector<Access>(sms), 3);
        Schedule schedule(script, {.sms = sms, .ctas_per_sm = 1}, {.spread = 0}, 1, 0, sms);
        std::vector<Event> events;
        schedule.next(1000, events);
        ASSERT_EQ(events.size(), 4 * sms);
        for (std::uint32_t i = 0; i < events.size(); ++i)
            EXPECT_EQ(events[i].sm, i % sms) << sms << " SMs, event " << i;
    }
}

TEST(Schedule, next_cta_goes_where_one_ends) {
    const Script script(std::vector<Access>(5), 2);
    Schedule schedule(script, {.sms = 2, .ctas_per_sm = 2}, {.spread = 0}, 1, 0, 5);
    std::vector<Event> events;
    schedule.next(1000, events);
    std::uint32_t sm = 9, slot = 9;
    for (const Event& event : events) {
        if (event.cta < 4 && event.last && sm == 9) sm = event.sm, slot = event.slot;
        if (event.cta == 4) {
            EXPECT_EQ(event.sm, sm);
            EXPECT_EQ(event.slot, slot);
        }
    }
    EXPECT_EQ(events.size(), 15U);
}

}  // namespace
}  // namespace gambrel::sim_detail
