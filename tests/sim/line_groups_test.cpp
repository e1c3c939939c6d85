// Is a line in one group only, and is a group that is given up as if it had never been there?
#include "sim/line_groups.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace gambrel::sim_detail {
namespace {

std::vector<std::uint64_t> lines_from(std::uint64_t first, std::size_t count = LineGroups::kLeast) {
    std::vector<std::uint64_t> lines;
    for (std::size_t i = 0; i < count; ++i) lines.push_back(first + 3 * i);
    return lines;
}

TEST(LineGroups, finds_the_same_lines_in_the_same_order_and_no_others) {
    LineGroups groups;
    for (std::size_t i = 0; i < 300; ++i) ASSERT_EQ(groups.find_or_add(lines_from(1'000 * i)), i);
    for (std::size_t i = 0; i < 300; ++i) ASSERT_EQ(groups.find_or_add(lines_from(1'000 * i)), i);
    EXPECT_FALSE(groups.find_or_add(lines_from(3)).has_value());                          // begins within a group
    EXPECT_FALSE(groups.find_or_add(lines_from(0, LineGroups::kLeast + 1)).has_value());  // is longer
    EXPECT_FALSE(groups.find_or_add(lines_from(0, LineGroups::kLeast - 1)).has_value());  // is too short
    EXPECT_EQ(groups.size(), 300U);
    EXPECT_EQ(groups.lines(7).front().line, 7'000U);
    EXPECT_EQ(groups.lines(7).size(), LineGroups::kLeast);
}

TEST(LineGroups, has_no_line_of_a_group_that_overlaps_with_another) {
    LineGroups groups;
    ASSERT_TRUE(groups.find_or_add(lines_from(30)).has_value());
    EXPECT_FALSE(groups.find_or_add(lines_from(0)).has_value());  // its eleventh line is the first of the other
    std::vector<std::uint64_t> twice = lines_from(5'000);
    twice.back() = twice.front();
    EXPECT_FALSE(groups.find_or_add(twice).has_value());
    for (std::uint64_t line = 0; line < 30; line += 3) EXPECT_FALSE(groups.has(line)) << line;
    for (const std::uint64_t line : twice) EXPECT_FALSE(groups.has(line)) << line;
    EXPECT_EQ(groups.lines().size(), LineGroups::kLeast);
    EXPECT_EQ(groups.find_or_add(lines_from(5'000)), 1U);
}

TEST(LineGroups, forgets_those_that_were_added_later) {
    LineGroups groups;
    for (std::size_t i = 0; i < 200; ++i) ASSERT_TRUE(groups.find_or_add(lines_from(1'000 * i)).has_value());
    groups.keep_first(70);
    EXPECT_EQ(groups.size(), 70U);
    EXPECT_EQ(groups.lines().size(), 70 * LineGroups::kLeast);
    for (std::size_t i = 0; i < 200; ++i)
        for (const std::uint64_t line : lines_from(1'000 * i)) ASSERT_EQ(groups.has(line), i < 70) << line;
    EXPECT_EQ(groups.find_or_add(lines_from(1'000 * 150)), 70U);
}

}  // namespace
}  // namespace gambrel::sim_detail
