// The requests for one operand, tile by tile and step by step, made once because many CTAs make the same ones: for B
// those of all rows, for A those of all columns. Invariant: unless it is empty it has all of the operand. It knows no
// tile; the caller knows whose requests these are. Lines that are asked for alike become groups.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/access.hpp"
#include "sim/line_groups.hpp"

namespace gambrel::sim_detail {

class Panel {
public:
    // More do not stay in the host's caches, and making them again is faster than fetching them.
    static constexpr std::size_t kMost = std::size_t{1} << 20U;

    [[nodiscard]] bool empty() const { return ends_.empty(); }
    [[nodiscard]] std::span<const Access> of(std::int64_t i) const {
        const auto at = static_cast<std::size_t>(i);
        const std::size_t first = at == 0 ? 0 : ends_[at - 1];
        return {accesses_.data() + first, ends_[at] - first};
    }
    // make(i, out) appends the requests of i in [0, count), all of one tensor and of actions that can be grouped. Equal
    // ones are added to `groups`; null: to none.
    template <class F>
    void fill(std::int64_t count, LineGroups* groups, F make) {
        const std::size_t groups_before = groups ? groups->size() : 0;
        for (std::int64_t i = 0; i < count; ++i) {
            const std::size_t first = accesses_.size();
            make(i, accesses_);
            if (groups) group(first, *groups);
            ends_.push_back(accesses_.size());
            // The others are about as many as the first ones: what will be far too many is not made at all.
            const bool hopeless = i == 0 && accesses_.size() > 2 * kMost / static_cast<std::size_t>(count);
            if (accesses_.size() <= kMost && !hopeless) continue;
            *this = {};
            if (groups) groups->keep_first(groups_before);
            return;
        }
    }

    // Some line of a group is asked for by itself, and L1 keeps it.
    [[nodiscard]] bool asks_alone(const LineGroups& groups) const;

private:
    void group(std::size_t first, LineGroups& groups);

    std::vector<Access> accesses_;
    std::vector<std::size_t> ends_;
    std::vector<std::uint64_t> alike_;  // for use within a step
};

}  // namespace gambrel::sim_detail
