#include "sim/group_sets.hpp"

#include "sim/sector_cache.hpp"

namespace gambrel::sim_detail {

GroupSets::GroupSets(const LineGroups& groups, std::uint64_t sets) : padded_(padded(sets)) {
    counts_.resize(groups.size() * padded_);
    sets_.reserve(groups.lines().size());
    ends_.reserve(groups.size());
    for (std::size_t group = 0; group < groups.size(); ++group) {
        std::uint8_t* const counts = counts_.data() + group * padded_;
        for (const HashedLine& line : groups.lines(group)) {
            const std::size_t set = SectorCache::set_of(line.hash, sets);
            sets_.push_back(static_cast<std::uint16_t>(set));
            if (counts[set] < kMostCounted) ++counts[set];
        }
        ends_.push_back(sets_.size());
    }
}

}  // namespace gambrel::sim_detail
