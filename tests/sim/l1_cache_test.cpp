// Does an L1 that counts the lines of groups, and looks up only the others, do what exact LRU does? Against a second
// implementation that is obviously right.
#include "sim/l1_cache.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <random>
#include <vector>

namespace gambrel::sim_detail {
namespace {

// One list for each set, the line last used in front.
class NaiveCache {
public:
    NaiveCache(std::uint64_t sets, unsigned ways) : sets_(sets), ways_(ways) {}
    unsigned missing(std::uint64_t line, unsigned sectors, std::uint64_t& filled) {
        std::list<Line>& set = sets_[(mixed(line) >> 32U) * sets_.size() >> 32U];
        const auto found = std::find_if(set.begin(), set.end(), [&](const Line& l) { return l.number == line; });
        Line entry{line, 0};
        if (found != set.end()) {
            entry = *found;
            set.erase(found);
        } else if (set.size() < ways_) {
            ++filled;
        }
        const unsigned absent = sectors & ~entry.valid;
        entry.valid |= sectors;
        set.push_front(entry);
        if (set.size() > ways_) set.pop_back();
        return absent;
    }
    void clear() {
        for (std::list<Line>& set : sets_) set.clear();
    }

private:
    struct Line {
        std::uint64_t number;
        unsigned valid;
    };
    std::vector<std::list<Line>> sets_;
    unsigned ways_;
};

struct Shape {
    std::uint64_t lines;
    unsigned ways;
    std::size_t groups, least, most;  // lines of a group
    std::uint64_t alone;              // lines that are looked up by themselves
};

LineGroups made_groups(const Shape& shape) {
    LineGroups groups;
    std::vector<std::uint64_t> wanted;
    for (std::size_t group = 0; group < shape.groups; ++group) {
        wanted.clear();
        const std::size_t size = shape.least + group * 7 % (shape.most - shape.least + 1);
        for (std::uint64_t i = 0; i < size; ++i) wanted.push_back(1'000 * (group + 1) + 3 * i);
        EXPECT_TRUE(groups.find_or_add(wanted).has_value());
    }
    return groups;
}

// The same steps for both: mostly one of a few groups or lines, so that hits, partial hits and evictions all happen.
void expect_equal(const Shape& shape) {
    const LineGroups groups = made_groups(shape);
    const GroupSets sets(groups, std::max<std::uint64_t>(1, shape.lines / shape.ways));
    L1Cache cache(shape.lines, shape.ways, sets);
    NaiveCache naive(std::max<std::uint64_t>(1, shape.lines / shape.ways), shape.ways);
    std::mt19937_64 random(5);
    std::uint64_t filled = 0, naive_filled = 0;
    for (int i = 0; i < 6000; ++i) {
        if (random() % 500 == 0) cache.wind_clock();
        if (random() % 2000 == 0) {
            cache.clear();
            naive.clear();
        }
        const auto sectors = random() % 2 == 0 ? 1U << random() % 4 : static_cast<unsigned>(random() % 15 + 1);
        if (shape.alone > 0 && random() % 4 != 0) {
            // Some differ only above 32 bits, as those of different tensors do.
            const std::uint64_t tensor = random() % 8 == 0 ? std::uint64_t{3} << (kTensorShift - kLineShift) : 0;
            const std::uint64_t line = tensor + 500'000 + random() % (random() % 2 == 0 ? shape.alone : 10);
            ASSERT_EQ(cache.read(line, mixed(line), sectors, filled), naive.missing(line, sectors, naive_filled))
                << "access " << i;
            if (random() % 3 != 0) continue;
            const auto others = static_cast<unsigned>(random() % 15 + 1);
            ASSERT_EQ(cache.read_again(mixed(line), others), naive.missing(line, others, naive_filled))
                << "access " << i;
            continue;
        }
        const std::size_t group =
            random() % (random() % 2 == 0 ? std::min<std::size_t>(2, shape.groups) : shape.groups);
        const std::uint64_t there = cache.touch_group(group, sectors, filled);
        const std::span<const HashedLine> lines = groups.lines(group);
        std::vector<unsigned> expected;
        std::uint64_t expected_there = 0;
        for (const HashedLine& line : lines) {
            expected.push_back(naive.missing(line.line, sectors, naive_filled));
            expected_there += sector_count(sectors) - sector_count(expected.back());
        }
        ASSERT_EQ(there, expected_there) << "access " << i;
        ASSERT_EQ(filled, naive_filled) << "access " << i;
        if (there == 0 || there == lines.size() * sector_count(sectors)) continue;
        for (std::size_t at = 0; at < lines.size(); ++at)
            ASSERT_EQ(cache.missing()[at], expected[at]) << "access " << i << ", line " << at;
    }
}

TEST(L1Cache, looks_lines_up_as_the_naive_cache_does) {
    expect_equal({.lines = 96, .ways = 3, .groups = 1, .least = 16, .most = 16, .alone = 300});
    expect_equal({.lines = 256, .ways = 16, .groups = 1, .least = 16, .most = 16, .alone = 500});
}

TEST(L1Cache, touches_groups_as_the_naive_cache_touches_their_lines) {
    for (const auto& [lines, ways] : {std::pair{512U, 16U}, {256U, 16U}, {640U, 16U}, {96U, 3U}, {512U, 7U}, {8U, 8U}})
        expect_equal({.lines = lines, .ways = ways, .groups = 12, .least = 16, .most = 60, .alone = 0});
    // More groups than slots at first, and groups of which no more than the last lines fit into a set.
    expect_equal({.lines = 1024, .ways = 16, .groups = 90, .least = 16, .most = 20, .alone = 0});
    expect_equal({.lines = 16, .ways = 16, .groups = 3, .least = 250, .most = 256, .alone = 0});
    expect_equal({.lines = 1, .ways = 1, .groups = 2, .least = 16, .most = 16, .alone = 0});
}

TEST(L1Cache, mixes_groups_with_lines_that_are_looked_up_by_themselves) {
    for (const auto& [lines, ways] : {std::pair{512U, 16U}, {256U, 16U}, {96U, 3U}, {512U, 7U}, {48U, 16U}})
        for (const std::uint64_t alone : {40U, 400U})
            for (const std::size_t groups : {1U, 2U, 12U})
                expect_equal({.lines = lines, .ways = ways, .groups = groups, .least = 16, .most = 60, .alone = alone});
}

TEST(L1Cache, keeps_no_group_after_more_lines_of_a_set_than_a_byte_counts) {
    const LineGroups groups = made_groups({.lines = 16, .ways = 16, .groups = 1, .least = 16, .most = 16, .alone = 0});
    const GroupSets sets(groups, 1);
    L1Cache cache(16, 16, sets);
    std::uint64_t filled = 0;
    EXPECT_EQ(cache.touch_group(0, 1, filled), 0U);
    EXPECT_EQ(cache.touch_group(0, 1, filled), 16U);
    for (std::uint64_t line = 500'000; line < 500'000 + 256; ++line) cache.read(line, mixed(line), 1, filled);
    EXPECT_EQ(cache.touch_group(0, 1, filled), 0U);
    EXPECT_EQ(filled, 16U);
}

}  // namespace
}  // namespace gambrel::sim_detail
