// A sectored, set-associative cache with exact LRU: tags of lines, which of their sectors are valid and dirty, and when
// each was used last. Lines that are always asked for together can be touched as a group, in a few instructions for all
// of them: the group has the time and the sectors, and a line of it takes them over when somebody looks. Invariant: the
// outcome is that of touching the lines one by one. It counts nothing: callers know whose access it was.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/access.hpp"
#include "sim/line_groups.hpp"
#include "sim/use_order.hpp"
#include "sim/ways.hpp"

namespace gambrel::sim_detail {

class SectorCache {
public:
    static constexpr unsigned kMostWays = 16;
    static constexpr std::size_t kMostGroup = 256;  // lines
    // At least one set of `ways` lines; capacities that are not a multiple are rounded down. `ways` is cut to the lines
    // and to kMostWays.
    SectorCache(std::uint64_t lines, unsigned ways);
    // Groups of at most kMostGroup lines each; no line is in two of them. The lines of all are numbered: first: that of
    // the first line of each group.
    void set_groups(std::vector<std::uint32_t> first, std::size_t lines);

    struct Outcome {
        unsigned missing = 0;           // sectors that were not there before
        std::uint64_t victim_line = 0;  // meaningful if victim_dirty
        unsigned victim_dirty = 0;
        unsigned victim_part = 0;  // of these, sectors that were written in part and never read
        bool filled = false;  // a way that was empty: had the cache seen more of the past, this might have been a hit
    };
    // Where a line is looked for. `hash` must be mixed(line): callers have it already.
    struct Place {
        std::uint32_t set;
    };
    [[nodiscard]] Place place_of(std::uint64_t hash) const {
        return {static_cast<std::uint32_t>(set_of(hash, set_count_))};
    }
    // At least one sector.
    [[gnu::always_inline]] Outcome touch(std::uint64_t line, Place place, unsigned sectors, bool dirty) {
        return touch_line(line, place, sectors, dirty ? sectors << 4U | sectors : sectors);
    }
    // The same for a read: what is missing. drive_out(outcome) is called if a way was filled or a dirty line driven
    // out.
    template <class F>
    [[gnu::always_inline]] unsigned read(std::uint64_t line, Place place, unsigned sectors, F drive_out) {
        return look_up(sets_[place.set], line, sectors, sectors, ++clock_, [&](unsigned gone, std::int32_t tag) {
            Outcome outcome{.missing = sectors};
            add_gone(outcome, gone, tag);
            drive_out(outcome);
        });
    }
    // A store to a part of one sector. Unless the sector is there it becomes dirty but stays missing.
    Outcome touch_part(std::uint64_t line, Place place, unsigned sector) {
        return touch_line(line, place, sector, sector << 4U);
    }

    // The host fetches what a look-up will need.
    void prefetch(Place place) const { fetch(sets_[place.set], offsetof(Set, groups)); }

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
    // Touches one line of a group, of which `line` is the number, if all of them are there with these sectors.
    bool hit_line(std::size_t group, std::size_t line, unsigned sectors) {
        if (!groups_[group].whole || (sectors & ~unsigned{groups_[group].every}) != 0) return false;
        line_times_[line] = ++clock_;
        groups_[group].scattered = true;
        return true;
    }
    // A line of a group, as this cache looks for it.
    class GroupLine {
        friend class SectorCache;
        std::int32_t tag_ = 0;
        std::uint32_t place_ = 0;  // set << 7 | high
    };
    [[nodiscard]] GroupLine group_line(std::uint64_t line, std::uint64_t hash) const;
    // The host fetches what touching these lines will need.
    void prefetch(std::span<const GroupLine> lines) const {
        for (const GroupLine& line : lines) fetch(sets_[line.place_ >> 7U], sizeof(Set));
    }
    // Touches the lines of a group one by one, f(place in the group, outcome) after each.
    template <class F>
    void touch_group(std::size_t number, std::span<const GroupLine> lines, unsigned sectors, F f) {
        groups_[number].whole = true;  // until one of its lines is driven out
        const unsigned known = groups_[number].every;
        Set* const sets = sets_.data();
        const std::int32_t start = clock_ + 1;
        unsigned every = kAllSectors, some = 0;
        for (std::size_t i = 0; i < lines.size(); ++i) {
            const std::int32_t tag = lines[i].tag_;
            const unsigned high = lines[i].place_ << 8U & kHigh;
            Set& set = sets[lines[i].place_ >> 7U];
            unsigned way = find(set, tag, high), state = high;
            Outcome outcome{.missing = sectors};
            if (way < kMostWays) {
                state = set.states[way];
                state |= known & (0U - (state >> 15U));  // if it is grouped
                outcome.missing = sectors & ~state;
                set.order = with_first(set.order, way);
            } else {
                way = leaving(set);
                const unsigned gone = set.states[way];
                if (is_notable(gone)) add_gone(outcome, gone, set.tags[way]);
                put(set, way, tag);
            }
            state |= kGrouped | sectors;
            set.states[way] = static_cast<std::uint16_t>(state);
            set.times[way] = start + static_cast<std::int32_t>(i);
            set.groups[way] = static_cast<std::uint16_t>(number);
            set.places[way] = static_cast<std::uint8_t>(i);
            every &= state;
            some |= state;
            f(i, outcome);
        }
        clock_ += static_cast<std::int32_t>(lines.size());
        Group& group = groups_[number];
        group.time = start;
        group.scattered = false;
        group.every = static_cast<std::uint8_t>(every);
        group.some = static_cast<std::uint8_t>(some & kAllSectors);
    }

    void invalidate(std::uint64_t line, Place place);
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
                f(line_of(set.states[way], set.tags[way]), dirty, dirty & ~unsigned{set.states[way]});
                set.states[way] = static_cast<std::uint16_t>((set.states[way] & 0xFF0FU) | dirty);
            }
        }
    }

private:
    static constexpr unsigned kGrouped = 0x8000;
    static constexpr unsigned kDirty = 0xF0;
    static constexpr unsigned kHigh = 0x7F00;  // the rest of the line and one, so that no line is that of an empty way
    static constexpr std::uint64_t kOneHigh = std::uint64_t{1} << 32U;
    struct alignas(64) Set {
        Ways<std::int32_t> tags{};                    // the low half of lines
        Ways<std::int32_t> times{};                   // of the last use
        Ways<std::uint16_t> states{};                 // grouped << 15 | high_of(line) | dirty << 4 | valid; 0: empty
        std::uint64_t order = 0xFEDCBA9876543210ULL;  // ways in nibbles, by their times, the latest in the lowest one
        // Of lines that are grouped. The host's line that has them is not fetched for others.
        alignas(64) Ways<std::uint16_t> groups{};
        Ways<std::uint8_t> places{};  // in the group
    };
    static void fetch(const Set& set, std::size_t bytes) {
        const auto* const from = reinterpret_cast<const char*>(&set);
        for (std::size_t at = 0; at < bytes; at += 64) __builtin_prefetch(from + at, 1);
    }
    // All lines of it that are in the cache were used at `time` and their place in it, or later, and have the sectors
    // of `every`, or more.
    struct Group {
        std::int32_t time = 0;
        std::uint8_t every = 0, some = 0;  // sectors that every line has, that some line has
        bool whole = false;                // all lines are in the cache
        bool scattered = false;            // some were touched one by one since, at their line_times_
    };
    void use(Group& group, std::size_t lines) {
        group.time = clock_ + 1;
        group.scattered = false;
        clock_ += static_cast<std::int32_t>(lines);
    }
    static std::uint64_t line_of(unsigned state, std::int32_t tag) {
        return ((std::uint64_t{state & kHigh} << 24U) - kOneHigh) | static_cast<std::uint32_t>(tag);
    }
    static unsigned high_of(std::uint64_t line) { return static_cast<unsigned>((line + kOneHigh) >> 24U) & kHigh; }
    // kMostWays if it is not there.
    static unsigned find(const Set& set, std::int32_t tag, unsigned high) {
        for (unsigned same = equal_ways(set.tags, tag); same != 0; same &= same - 1) {
            const auto way = static_cast<unsigned>(std::countr_zero(same));
            if ((set.states[way] & kHigh) == high) return way;
        }
        return kMostWays;
    }
    static unsigned find(const Set& set, std::uint64_t line) {
        return find(set, static_cast<std::int32_t>(line), high_of(line));
    }
    // What its group knows of a line that is about to be touched by itself.
    void look_closer(Set& set, unsigned way, unsigned sectors) {
        Group& group = groups_[set.groups[way]];
        set.states[way] = static_cast<std::uint16_t>(set.states[way] | group.every);
        group.some = static_cast<std::uint8_t>(group.some | sectors);
    }
    // The way that was used longest ago, by its own time or by its group's.
    [[gnu::always_inline]] unsigned leaving(Set& set) {
        const auto way = static_cast<unsigned>(set.order >> last_shift_ & 0xFU);
        return (set.states[way] & kGrouped) == 0 ? way : leaving_of_groups(set);
    }
    unsigned leaving_of_groups(Set& set) {
        for (;;) {
            const auto way = static_cast<unsigned>(set.order >> last_shift_ & 0xFU);
            if ((set.states[way] & kGrouped) == 0) return way;
            const std::int32_t used = use_of(set.groups[way], set.places[way]);
            if (used <= set.times[way]) {
                groups_[set.groups[way]].whole = false;
                return way;
            }
            set.order = with_last_at(set.order, used_, later_ways(set.times, used), way);
            set.times[way] = used;
        }
    }
    // When a line was used last, as its group knows.
    [[nodiscard]] std::int32_t use_of(std::size_t group, unsigned place) const {
        const std::int32_t together = groups_[group].time + static_cast<std::int32_t>(place);
        return groups_[group].scattered ? std::max(together, line_times_[first_lines_[group] + place]) : together;
    }
    // Of a line that was driven out: it was dirty, or there was none.
    static bool is_notable(unsigned state) { return (((state - 1) | state) & kDirty) != 0; }
    static void add_gone(Outcome& outcome, unsigned gone, std::int32_t tag) {
        outcome.victim_line = line_of(gone, tag);
        outcome.victim_dirty = gone >> 4U & kAllSectors;
        outcome.victim_part = outcome.victim_dirty & ~gone;
        outcome.filled = gone == 0;
    }
    [[gnu::always_inline]] Outcome touch_line(std::uint64_t line, Place place, unsigned sectors, unsigned bits) {
        Outcome outcome;
        outcome.missing = look_up(sets_[place.set], line, sectors, bits, ++clock_,
                                  [&](unsigned gone, std::int32_t tag) { add_gone(outcome, gone, tag); });
        return outcome;
    }
    // One line. bits: of its new state; drive_out(state, tag) if a line is driven out that is_notable. Returns what is
    // missing.
    template <class F>
    [[gnu::always_inline]] unsigned look_up(Set& set, std::uint64_t line, unsigned sectors, unsigned bits,
                                            std::int32_t time, F drive_out) {
        const auto tag = static_cast<std::int32_t>(line);
        const unsigned high = high_of(line), found = find(set, tag, high);
        if (found < kMostWays) {
            if ((set.states[found] & kGrouped) != 0) look_closer(set, found, sectors);
            const unsigned old = set.states[found];
            set.states[found] = static_cast<std::uint16_t>(old | bits);
            set.times[found] = time;
            set.order = with_first(set.order, found);
            return sectors & ~old;
        }
        const unsigned way = leaving(set), gone = set.states[way];
        if (is_notable(gone)) drive_out(gone, set.tags[way]);
        put(set, way, tag);
        set.states[way] = static_cast<std::uint16_t>(high | bits);
        set.times[way] = time;
        return sectors;
    }
    // Into the way that is last in order, so that the others move up by one.
    void put(Set& set, unsigned way, std::int32_t tag) const {
        set.tags[way] = tag;
        set.order = (set.order & ~used_) | (set.order << 4U & used_) | way;
    }

    unsigned ways_, last_shift_;  // of the nibble of the line that goes next
    std::uint64_t used_;          // the nibbles of ways in use, as a mask
    std::int32_t clock_ = 0;
    std::vector<Set> sets_;
    std::uint64_t set_count_;  // a vector divides to know its size
    std::vector<Group> groups_;
    std::vector<std::uint32_t> first_lines_;  // of groups: their numbers
    std::vector<std::int32_t> line_times_;    // of lines of groups: when one was touched that needed no look at its set
};

}  // namespace gambrel::sim_detail
