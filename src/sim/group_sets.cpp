#include "sim/group_sets.hpp"

#include <algorithm>

#include "sim/sector_cache.hpp"

namespace gambrel::sim_detail {

GroupSets::GroupSets(const LineGroups& groups, std::uint64_t sets) : padded_(padded(sets)) {
    counts_.resize(groups.size() * padded_);
    lines_.resize(groups.lines().size());
    ends_.reserve(groups.size());
    std::vector<std::uint16_t> seen(sets);
    for (std::size_t group = 0; group < groups.size(); ++group) {
        const std::span<const HashedLine> lines = groups.lines(group);
        std::fill(seen.begin(), seen.end(), 0);
        for (std::size_t i = lines.size(); i-- > 0;) {
            const auto set = static_cast<std::uint16_t>(SectorCache::set_of(lines[i].hash, sets));
            lines_[groups.first(group) + i] = {set, seen[set]++};
        }
        for (std::size_t set = 0; set < sets; ++set)
            counts_[group * padded_ + set] = static_cast<std::uint8_t>(std::min<std::size_t>(seen[set], kMostCounted));
        ends_.push_back(groups.first(group) + lines.size());
    }
}

}  // namespace gambrel::sim_detail
