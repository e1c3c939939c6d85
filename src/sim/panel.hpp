// The requests for one operand, tile by tile and step by step, made once because many CTAs make the same ones: for B
// those of all rows, for A those of all columns. Invariant: unless it is empty it has all of the operand. It knows no
// tile; the caller knows whose requests these are. What L1 merges within a step is merged here, once for all CTAs: it
// depends on nothing that is in L1.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/access.hpp"
#include "sim/merge_table.hpp"

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
    // make(i, out) appends the requests of i in [0, count). merge: they are of one tensor that no other request of
    // their step is for, and all Action::read_step.
    template <class F>
    void fill(std::int64_t count, bool merge, F make) {
        MergeTable table;
        for (std::int64_t i = 0; i < count; ++i) {
            const std::size_t first = accesses_.size();
            make(i, accesses_);
            if (merge) merge_from(first, table);
            ends_.push_back(accesses_.size());
            // The others are about as many as the first ones: what will be far too many is not made at all.
            const bool hopeless = i == 0 && accesses_.size() > 2 * kMost / static_cast<std::size_t>(count);
            if (accesses_.size() <= kMost && !hopeless) continue;
            *this = {};
            return;
        }
    }

private:
    void merge_from(std::size_t first, MergeTable& table) {
        if (first == accesses_.size()) return;
        const auto tensor = static_cast<Tensor>(tensor_of(accesses_[first].line()));
        std::size_t kept = first;
        std::uint64_t hits = 0;
        table.clear();
        for (std::size_t i = first; i < accesses_.size(); ++i) {
            const Access access = accesses_[i];
            const unsigned fresh = table.add(access.line(), mixed(access.line()), access.sectors());
            hits += access.count() - sector_count(fresh);
            if (fresh != 0) accesses_[kept++] = {access.line(), fresh, Action::read_merged};
        }
        accesses_.resize(kept);
        if (hits > 0) accesses_.push_back(Access::hits(tensor, hits));
    }

    std::vector<Access> accesses_;
    std::vector<std::size_t> ends_;
};

}  // namespace gambrel::sim_detail
