// Is the cache what it says: exact LRU of lines with sectors? Against a second implementation that is obviously right.
#include "sim/sector_cache.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <list>
#include <map>
#include <random>

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
                cache.invalidate(line, mixed(line));
                naive.invalidate(line);
                continue;
            }
            const auto sectors = static_cast<unsigned>(random() % 15 + 1);
            const bool dirty = random() % 3 == 0;
            const SectorCache::Outcome got = cache.touch(line, mixed(line), sectors, dirty);
            const SectorCache::Outcome expected = naive.touch(line, sectors, dirty);
            ASSERT_EQ(got.missing, expected.missing) << "access " << i;
            ASSERT_EQ(got.victim_dirty, expected.victim_dirty) << "access " << i;
            if (got.victim_dirty != 0) {
                ASSERT_EQ(got.victim_line, expected.victim_line) << "access " << i;
            }
        }
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
        for (const std::uint64_t line : stream) misses += cache.touch(line, mixed(line), 1, false).missing;
        EXPECT_LE(misses, before) << ways << " ways";
        before = misses;
    }
}

TEST(SectorCache, gives_back_every_dirty_sector_once) {
    SectorCache cache(32, 4);
    std::uint64_t written = 0, back = 0;
    for (int i = 0; i < 5000; ++i) {
        const std::uint64_t line = static_cast<std::uint64_t>(i) / 4;  // each line is written in four pieces
        const SectorCache::Outcome outcome = cache.touch(line, mixed(line), 1U << static_cast<unsigned>(i % 4), true);
        ++written;
        back += static_cast<std::uint64_t>(std::popcount(outcome.victim_dirty));
    }
    cache.flush([&](std::uint64_t, unsigned dirty) { back += static_cast<std::uint64_t>(std::popcount(dirty)); });
    EXPECT_EQ(back, written);
    cache.flush([&](std::uint64_t, unsigned) { FAIL() << "clean after a flush"; });
}

}  // namespace
}  // namespace gambrel::sim_detail
