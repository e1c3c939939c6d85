// Is the cache what it says: exact LRU of lines with sectors? Against a second implementation that is obviously right.
#include "sim/sector_cache.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <list>
#include <map>
#include <random>
#include <vector>

namespace gambrel::sim_detail {
namespace {

// One list for each set, the line last used in front. Slow, and nothing in it can be wrong unseen.
class NaiveCache {
public:
    NaiveCache(std::uint64_t lines, unsigned ways) : sets_(lines / ways), ways_(ways) {}
    SectorCache::Outcome touch(std::uint64_t line, unsigned sectors, bool dirty) {
        std::list<Line>& set = lists_[(mixed(line) >> 32U) * sets_ >> 32U];
        SectorCache::Outcome outcome;
        Line entry{line, 0, 0};
        for (auto it = set.begin(); it != set.end(); ++it) {
            if (it->number == line) {
                entry = *it;
                set.erase(it);
                break;
            }
        }
        outcome.missing = sectors & ~entry.valid;
        entry.valid |= sectors;
        if (dirty) entry.dirty |= sectors;
        set.push_front(entry);
        if (set.size() > ways_) {
            outcome.victim_line = set.back().number;
            outcome.victim_dirty = set.back().dirty;
            set.pop_back();
        }
        return outcome;
    }
    void invalidate(std::uint64_t line) {
        lists_[(mixed(line) >> 32U) * sets_ >> 32U].remove_if([&](const Line& entry) { return entry.number == line; });
    }

private:
    struct Line {
        std::uint64_t number;
        unsigned valid, dirty;
    };
    std::uint64_t sets_;
    unsigned ways_;
    std::map<std::uint64_t, std::list<Line>> lists_;
};

TEST(SectorCache, equals_the_naive_cache_on_random_streams) {
    std::mt19937_64 random(7);
    for (const auto& [lines, ways] : {std::pair{64U, 16U}, {96U, 3U}, {8U, 8U}, {512U, 7U}, {1U, 1U}}) {
        SectorCache cache(lines, ways);
        NaiveCache naive(lines, ways);
        for (int i = 0; i < 40000; ++i) {
            // Mostly near lines, some far ones, so that hits, partial hits and evictions all happen.
            // Some differ only above 32 bits, as those of different tensors do.
            const std::uint64_t tensor = random() % 8 == 0 ? std::uint64_t{3} << (kTensorShift - kLineShift) : 0;
            const std::uint64_t line = tensor + (random() % 4 == 0 ? random() % 5000 : random() % (2 * lines));
            if (random() % 50 == 0) {
                cache.invalidate(line, cache.place_of(mixed(line)));
                naive.invalidate(line);
                continue;
            }
            const auto sectors = static_cast<unsigned>(random() % 15 + 1);
            const bool dirty = random() % 3 == 0;
            const SectorCache::Outcome got = cache.touch(line, cache.place_of(mixed(line)), sectors, dirty);
            const SectorCache::Outcome expected = naive.touch(line, sectors, dirty);
            ASSERT_EQ(got.missing, expected.missing) << "access " << i;
            ASSERT_EQ(got.victim_dirty, expected.victim_dirty) << "access " << i;
            if (got.victim_dirty != 0) {
                ASSERT_EQ(got.victim_line, expected.victim_line) << "access " << i;
            }
        }
    }
}

TEST(SectorCache, reads_as_it_touches_and_says_which_ways_it_filled) {
    std::mt19937_64 random(17);
    SectorCache cache(96, 3);
    NaiveCache naive(96, 3);
    std::uint64_t filled = 0;
    for (int i = 0; i < 20000; ++i) {
        const std::uint64_t line = random() % 300;
        const auto sectors = static_cast<unsigned>(random() % 15 + 1);
        const unsigned missing =
            cache.read(line, cache.place_of(mixed(line)), sectors, [&](const SectorCache::Outcome& outcome) {
                ASSERT_TRUE(outcome.filled);  // no line is dirty here
                ++filled;
            });
        ASSERT_EQ(missing, naive.touch(line, sectors, false).missing) << "access " << i;
    }
    EXPECT_EQ(filled, cache.lines());
}

TEST(SectorCache, gives_back_sectors_that_were_written_in_part_and_never_read) {
    for (const unsigned sector : {1U, 2U, 4U, 8U}) {
        SectorCache cache(1, 1);
        EXPECT_EQ(cache.touch_part(7, {0}, sector).missing, sector);
        const SectorCache::Outcome outcome = cache.touch(8, {0}, 1U, false);
        EXPECT_EQ(outcome.victim_line, 7U);
        EXPECT_EQ(outcome.victim_dirty, sector);
        EXPECT_EQ(outcome.victim_part, sector);
        EXPECT_FALSE(outcome.filled);
        EXPECT_EQ(cache.touch(9, {0}, 1U, false).victim_dirty, 0U);
    }
}

std::vector<HashedLine> lines_of_group(std::size_t group) {
    std::vector<HashedLine> lines;
    for (std::uint64_t i = 0; i < 3 + group; ++i) lines.push_back({1'000 * (group + 1) + 7 * i, 0});
    for (HashedLine& line : lines) line.hash = mixed(line.line);
    return lines;
}

// The sectors of a group that were missing, looked up as a hierarchy does.
unsigned touch_group(SectorCache& cache, std::size_t group, unsigned sectors) {
    const std::vector<HashedLine> lines = lines_of_group(group);
    if (cache.hit_group(group, sectors, lines.size())) return 0;
    if (cache.miss_group(group, sectors, lines.size()))
        return sector_count(sectors) * static_cast<unsigned>(lines.size());
    unsigned missing = 0;
    std::vector<SectorCache::GroupLine> placed;
    for (const HashedLine& line : lines) placed.push_back(cache.group_line(line.line, line.hash));
    cache.touch_group(group, placed, sectors, [&](std::size_t, const SectorCache::Outcome& outcome) {
        missing += sector_count(outcome.missing);
    });
    return missing;
}

TEST(SectorCache, touches_a_group_as_it_touches_its_lines_one_by_one) {
    std::mt19937_64 random(13);
    for (const auto& [lines, ways] : {std::pair{64U, 16U}, {96U, 3U}, {256U, 16U}, {512U, 7U}}) {
        constexpr std::size_t kGroups = 12;
        SectorCache cache(lines, ways);
        std::vector<std::uint32_t> first;
        std::uint32_t all = 0;
        for (std::size_t group = 0; group < kGroups; ++group) {
            first.push_back(all);
            all += static_cast<std::uint32_t>(lines_of_group(group).size());
        }
        cache.set_groups(first, all);
        NaiveCache naive(lines, ways);
        int hits = 0;
        for (int i = 0; i < 40000; ++i) {
            if (random() % 1000 == 0) cache.wind_clock(1);
            const auto sectors = random() % 2 == 0 ? 1U << random() % 4 : static_cast<unsigned>(random() % 15 + 1);
            const std::size_t group = random() % (random() % 2 == 0 ? 2 : kGroups);
            if (random() % 3 != 0) {
                unsigned expected = 0;
                for (const HashedLine& line : lines_of_group(group))
                    expected += sector_count(naive.touch(line.line, sectors, false).missing);
                ASSERT_EQ(touch_group(cache, group, sectors), expected) << "access " << i;
                continue;
            }
            // A line of a group by itself, or one that is in none.
            const bool grouped = random() % 4 == 0;
            const std::uint64_t line = grouped ? lines_of_group(group)[1].line : random() % (3 * lines);
            if (grouped && cache.hit_line(group, first[group] + 1, sectors)) {
                ASSERT_EQ(naive.touch(line, sectors, false).missing, 0U) << "access " << i;
                ++hits;
                continue;
            }
            if (random() % 50 == 0) {
                cache.invalidate(line, cache.place_of(mixed(line)));
                naive.invalidate(line);
                continue;
            }
            ASSERT_EQ(cache.touch(line, cache.place_of(mixed(line)), sectors, false).missing,
                      naive.touch(line, sectors, false).missing)
                << "access " << i;
        }
        EXPECT_GT(hits, 0);
    }
}

TEST(SectorCache, of_more_ways_never_misses_more) {
    std::mt19937_64 random(11);
    std::vector<std::uint64_t> stream(60000);
    for (std::uint64_t& line : stream) line = random() % (random() % 3 == 0 ? 4000 : 300);
    std::uint64_t before = ~std::uint64_t{0};
    for (const unsigned ways : {1U, 2U, 4U, 7U, 13U, 16U}) {
        SectorCache cache(16 * ways, ways);  // always 16 sets
        std::uint64_t misses = 0;
        for (const std::uint64_t line : stream)
            misses += cache.touch(line, cache.place_of(mixed(line)), 1, false).missing;
        EXPECT_LE(misses, before) << ways << " ways";
        before = misses;
    }
}

TEST(SectorCache, gives_back_every_dirty_sector_once) {
    SectorCache cache(32, 4);
    std::uint64_t written = 0, back = 0;
    for (int i = 0; i < 5000; ++i) {
        const std::uint64_t line = static_cast<std::uint64_t>(i) / 4;  // each line is written in four pieces
        const SectorCache::Outcome outcome =
            cache.touch(line, cache.place_of(mixed(line)), 1U << static_cast<unsigned>(i % 4), true);
        ++written;
        back += static_cast<std::uint64_t>(std::popcount(outcome.victim_dirty));
    }
    cache.flush(
        [&](std::uint64_t, unsigned dirty, unsigned) { back += static_cast<std::uint64_t>(std::popcount(dirty)); });
    EXPECT_EQ(back, written);
    cache.flush([&](std::uint64_t, unsigned, unsigned) { FAIL() << "clean after a flush"; });
}

}  // namespace
}  // namespace gambrel::sim_detail
