#include "sim/sector_cache.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace gambrel::sim_detail {

SectorCache::SectorCache(std::uint64_t lines, unsigned ways)
    : sets_(std::max<std::uint64_t>(1, lines / std::max(1U, ways))),
      ways_(static_cast<unsigned>(std::clamp<std::uint64_t>(ways, 1, std::max<std::uint64_t>(1, lines)))),
      entries_(sets_ * ways_, kEmpty),
      filter_mask_(std::bit_ceil(8 * entries_.size()) - 1),
      filter_(filter_mask_ + 1) {}

SectorCache::Outcome SectorCache::touch(std::uint64_t line, std::uint64_t hash, unsigned sectors, bool dirty) {
    std::uint64_t* const set = entries_.data() + set_of(hash);
    const std::uint64_t bits = dirty ? sectors << 4U | sectors : sectors;
    if (set[0] >> 8U == line) {
        const auto missing = static_cast<unsigned>(sectors & ~set[0]);
        set[0] |= bits;
        return {missing, 0, 0};
    }
    std::uint16_t& present = filter(hash);
    unsigned way = ways_;
    if (present > 0)
        for (way = 1; way < ways_ && set[way] >> 8U != line;) ++way;
    Outcome outcome;
    std::uint64_t entry = line << 8U;
    if (way < ways_) {
        entry = set[way];
        outcome.missing = static_cast<unsigned>(sectors & ~entry);
    } else {
        way = ways_ - 1;
        outcome.missing = sectors;
        ++present;
        if (set[way] != kEmpty) {
            outcome.victim_line = set[way] >> 8U;
            --filter(mixed(outcome.victim_line));
            outcome.victim_dirty = static_cast<unsigned>(set[way] >> 4U & kAllSectors);
        }
    }
    std::memmove(set + 1, set, way * sizeof *set);
    set[0] = entry | bits;
    return outcome;
}

unsigned SectorCache::valid(std::uint64_t line, std::uint64_t hash) const {
    const std::uint64_t* const set = entries_.data() + set_of(hash);
    for (unsigned way = 0; way < ways_; ++way)
        if (set[way] >> 8U == line && set[way] != kEmpty) return static_cast<unsigned>(set[way] & kAllSectors);
    return 0;
}

void SectorCache::invalidate(std::uint64_t line, std::uint64_t hash) {
    std::uint64_t* const set = entries_.data() + set_of(hash);
    unsigned way = 0;
    while (way < ways_ && set[way] >> 8U != line) ++way;
    if (way == ways_) return;
    --filter(hash);
    std::memmove(set + way, set + way + 1, (ways_ - 1 - way) * sizeof *set);
    set[ways_ - 1] = kEmpty;
}

void SectorCache::clear() {
    std::fill(entries_.begin(), entries_.end(), kEmpty);
    std::fill(filter_.begin(), filter_.end(), std::uint16_t{0});
}

}  // namespace gambrel::sim_detail
