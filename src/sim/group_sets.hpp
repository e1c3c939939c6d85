// How the lines of groups fall into the sets of a cache. All L1s of a GPU are alike and share one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/line_groups.hpp"
#include "sim/set_counts.hpp"

namespace gambrel::sim_detail {

class GroupSets {
public:
    // Counts of sets are padded with zeros to whole SetCounts.
    static constexpr std::size_t padded(std::size_t sets) {
        return (sets + SetCounts::kSize - 1) / SetCounts::kSize * SetCounts::kSize;
    }
    static constexpr unsigned kMostCounted = 255;

    GroupSets(const LineGroups& groups, std::uint64_t sets);
    [[nodiscard]] std::size_t groups() const { return ends_.size(); }
    // Of each set: lines of the group, kMostCounted if there are more.
    [[nodiscard]] const std::uint8_t* counts(std::size_t group) const { return counts_.data() + group * padded_; }
    // Of each line of the group, in their order.
    [[nodiscard]] std::span<const std::uint16_t> sets(std::size_t group) const {
        const std::size_t first = group == 0 ? 0 : ends_[group - 1];
        return {sets_.data() + first, ends_[group] - first};
    }

private:
    std::size_t padded_;
    std::vector<std::uint8_t> counts_;
    std::vector<std::uint16_t> sets_;  // of lines
    std::vector<std::size_t> ends_;    // of sets_
};

}  // namespace gambrel::sim_detail
