#include "sim/l1_cache.hpp"

#include <algorithm>
#include <limits>

namespace gambrel::sim_detail {
namespace {

// f(i) for the first of every sixteen sets.
template <class F>
void for_sets(std::size_t padded, F f) {
    for (std::size_t i = 0; i < padded; i += SetCounts::kSize) f(i);
}

}  // namespace

L1Cache::L1Cache(std::uint64_t lines, unsigned ways, const GroupSets& groups)
    : ways_(static_cast<unsigned>(std::clamp<std::uint64_t>(ways, 1, std::clamp<std::uint64_t>(lines, 1, kMostWays)))),
      looks_back_(groups.groups() > 0 || ways_ < kMostWays),
      set_count_(std::max<std::uint64_t>(1, lines / ways_)),
      padded_(GroupSets::padded(set_count_)),
      groups_(groups),
      sets_(set_count_),
      orders_(set_count_, kEmptyOrder),
      held_(padded_),
      none_(padded_),
      sums_(padded_),
      before_(padded_) {
    touch_now(kNoGroup, free_slot());
}

void L1Cache::clear() {
    std::fill(sets_.begin(), sets_.end(), Set{});
    std::fill(orders_.begin(), orders_.end(), kEmptyOrder);
    std::fill(held_.begin(), held_.end(), 0);
    for (const Touch& touch : touches_) free_slots_.push_back(touch.slot);
    touches_.clear();
    now_ = 0;
    touch_now(kNoGroup, free_slot());
}

// Only between which touches a line was used counts, so stamps become the places of these.
void L1Cache::wind_clock() {
    const auto rank = [&](std::uint16_t stamp) {
        const auto later = std::upper_bound(touches_.begin(), touches_.end(), stamp,
                                            [](std::uint16_t a, const Touch& b) { return a < b.stamp; });
        return static_cast<std::uint16_t>(later - touches_.begin());
    };
    for (Set& set : sets_) std::transform(set.stamps.begin(), set.stamps.end(), set.stamps.begin(), rank);
    now_ = 0;
    for (Touch& touch : touches_) touch.stamp = ++now_;
}

// Whether so few others of its set have been used since that a line is still here. It is used now.
bool L1Cache::is_here_still(std::size_t at, unsigned way) {
    const Set& set = sets_[at];
    auto others = static_cast<unsigned>(std::countr_one(used_after(orders_[at], way))) / 4;
    std::size_t touch = touches_.size();
    for (; touch > 0 && touches_[touch - 1].stamp > set.stamps[way] && others < ways_; --touch)
        others += touches_[touch - 1].lines[at];
    const bool here = others < ways_;
    // Of a line that is gone it does not matter: whatever was touched before it is gone as well.
    if (here && touch > 0) --alone(touches_[touch - 1].slot)[at];
    use_now(at, way);
    return here;
}

// Of the group: its place in touches_, which are few, or their number.
std::size_t L1Cache::last_touch(std::size_t group) const {
    for (std::size_t i = touches_.size(); i-- > 0;)
        if (touches_[i].group == group) return i;
    return touches_.size();
}

std::uint32_t L1Cache::free_slot() {
    if (free_slots_.empty()) {
        const std::size_t old = numbers_.size() / (2 * padded_), slots = old + 8 + old / 4;
        for (std::size_t slot = slots; slot-- > old;) free_slots_.push_back(static_cast<std::uint32_t>(slot));
        numbers_.resize(slots * 2 * padded_);
    }
    const std::uint32_t slot = free_slots_.back();
    free_slots_.pop_back();
    return slot;
}

void L1Cache::touch_now(std::size_t group, std::uint32_t slot) {
    const Count* const lines = group == kNoGroup ? none_.data() : groups_.counts(group);
    touches_.push_back({lines, static_cast<std::uint32_t>(group), slot, ++now_});
    used_now_ = alone(slot);
    std::fill_n(used_now_, padded_, Count{0});
}

// Touches since which as many lines of every set have been used as it has ways.
void L1Cache::forget_old() {
    std::fill(sums_.begin(), sums_.end(), static_cast<Count>(ways_));
    std::fill_n(sums_.begin(), set_count_, Count{0});
    std::size_t first = touches_.size();
    for (bool room = true; room && first > 0;) {
        const Touch& touch = touches_[--first];
        room = false;
        for_sets(padded_, [&](std::size_t i) {
            const SetCounts sum =
                SetCounts::at(&sums_[i]) + SetCounts::at(touch.lines + i) + SetCounts::at(alone(touch.slot) + i);
            sum.store(&sums_[i]);
            room |= (SetCounts::all(ways_) - sum).any();
        });
    }
    for (std::size_t i = 0; i < first; ++i) free_slots_.push_back(touches_[i].slot);
    touches_.erase(touches_.begin(), touches_.begin() + static_cast<std::ptrdiff_t>(first));
    // Not at every touch: to look takes time.
    most_touches_ = touches_.size() + 8 + touches_.size() / 4;
}

std::uint64_t L1Cache::touch_group(std::size_t group, unsigned sectors, std::uint64_t& filled) {
    if (touches_.size() >= most_touches_) forget_old();
    if (now_ == std::numeric_limits<std::uint16_t>::max()) wind_clock();
    const std::size_t last = last_touch(group);
    const bool known = last < touches_.size();
    const std::uint32_t slot = known ? touches_[last].slot : free_slot();
    const Count* const all = groups_.counts(group);
    const SetCounts ways = SetCounts::all(ways_);
    std::uint64_t fills = 0, there = 0;
    for_sets(padded_, [&](std::size_t i) {
        const SetCounts lines = SetCounts::at(all + i), held = SetCounts::at(&held_[i]);
        // All lines of a set are here, or none: if one is gone, those behind it are older than what is touched before
        // they are.
        SetCounts whole = SetCounts::all(0);
        if (known) {
            SetCounts since = lines + SetCounts::at(alone(slot) + i);
            for (std::size_t touch = last + 1; touch < touches_.size(); ++touch)
                since =
                    since + SetCounts::at(touches_[touch].lines + i) + SetCounts::at(alone(touches_[touch].slot) + i);
            whole = equal(min(since, ways), since);
        }
        const SetCounts before = SetCounts::at(valid(slot) + i) & whole;
        before.store(&before_[i]);
        (before | SetCounts::all(sectors)).store(valid(slot) + i);
        for (unsigned rest = sectors; rest != 0; rest &= rest - 1) {
            const SetCounts sector = SetCounts::all(rest & (~rest + 1));
            there += (lines & equal(before & sector, sector)).sum();
        }
        const SetCounts fill = min(lines - (lines & whole), ways - held);
        fills += fill.sum();
        (held + fill).store(&held_[i]);
    });
    filled += fills;
    const std::span<const std::uint16_t> sets = groups_.sets(group);
    if (there > 0 && there < sets.size() * sector_count(sectors))
        for (std::size_t i = 0; i < sets.size(); ++i)
            missing_[i] = static_cast<std::uint8_t>(sectors & ~unsigned{before_[sets[i]]});
    if (known) {
        // Nothing between this touch and the one before it tells lines apart any more.
        if (last > 0)
            for_sets(padded_, [&](std::size_t i) {
                Count* const earlier = alone(touches_[last - 1].slot) + i;
                (SetCounts::at(earlier) + SetCounts::at(alone(slot) + i)).store(earlier);
            });
        touches_.erase(touches_.begin() + static_cast<std::ptrdiff_t>(last));
    }
    touch_now(group, slot);
    return there;
}

}  // namespace gambrel::sim_detail
