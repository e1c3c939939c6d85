#include "sim/sector_cache.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace gambrel::sim_detail {

static_assert(kTensors < 8 && kTensorShift - kLineShift + 3 <= 39, "a set keeps 39 bits of a line and one");

SectorCache::SectorCache(std::uint64_t lines, unsigned ways)
    : ways_(static_cast<unsigned>(std::clamp<std::uint64_t>(ways, 1, std::clamp<std::uint64_t>(lines, 1, kMostWays)))),
      last_shift_(4 * (ways_ - 1)),
      used_(~std::uint64_t{0} >> 4U * (kMostWays - ways_)),
      sets_(std::max<std::uint64_t>(1, lines / ways_)),
      set_count_(sets_.size()) {}

void SectorCache::set_groups(std::vector<std::uint32_t> first, std::size_t lines) {
    groups_.resize(first.size());
    first_lines_ = std::move(first);
    line_times_.resize(lines);
}

SectorCache::GroupLine SectorCache::group_line(std::uint64_t line, std::uint64_t hash) const {
    GroupLine made;
    made.tag_ = static_cast<std::int32_t>(line);
    made.place_ = place_of(hash).set << 7U | high_of(line) >> 8U;
    return made;
}

void SectorCache::invalidate(std::uint64_t line, Place place) {
    Set& set = sets_[place.set];
    const unsigned way = find(set, line);
    if (way == kMostWays) return;
    if ((set.states[way] & kGrouped) != 0) groups_[set.groups[way]].whole = false;
    set.states[way] = 0;
    set.times[way] = 0;
    // It goes to the end of the ways in use, so that it is filled next.
    const std::uint64_t before = used_after(set.order, way);
    const std::uint64_t after = used_ & ~(before << 4U | 0xFU);
    set.order = (set.order & ~(used_ & ~before)) | (set.order & after) >> 4U | std::uint64_t{way} << last_shift_;
}

void SectorCache::clear() {
    std::fill(sets_.begin(), sets_.end(), Set{});
    std::fill(groups_.begin(), groups_.end(), Group{});
    clock_ = 0;
}

void SectorCache::wind_clock(std::int32_t latest) {
    if (clock_ < latest) return;
    for (Set& set : sets_) {
        std::array<unsigned, kMostWays> ways{};
        for (unsigned i = 0; i < ways_; ++i) {
            const unsigned way = ways[i] = static_cast<unsigned>(set.order >> 4U * i & 0xFU);
            if ((set.states[way] & kGrouped) != 0)
                set.times[way] = std::max(set.times[way], use_of(set.groups[way], set.places[way]));
        }
        std::stable_sort(ways.begin(), ways.begin() + ways_,
                         [&](unsigned a, unsigned b) { return set.times[a] > set.times[b]; });
        set.order &= ~used_;
        for (unsigned i = 0; i < ways_; ++i) {
            set.order |= std::uint64_t{ways[i]} << 4U * i;
            // 0 is for empty ways.
            set.times[ways[i]] = set.states[ways[i]] != 0 ? static_cast<std::int32_t>(ways_ - i) : 0;
        }
    }
    // Places in groups add up to 255 to a group's time.
    for (Group& group : groups_) {
        group.time = -static_cast<std::int32_t>(kMostGroup);
        group.scattered = false;
    }
    clock_ = kMostWays + 1;
}

}  // namespace gambrel::sim_detail
