#include "sim/l1_cache.hpp"

#include <algorithm>

#include "sim/sector_cache.hpp"

namespace gambrel::sim_detail {
namespace {

// f(i) for the first of every sixteen sets.
template <class F>
void for_sets(std::size_t padded, F f) {
    for (std::size_t i = 0; i < padded; i += SetCounts::kSize) f(i);
}

// f(set) for each of sixteen sets from `first` on that is in the mask.
template <class F>
void for_each_of(unsigned mask, std::size_t first, F f) {
    for (; mask != 0; mask &= mask - 1) f(first + static_cast<std::size_t>(std::countr_zero(mask)));
}

bool any(const std::uint8_t* numbers, std::size_t padded) {
    bool found = false;
    for_sets(padded, [&](std::size_t i) { found |= SetCounts::at(numbers + i).any(); });
    return found;
}

}  // namespace

L1Cache::L1Cache(std::uint64_t lines, unsigned ways, const GroupSets& groups)
    : ways_(static_cast<unsigned>(std::clamp<std::uint64_t>(ways, 1, std::clamp<std::uint64_t>(lines, 1, kMostWays)))),
      grouping_(groups.groups() > 0),
      set_count_(std::max<std::uint64_t>(1, lines / ways_)),
      padded_(GroupSets::padded(set_count_)),
      groups_(groups),
      sets_(set_count_),
      held_(padded_),
      grouped_(padded_),
      oldest_(set_count_),
      kept_(1),
      group_of_(1, kNoGroup),
      numbers_(kNumbers * padded_),
      surplus_(padded_) {}

void L1Cache::clear() {
    std::fill(sets_.begin(), sets_.end(), Set{});
    std::fill(held_.begin(), held_.end(), 0);
    std::fill(grouped_.begin(), grouped_.end(), 0);
    std::fill(oldest_.begin(), oldest_.end(), Oldest{});
    while (kept_[0].after != 0) forget(kept_[0].after);
    now_ = 0;
}

// Only which group was touched before a line was used counts, so stamps become the ranks of the groups that are here.
void L1Cache::wind_clock(std::uint32_t latest) {
    if (now_ < latest) return;
    std::vector<std::uint32_t> stamps;
    for (std::uint32_t slot = kept_[0].after; slot != 0; slot = kept_[slot].after) stamps.push_back(kept_[slot].stamp);
    const auto rank = [&](std::uint32_t stamp) {
        return static_cast<std::uint32_t>(std::upper_bound(stamps.begin(), stamps.end(), stamp) - stamps.begin());
    };
    for (Set& set : sets_) std::transform(set.stamps.begin(), set.stamps.end(), set.stamps.begin(), rank);
    for (std::uint32_t slot = kept_[0].after; slot != 0; slot = kept_[slot].after)
        kept_[slot].stamp = rank(kept_[slot].stamp);
    std::fill(oldest_.begin(), oldest_.end(), Oldest{});
    now_ = static_cast<std::uint32_t>(stamps.size());
}

// Drives out a line of the group that was touched first of those that have lines in this set. False: of the lines that
// were looked up by themselves, of which there are so many, one is older.
inline bool L1Cache::evict_of_groups(std::size_t at, const Set& set, unsigned alone) {
    if (grouped_[at] == 0) return false;
    const std::uint32_t single = alone > 0 ? set.stamps[oldest_way(set, alone)] : now_;
    Oldest& oldest = oldest_[at];
    if (single < oldest.stamp) return false;
    // From the start, if that group has been touched since. Slot 0 has no lines.
    std::uint32_t slot = kept_[oldest.slot].stamp == oldest.stamp ? oldest.slot : 0;
    while (numbers(slot, kPresent)[at] == 0) slot = kept_[slot].after;
    oldest = {slot, kept_[slot].stamp};
    if (single < oldest.stamp) return false;
    --numbers(slot, kPresent)[at];
    --grouped_[at];
    --held_[at];
    return true;
}

// A line that is not here.
void L1Cache::bring_in(std::size_t at, std::int32_t tag, unsigned state, std::uint64_t& filled) {
    Set& set = sets_[at];
    unsigned position = held_[at] - grouped_[at];  // in set.order: of a way that is empty
    if (held_[at] < ways_) {
        ++held_[at];
        ++filled;
    } else if (evict_of_groups(at, set, position)) {
        ++held_[at];
    } else {
        --position;
    }
    const auto way = static_cast<unsigned>(set.order >> 4U * position & 0xFU);
    const std::uint64_t moved = ~std::uint64_t{0} >> 4U * (kMostWays - 1 - position);
    set.order = (set.order & ~moved) | (set.order << 4U & moved) | way;
    set.tags[way] = tag;
    set.states[way] = static_cast<std::uint16_t>(state);
    if (grouping_) set.stamps[way] = now_;
}

void L1Cache::unlink(std::uint32_t slot) {
    kept_[kept_[slot].before].after = kept_[slot].after;
    kept_[kept_[slot].after].before = kept_[slot].before;
}

void L1Cache::link_last(std::uint32_t slot) {
    kept_[slot] = {++now_, kept_[0].before, 0};
    kept_[kept_[slot].before].after = slot;
    kept_[0].before = slot;
}

void L1Cache::forget(std::uint32_t slot) {
    unlink(slot);
    kept_[slot].stamp = 0;
    group_of_[slot] = kNoGroup;
    free_slots_.push_back(slot);
}

// Of the group, which is in no list then. With no line, if it was not here.
std::uint32_t L1Cache::slot_of(std::size_t group) {
    const auto known = std::find(group_of_.begin(), group_of_.end(), static_cast<std::uint32_t>(group));
    if (known != group_of_.end()) {
        const auto slot = static_cast<std::uint32_t>(known - group_of_.begin());
        unlink(slot);
        kept_[slot].stamp = 0;  // no set takes it for its oldest one
        return slot;
    }
    if (free_slots_.empty()) forget_empty_groups();
    if (free_slots_.empty()) {
        // Not one by one: to look for empty groups takes time.
        const std::size_t old = kept_.size(), slots = old + 8 + old / 4;
        for (std::size_t slot = slots; slot-- > old;) free_slots_.push_back(static_cast<std::uint32_t>(slot));
        kept_.resize(slots);
        group_of_.resize(slots, kNoGroup);
        numbers_.resize(slots * kNumbers * padded_);
    }
    const std::uint32_t slot = free_slots_.back();
    free_slots_.pop_back();
    group_of_[slot] = static_cast<std::uint32_t>(group);
    kept_[slot].stamp = 0;
    std::fill_n(numbers(slot, 0), kNumbers * padded_, Count{0});
    return slot;
}

void L1Cache::forget_empty_groups() {
    for (std::uint32_t slot = kept_[0].after; slot != 0;) {
        const std::uint32_t next = kept_[slot].after;
        if (!any(numbers(slot, kPresent), padded_)) forget(slot);
        slot = next;
    }
}

void L1Cache::list_missing(std::size_t group, std::uint32_t slot, unsigned sectors) {
    const std::span<const std::uint16_t> sets = groups_.sets(group);
    std::fill_n(missing_.begin(), sets.size(), static_cast<std::uint8_t>(sectors));
    for (unsigned rest = sectors; rest != 0; rest &= rest - 1) {
        const auto sector = static_cast<unsigned>(std::countr_zero(rest));
        const Count* const valid = numbers(slot, kValid + sector);
        // Without a branch: the host could not predict it.
        for (std::size_t i = 0; i < sets.size(); ++i)
            missing_[i] = static_cast<std::uint8_t>(missing_[i] ^ (valid[sets[i]] != 0 ? 1U : 0U) << sector);
    }
}

inline void L1Cache::evict_from(std::size_t at) {
    Set& set = sets_[at];
    const unsigned alone = held_[at] - grouped_[at];
    if (evict_of_groups(at, set, alone)) return;
    set.states[oldest_way(set, alone)] = 0;
    --held_[at];
}

// So many lines of each set, those first that were used longest ago.
void L1Cache::evict_surplus() {
    // Where there are lines that were looked up by themselves, one by one.
    bool left = false;
    for_sets(padded_, [&](std::size_t first) {
        const SetCounts alone = SetCounts::at(&held_[first]) - SetCounts::at(&grouped_[first]);
        for_each_of(min(alone, SetCounts::at(&surplus_[first])).nonzero(), first, [&](std::size_t i) {
            for (; surplus_[i] > 0; --surplus_[i]) evict_from(i);
        });
        left |= SetCounts::at(&surplus_[first]).any();
    });
    for (std::uint32_t slot = kept_[0].after; left && slot != 0;) {
        Count* const present = numbers(slot, kPresent);
        bool remains = false;
        left = false;
        for_sets(padded_, [&](std::size_t i) {
            const SetCounts surplus = SetCounts::at(&surplus_[i]), here = SetCounts::at(present + i);
            const SetCounts gone = min(surplus, here), stays = here - gone, rest = surplus - gone;
            stays.store(present + i);
            rest.store(&surplus_[i]);
            (SetCounts::at(&grouped_[i]) - gone).store(&grouped_[i]);
            (SetCounts::at(&held_[i]) - gone).store(&held_[i]);
            remains |= stays.any();
            left |= rest.any();
        });
        slot = kept_[slot].after;
        if (!remains) forget(kept_[slot].before);
    }
}

std::uint64_t L1Cache::touch_group(std::size_t group, unsigned sectors, std::uint64_t& filled) {
    const Count* const all = groups_.counts(group);
    const SetCounts ways = SetCounts::all(ways_);
    const std::uint32_t slot = slot_of(group);
    Count* const present = numbers(slot, kPresent);
    const auto each_sector = [&](auto f) {
        for (unsigned rest = sectors; rest != 0; rest &= rest - 1)
            f(numbers(slot, kValid + static_cast<std::size_t>(std::countr_zero(rest))));
    };
    bool surplus = false;
    std::uint64_t fills = 0, there = 0;
    for_sets(padded_, [&](std::size_t i) {
        const SetCounts lines = SetCounts::at(all + i), here = SetCounts::at(present + i);
        const SetCounts held = SetCounts::at(&held_[i]), wanted = min(lines, ways);
        // If one line of a set is gone, those that are left are the oldest lines there: each one is driven out by those
        // that are touched before it.
        const SetCounts whole = where_equal(here, lines);
        fills += min(wanted - whole, ways - held).sum();
        // The others of the set. Lines of this group do not count while lines are driven out.
        const SetCounts others = held - here, over = wanted - (ways - others);
        over.store(&surplus_[i]);
        surplus |= over.any();
        others.store(&held_[i]);
        (SetCounts::at(&grouped_[i]) - here).store(&grouped_[i]);
        wanted.store(present + i);
        for (std::size_t sector = 0; sector < kSectorsPerLine; ++sector) {
            Count* const valid = numbers(slot, kValid + sector) + i;
            min(SetCounts::at(valid), whole).store(valid);
        }
    });
    filled += fills;
    each_sector([&](const Count* valid) {
        for_sets(padded_, [&](std::size_t i) { there += SetCounts::at(valid + i).sum(); });
    });
    if (there > 0 && there < groups_.sets(group).size() * sector_count(sectors)) list_missing(group, slot, sectors);
    if (surplus) evict_surplus();
    for_sets(padded_, [&](std::size_t i) {
        const SetCounts wanted = SetCounts::at(present + i);
        (SetCounts::at(&held_[i]) + wanted).store(&held_[i]);
        (SetCounts::at(&grouped_[i]) + wanted).store(&grouped_[i]);
    });
    each_sector([&](Count* valid) { std::copy_n(present, padded_, valid); });
    link_last(slot);
    return there;
}

}  // namespace gambrel::sim_detail
