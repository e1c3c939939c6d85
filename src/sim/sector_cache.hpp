// A sectored, set-associative cache with exact LRU: tags of lines, which of their sectors are valid and dirty, and when
// each was used last. Lines that are always asked for together can be touched as a group, in a few instructions for all
// of them: the group has the time and the sectors, and a line of it takes them over when somebody looks. Invariant: the
// outcome is that of touching the lines one by one. It counts nothing: callers know whose access it was.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/access.hpp"
#include "sim/line_groups.hpp"
#include "sim/ways.hpp"

namespace gambrel::sim_detail {

class SectorCache {
public:
    static constexpr unsigned kMostWays = 16;
    static constexpr std::size_t kMostGroup = 256;  // lines
    static constexpr std::size_t kMostGroups = std::size_t{1} << 16U;
    // At least one set of `ways` lines; capacities that are not a multiple are rounded down. `ways` is cut to the lines
    // and to kMostWays. Groups have the numbers [0, groups) and at most kMostGroup lines each; no line is in two of
    // them.
    SectorCache(std::uint64_t lines, unsigned ways, std::size_t groups = 0);

    struct Outcome {
        unsigned missing = 0;           // sectors that were not there before
        std::uint64_t victim_line = 0;  // meaningful if victim_dirty
        unsigned victim_dirty = 0;
        unsigned victim_part = 0;  // of these, sectors that were written in part and never read
        bool filled = false;  // a way that was empty: had the cache seen more of the past, this might have been a hit
    };
    // `hash` must be mixed(line): callers have it already. At least one sector.
    [[gnu::always_inline]] Outcome touch(std::uint64_t line, std::uint64_t hash, unsigned sectors, bool dirty) {
        Set& set = sets_[set_of(hash)];
        return outcome(touch(set, line, sectors, dirty ? sectors << 4U | sectors : sectors));
    }

    // The same for a cache that is never written: the sectors that were not there before.
    struct Read {
        unsigned missing = 0;
        bool filled = false;
    };
    [[gnu::always_inline]] Read read(std::uint64_t line, std::uint64_t hash, unsigned sectors) {
        const Touched touched = touch(sets_[set_of(hash)], line, sectors, sectors);
        return {touched.missing, touched.filled()};
    }

    // A store to a part of one sector. Unless the sector is there it becomes dirty but stays missing.
    Outcome touch_part(std::uint64_t line, std::uint64_t hash, unsigned sector) {
        return outcome(touch(sets_[set_of(hash)], line, sector, sector << 4U));
    }

    // The host fetches what a look-up will need.
    void prefetch(std::uint64_t hash) const {
        const auto* const set = reinterpret_cast<const char*>(&sets_[set_of(hash)]);
        for (std::size_t at = 0; at < sizeof(Set); at += 64) __builtin_prefetch(set + at, 1);
    }

    // Touches all `lines` of a group if all of them are there with these sectors: true, or nothing has happened.
    bool hit_group(std::size_t number, unsigned sectors, std::size_t lines) {
        Group& group = groups_[number];
        if (!group.whole || (sectors & ~unsigned{group.every}) != 0) return false;
        use(group, lines);
        return true;
    }
    // The same if all lines are there and none has one of these sectors.
    bool miss_group(std::size_t number, unsigned sectors, std::size_t lines) {
        Group& group = groups_[number];
        if (!group.whole || (sectors & group.some) != 0) return false;
        group.every = static_cast<std::uint8_t>(group.every | sectors);
        group.some = static_cast<std::uint8_t>(group.some | sectors);
        use(group, lines);
        return true;
    }
    // Touches the lines of a group one by one, f(line, hash, outcome) after each.
    template <class F>
    void touch_group(std::size_t number, std::span<const HashedLine> lines, unsigned sectors, F f) {
        groups_[number].whole = true;  // until one of its lines is driven out
        const std::int32_t start = clock_;
        // All are looked for before the first is touched. None of them comes in for another, but one may go.
        std::array<std::uint8_t, kMostGroup> candidates;
        for (std::size_t i = 0; i < lines.size(); ++i) {
            const Set& set = sets_[set_of(lines[i].hash)];
            const unsigned same = equal_ways(set.tags, static_cast<std::int32_t>(lines[i].line));
            candidates[i] = static_cast<std::uint8_t>(std::countr_zero(same | 1U << kMostWays));
            if ((same & (same - 1)) != 0) candidates[i] = static_cast<std::uint8_t>(find(set, lines[i].line));
        }
        const unsigned known = groups_[number].every;
        unsigned every = kAllSectors, some = 0;
        for (std::size_t place = 0; place < lines.size(); ++place) {
            const auto [line, hash] = lines[place];
            Set& set = sets_[set_of(hash)];
            unsigned way = candidates[place], state = 0;
            Touched touched{.missing = sectors};
            if (way < kMostWays && holds(set, way, line)) {
                state = set.states[way];
                state |= known & (0U - (state >> 15U));  // if it is grouped
                touched.missing = sectors & ~state;
                touched.there = true;
                use(set, way);
            } else {
                way = leaving(set);
                touched.driven_out = set.states[way];
                touched.driven_tag = set.tags[way];
                put(set, way, line);
                state = high_of(line);
            }
            state |= kGrouped | sectors;
            set.states[way] = static_cast<std::uint16_t>(state);
            set.times[way] = start + 1 + static_cast<std::int32_t>(place);
            set.groups[way] = static_cast<std::uint16_t>(number);
            set.places[way] = static_cast<std::uint8_t>(place);
            every &= state;
            some |= state;
            f(line, hash, outcome(touched));
        }
        clock_ = start + static_cast<std::int32_t>(lines.size());
        Group& group = groups_[number];
        group.time = start + 1;
        group.every = static_cast<std::uint8_t>(every);
        group.some = static_cast<std::uint8_t>(some & kAllSectors);
    }

    [[nodiscard]] unsigned valid(std::uint64_t line, std::uint64_t hash) const;  // without counting as a use
    void invalidate(std::uint64_t line, std::uint64_t hash);
    void clear();
    // Must be called now and then, before a thousand million touches: times have 31 bits and begin again here.
    void wind_clock(std::int32_t latest = 1 << 30);
    static std::size_t set_of(std::uint64_t hash, std::uint64_t sets) {
        // Multiply and shift instead of %: the number of sets is not a power of two on most GPUs.
        return static_cast<std::size_t>((hash >> 32U) * sets >> 32U);
    }
    [[nodiscard]] std::uint64_t lines() const { return sets_.size() * ways_; }
    [[nodiscard]] std::uint64_t sets() const { return sets_.size(); }
    [[nodiscard]] unsigned ways() const { return ways_; }

    // f(line, dirty sectors, those of them that were written in part) of every dirty line; all are clean and whole
    // afterwards.
    template <class F>
    void flush(F f) {
        for (Set& set : sets_) {
            for (unsigned way = 0; way < ways_; ++way) {
                const unsigned dirty = set.states[way] >> 4U & kAllSectors;
                if (dirty == 0) continue;
                f(line_of(set, way), dirty, dirty & ~unsigned{set.states[way]});
                set.states[way] = static_cast<std::uint16_t>((set.states[way] & 0xFF0FU) | dirty);
            }
        }
    }

private:
    static constexpr unsigned kGrouped = 0x8000;
    static constexpr unsigned kHigh = 0x7F00;  // the rest of the line
    static constexpr unsigned kUsed = 0xFF;    // some sector is valid or dirty
    struct alignas(64) Set {
        Ways<std::int32_t> tags{};     // the low half of lines
        Ways<std::int32_t> times{};    // of the last use
        Ways<std::uint16_t> states{};  // grouped << 15 | the rest of the line << 8 | dirty << 4 | valid; 0: empty
        Ways<std::uint16_t> groups{};  // of lines that are grouped
        Ways<std::uint8_t> places{};   // in the group
        std::uint64_t order = 0xFEDCBA9876543210ULL;  // ways in nibbles, by their times, the latest in the lowest one
    };
    // All lines of it that are in the cache were used at `time` and their place in it, or later, and have the sectors
    // of `every`, or more.
    struct Group {
        std::int32_t time = 0;
        std::uint8_t every = 0, some = 0;  // sectors that every line has, that some line has
        bool whole = false;                // all lines are in the cache
    };
    void use(Group& group, std::size_t lines) {
        group.time = clock_ + 1;
        clock_ += static_cast<std::int32_t>(lines);
    }
    [[nodiscard]] std::size_t set_of(std::uint64_t hash) const { return set_of(hash, set_count_); }
    static std::uint64_t line_of(const Set& set, unsigned way) { return line_of(set.states[way], set.tags[way]); }
    static std::uint64_t line_of(unsigned state, std::int32_t tag) {
        return std::uint64_t{state & kHigh} << 24U | static_cast<std::uint32_t>(tag);
    }
    static unsigned high_of(std::uint64_t line) { return static_cast<unsigned>(line >> 32U) << 8U; }
    static bool holds(const Set& set, unsigned way, std::uint64_t line) {
        return set.tags[way] == static_cast<std::int32_t>(line) && (set.states[way] & kHigh) == high_of(line) &&
               (set.states[way] & kUsed) != 0;
    }
    // kMostWays if it is not there.
    static unsigned find(const Set& set, std::uint64_t line) {
        unsigned same = equal_ways(set.tags, static_cast<std::int32_t>(line));
        for (; same != 0; same &= same - 1) {
            const auto way = static_cast<unsigned>(std::countr_zero(same));
            if ((set.states[way] >> 8U & 0x7FU) == line >> 32U && (set.states[way] & kUsed) != 0) return way;
        }
        return kMostWays;
    }
    // Moves a way to the front of the order.
    static void use(Set& set, unsigned way) {
        const std::uint64_t before = below(set.order, way);
        set.order = (set.order & ~(before << 4U | 0xFU)) | (set.order & before) << 4U | way;
    }
    // Moves the last way in order to where its group was used.
    void postpone(Set& set, unsigned way, std::int32_t time) const {
        set.times[way] = time;
        const std::uint64_t before = ~(~std::uint64_t{0} << 4U * later_ways(set.times, time));
        const std::uint64_t after = used_ & ~(before << 4U | 0xFU);
        set.order = (set.order & (before | ~used_)) | (set.order << 4U & after) | (before + 1) * way;
    }
    // The nibbles that were used after `way`, as a mask.
    static std::uint64_t below(std::uint64_t order, unsigned way) {
        constexpr std::uint64_t kOnes = 0x1111111111111111ULL;
        const std::uint64_t differing = order ^ way * kOnes;
        // Of the nibbles that this finds to be zero the lowest one is.
        const std::uint64_t zero = (differing - kOnes) & ~differing & kOnes << 3U;
        return (zero & (~zero + 1)) / 8 - 1;
    }
    // What its group knows of a line that is about to be touched by itself.
    void look_closer(Set& set, unsigned way, unsigned sectors) {
        Group& group = groups_[set.groups[way]];
        set.states[way] = static_cast<std::uint16_t>(set.states[way] | group.every);
        group.some = static_cast<std::uint8_t>(group.some | sectors);
    }
    // The way that was used longest ago, by its own time or by its group's.
    unsigned leaving(Set& set) {
        for (;;) {
            const auto way = static_cast<unsigned>(set.order >> last_shift_ & 0xFU);
            if ((set.states[way] & kGrouped) == 0) return way;
            Group& group = groups_[set.groups[way]];
            const std::int32_t used = group.time + set.places[way];
            if (used <= set.times[way]) {
                group.whole = false;
                return way;
            }
            postpone(set, way, used);
        }
    }
    struct Touched {
        unsigned missing = 0;
        unsigned driven_out = 0;  // state of the line that had to go; 0: none
        std::int32_t driven_tag = 0;
        bool there = false;
        [[nodiscard]] bool filled() const { return !there && driven_out == 0; }
    };
    static Outcome outcome(const Touched& touched) {
        const unsigned dirty = touched.driven_out >> 4U & kAllSectors;
        return {touched.missing, line_of(touched.driven_out, touched.driven_tag), dirty, dirty & ~touched.driven_out,
                touched.filled()};
    }
    // One line; bits: of its new state.
    [[gnu::always_inline]] Touched touch(Set& set, std::uint64_t line, unsigned sectors, unsigned bits) {
        const unsigned found = find(set, line);
        if (found < kMostWays) {
            if ((set.states[found] & kGrouped) != 0) look_closer(set, found, sectors);
            const unsigned old = set.states[found];
            set.states[found] = static_cast<std::uint16_t>(old | bits);
            set.times[found] = ++clock_;
            use(set, found);
            return {.missing = sectors & ~old, .there = true};
        }
        const unsigned way = leaving(set);
        const Touched touched{sectors, set.states[way], set.tags[way], false};
        put(set, way, line);
        set.states[way] = static_cast<std::uint16_t>(high_of(line) | bits);
        set.times[way] = ++clock_;
        return touched;
    }
    // Into the way that is last in order, so that the others move up by one.
    void put(Set& set, unsigned way, std::uint64_t line) const {
        set.tags[way] = static_cast<std::int32_t>(line);
        set.order = (set.order & ~used_) | (set.order << 4U & used_) | way;
    }

    unsigned ways_, last_shift_;  // of the nibble of the line that goes next
    std::uint64_t used_;          // the nibbles of ways in use, as a mask
    std::int32_t clock_ = 0;
    std::vector<Set> sets_;
    std::uint64_t set_count_;  // a vector divides to know its size
    std::vector<Group> groups_;
};

}  // namespace gambrel::sim_detail
