// The L1 of an SM: a sectored, set-associative cache with exact LRU that is only read. Lines that are looked up one by
// one are in its sets. Groups of lines (line_groups.hpp) are not: how many lines of a group LRU has left in each set is
// enough to know which will hit, for if one of them is gone, the next touch of the group drives out the others before
// it comes to them. A touch of a group is a few operations on vectors of such numbers. Invariant: the outcome is that
// of touching the lines one by one, if no line of a group is ever looked up by itself.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "sim/access.hpp"
#include "sim/group_sets.hpp"
#include "sim/use_order.hpp"
#include "sim/ways.hpp"

namespace gambrel::sim_detail {

class L1Cache {
public:
    static constexpr unsigned kMostWays = 16;
    static constexpr std::size_t kMostGroup = 256;  // lines
    // As SectorCache has them: at least one set of `ways` lines. `groups` must outlive the cache.
    L1Cache(std::uint64_t lines, unsigned ways, const GroupSets& groups);

    // What is missing of a line that is in no group. hash: mixed(line). filled: counts lines that took an empty way.
    [[gnu::always_inline]] unsigned read(std::uint64_t line, std::uint64_t hash, unsigned sectors,
                                         std::uint64_t& filled) {
        const std::size_t at = set_of(hash);
        Set& set = sets_[at];
        const unsigned high = high_of(line);
        for (unsigned same = equal_ways(set.tags, static_cast<std::int32_t>(line)); same != 0; same &= same - 1) {
            const auto way = static_cast<unsigned>(std::countr_zero(same));
            const unsigned old = set.states[way];
            if ((old & kHigh) != high) continue;
            set.states[way] = static_cast<std::uint16_t>(old | sectors);
            if (grouping_) set.stamps[way] = now_;
            set.order = with_first(set.order, way);
            return sectors & ~old;
        }
        bring_in(at, static_cast<std::int32_t>(line), high | sectors, filled);
        return sectors;
    }
    // The same of the line that was read last.
    [[gnu::always_inline]] unsigned read_again(std::uint64_t hash, unsigned sectors) {
        Set& set = sets_[set_of(hash)];
        const unsigned way = set.order & 0xFU, old = set.states[way];
        set.states[way] = static_cast<std::uint16_t>(old | sectors);
        return sectors & ~old;
    }
    // Touches all lines of a group in their order. Returns how many of the sectors were there, of all lines together.
    // If that is neither none nor all, missing() says what each line lacked.
    std::uint64_t touch_group(std::size_t group, unsigned sectors, std::uint64_t& filled);
    [[nodiscard]] const std::array<std::uint8_t, kMostGroup>& missing() const { return missing_; }

    void clear();
    // Must be called now and then, before a thousand million groups have been touched: stamps have 32 bits.
    void wind_clock(std::uint32_t latest = 1U << 30U);

private:
    static constexpr unsigned kHigh = 0x7F00;  // the rest of the line and one, so that no line is that of an empty way
    static constexpr std::uint64_t kOneHigh = std::uint64_t{1} << 32U;
    static unsigned high_of(std::uint64_t line) { return static_cast<unsigned>((line + kOneHigh) >> 24U) & kHigh; }
    // Lines that were looked up by themselves.
    struct alignas(64) Set {
        Ways<std::int32_t> tags{};                    // the low half of lines
        Ways<std::uint16_t> states{};                 // high_of(line) | valid; 0: empty
        std::uint64_t order = 0xFEDCBA9876543210ULL;  // ways in nibbles, the latest in the lowest one, empty ones last
        // How many groups had been touched when the line was used last. Not read without groups.
        alignas(64) Ways<std::uint32_t> stamps{};
    };
    // A group some of whose lines are here, in a list of them in the order in which they were touched last.
    struct Kept {
        std::uint32_t stamp = 0;  // now_ when it was touched last; 0: no group
        std::uint32_t before = 0, after = 0;
    };
    // Of a set: no group that was touched before this stamp has lines there. slot: of the one that was, at that time.
    struct Oldest {
        std::uint32_t slot = 0, stamp = 0;
    };
    // Numbers of lines, one for each set.
    using Count = std::uint8_t;
    enum Numbers : std::size_t { kPresent, kValid, kNumbers = kValid + kSectorsPerLine };
    Count* numbers(std::size_t slot, std::size_t which) {
        return numbers_.data() + (slot * kNumbers + which) * padded_;
    }
    [[nodiscard]] std::size_t set_of(std::uint64_t hash) const {
        return static_cast<std::size_t>((hash >> 32U) * set_count_ >> 32U);
    }
    void bring_in(std::size_t at, std::int32_t tag, unsigned state, std::uint64_t& filled);
    [[nodiscard]] unsigned oldest_way(const Set& set, unsigned alone) const {
        return static_cast<unsigned>(set.order >> 4U * (alone - 1) & 0xFU);
    }
    bool evict_of_groups(std::size_t at, const Set& set, unsigned alone);
    std::uint32_t slot_of(std::size_t group);
    void forget(std::uint32_t slot);
    void unlink(std::uint32_t slot);
    void link_last(std::uint32_t slot);
    void list_missing(std::size_t group, std::uint32_t slot, unsigned sectors);
    void evict_from(std::size_t at);
    void evict_surplus();
    void forget_empty_groups();

    static constexpr std::uint32_t kNoGroup = ~std::uint32_t{0};

    unsigned ways_;
    bool grouping_;
    std::uint64_t set_count_;
    std::size_t padded_;
    const GroupSets& groups_;
    std::vector<Set> sets_;
    std::vector<Count> held_, grouped_;  // of each set: lines, and those of them that are of groups
    std::vector<Oldest> oldest_;         // of each set
    // By slot. Slot 0 is both ends of the list and has no lines.
    std::vector<Kept> kept_;
    std::vector<std::uint32_t> group_of_;
    std::vector<Count> numbers_;
    std::vector<std::uint32_t> free_slots_;
    std::uint32_t now_ = 0;       // groups that were touched
    std::vector<Count> surplus_;  // for use within a touch
    std::array<std::uint8_t, kMostGroup> missing_{};
};

}  // namespace gambrel::sim_detail
