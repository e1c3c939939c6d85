// The L1 of an SM: a sectored, set-associative cache with exact LRU that is only read. Nothing is ever driven out: a
// line is here if fewer others of its set than it has ways have been used since. Of lines that are looked up one by
// one, the last sixteen of each set are known, in order. Of groups of lines (line_groups.hpp) it is known in which
// order they were touched and how many lines of each are in a set, so a touch is a few sums of vectors. Invariant: the
// outcome is that of touching the lines one by one, if no line of a group is ever looked up by itself.
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
    L1Cache(L1Cache&&) = default;  // a copy would point into the original

    // What is missing of a line that is in no group. hash: mixed(line). filled: counts lines that took an empty way.
    [[gnu::always_inline]] unsigned read(std::uint64_t line, std::uint64_t hash, unsigned sectors,
                                         std::uint64_t& filled) {
        const std::size_t at = set_of(hash);
        Set& set = sets_[at];
        const unsigned high = high_of(line);
        for (unsigned same = equal_ways(set.tags, static_cast<std::int32_t>(line)); same != 0; same &= same - 1) {
            const auto way = static_cast<unsigned>(std::countr_zero(same));
            unsigned old = set.states[way];
            if ((old & kHigh) != high) continue;
            if (looks_back_ && !is_here(at, way)) old = high;
            set.states[way] = static_cast<std::uint16_t>(old | sectors);
            orders_[at] = with_first(orders_[at], way);
            return sectors & ~old;
        }
        const auto way = static_cast<unsigned>(orders_[at] >> 4U * (kMostWays - 1));
        orders_[at] = orders_[at] << 4U | way;
        set.tags[way] = static_cast<std::int32_t>(line);
        set.states[way] = static_cast<std::uint16_t>(high | sectors);
        if (looks_back_) use_now(at, way);
        if (held_[at] < ways_) {
            ++held_[at];
            ++filled;
        }
        return sectors;
    }
    // The same of the line that was read last.
    [[gnu::always_inline]] unsigned read_again(std::uint64_t hash, unsigned sectors) {
        const std::size_t at = set_of(hash);
        Set& set = sets_[at];
        const unsigned way = orders_[at] & 0xFU, old = set.states[way];
        set.states[way] = static_cast<std::uint16_t>(old | sectors);
        return sectors & ~old;
    }
    // Touches all lines of a group in their order. Returns how many of the sectors were there, of all lines together.
    // If that is neither none nor all, missing() says what each line lacked.
    std::uint64_t touch_group(std::size_t group, unsigned sectors, std::uint64_t& filled);
    [[nodiscard]] const std::array<std::uint8_t, kMostGroup>& missing() const { return missing_; }

    // The host fetches all sets, unless kernels load past them.
    void prefetch() const {
        if (held_.front() == 0) return;
        for (const Set& set : sets_) {
            __builtin_prefetch(&set, 1);
            __builtin_prefetch(&set.states, 1);
        }
    }

    void clear();
    // Makes stamps, which have 16 bits, small again. Touches do so where they must.
    void wind_clock();

private:
    static constexpr unsigned kHigh = 0x7F00;  // the rest of the line and one, so that no line is that of an empty way
    static constexpr std::uint64_t kOneHigh = std::uint64_t{1} << 32U;
    static unsigned high_of(std::uint64_t line) { return static_cast<unsigned>((line + kOneHigh) >> 24U) & kHigh; }
    // The last lines that were looked up by themselves.
    struct alignas(64) Set {
        Ways<std::int32_t> tags{};     // the low half of lines
        Ways<std::uint16_t> states{};  // high_of(line) | valid; 0: empty
        // How many groups had been touched when the line was used last. Not read where looks_back_ is false.
        Ways<std::uint16_t> stamps{};
    };
    // Ways in nibbles, the latest in the lowest one, empty ones last.
    static constexpr std::uint64_t kEmptyOrder = 0xFEDCBA9876543210ULL;
    // Numbers of lines, or masks of sectors, one for each set.
    using Count = std::uint8_t;
    // When a group was touched last.
    struct Touch {
        const Count* lines;  // of the group
        std::uint32_t group, slot;
        std::uint16_t stamp;
    };
    // By the slot of a touch: which sectors the lines of the group have, and how many lines that are looked up by
    // themselves were used last after this touch and before the next one.
    Count* valid(std::uint32_t slot) { return numbers_.data() + slot * 2 * padded_; }
    Count* alone(std::uint32_t slot) { return valid(slot) + padded_; }
    [[nodiscard]] std::size_t set_of(std::uint64_t hash) const {
        return static_cast<std::size_t>((hash >> 32U) * set_count_ >> 32U);
    }
    void use_now(std::size_t at, unsigned way) {
        sets_[at].stamps[way] = now_;
        Count& used = used_now_[at];
        used = static_cast<Count>(used + (used != GroupSets::kMostCounted ? 1 : 0));
    }
    // A line that was found by its tag.
    bool is_here(std::size_t at, unsigned way) {
        return (sets_[at].stamps[way] == now_ && ways_ == kMostWays) || is_here_still(at, way);
    }
    bool is_here_still(std::size_t at, unsigned way);
    [[nodiscard]] std::size_t last_touch(std::size_t group) const;
    std::uint32_t free_slot();
    void forget_old();
    void touch_now(std::size_t group, std::uint32_t slot);

    static constexpr std::uint32_t kNoGroup = ~std::uint32_t{0};

    unsigned ways_;
    bool looks_back_;  // being one of the last sixteen lines does not tell whether a line is here
    std::uint64_t set_count_;
    std::size_t padded_;
    const GroupSets& groups_;
    std::vector<Set> sets_;
    std::vector<std::uint64_t> orders_;  // of each set: apart, so that a set fills two lines of the host's cache
    std::vector<Count> held_;            // of each set: lines, which fill its ways one after the other
    std::vector<Touch> touches_;  // in order of time; the first one is the start, until that does not matter any more
    std::size_t most_touches_ = 0;
    std::uint16_t now_ = 0;  // groups that were touched
    std::vector<Count> numbers_;
    Count* used_now_ = nullptr;  // alone() of the last touch
    std::vector<std::uint32_t> free_slots_;
    std::vector<Count> none_, sums_, before_;  // no lines; the others for use within a touch
    std::array<std::uint8_t, kMostGroup> missing_{};
};

}  // namespace gambrel::sim_detail
