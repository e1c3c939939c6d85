#include "sim/sector_cache.hpp"

#include <algorithm>

namespace gambrel::sim_detail {

static_assert(kTensorShift - kLineShift + 2 <= 40, "a set keeps 40 bits of a line");

SectorCache::SectorCache(std::uint64_t lines, unsigned ways)
    : ways_(static_cast<unsigned>(std::clamp<std::uint64_t>(ways, 1, std::clamp<std::uint64_t>(lines, 1, kMostWays)))),
      last_shift_(4 * (ways_ - 1)),
      used_(~std::uint64_t{0} >> 4U * (kMostWays - ways_)),
      sets_(std::max<std::uint64_t>(1, lines / ways_)) {}

unsigned SectorCache::valid(std::uint64_t line, std::uint64_t hash) const {
    const Set& set = sets_[set_of(hash)];
    const unsigned way = find(set, line);
    return way < kMostWays ? set.states[way] & kAllSectors : 0;
}

void SectorCache::invalidate(std::uint64_t line, std::uint64_t hash) {
    Set& set = sets_[set_of(hash)];
    const unsigned way = find(set, line);
    if (way == kMostWays) return;
    set.states[way] = 0;
    // It goes to the end of the ways in use, so that it is filled next.
    const std::uint64_t before = below(set.order, way);
    const std::uint64_t after = used_ & ~(before << 4U | 0xFU);
    set.order = (set.order & ~(used_ & ~before)) | (set.order & after) >> 4U | std::uint64_t{way} << last_shift_;
}

void SectorCache::clear() { std::fill(sets_.begin(), sets_.end(), Set{}); }

}  // namespace gambrel::sim_detail
