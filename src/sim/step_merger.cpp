#include "sim/step_merger.hpp"

#include <algorithm>

#include "sim/sector_cache.hpp"

namespace gambrel::sim_detail {

bool fit(std::span<const Access> accesses, const KnownL1& l1) {
    thread_local std::vector<unsigned> lines;
    lines.assign(l1.sets, 0);
    return std::all_of(accesses.begin(), accesses.end(), [&](Access access) {
        return access.action() == Action::hits ||
               ++lines[SectorCache::set_of(mixed(access.line()), l1.sets)] <= l1.ways;
    });
}

Movable StepMerger::merge(std::vector<Access>& accesses, std::size_t first, const Rules& rules) {
    if (first == accesses.size()) return Movable::anywhere;
    const Action action = accesses[first].action();
    if (action == Action::read_step && rules.apart) return merge_step(accesses, first);
    if (action == Action::read && rules.l1.sets > 0) return merge_kept(accesses, first, rules.l1);
    return Movable::anywhere;
}

void StepMerger::replace(std::vector<Access>& accesses, std::size_t first, std::uint64_t hits) const {
    const auto tensor = static_cast<Tensor>(tensor_of(accesses[first].line()));
    accesses.resize(first);
    accesses.insert(accesses.end(), merged_.begin(), merged_.end());
    if (hits > 0) accesses.push_back(Access::hits(tensor, hits));
}

// Each request with the sectors that those before it have not asked for.
Movable StepMerger::merge_step(std::vector<Access>& accesses, std::size_t first) {
    std::uint64_t hits = 0;
    table_.clear();
    merged_.clear();
    for (std::size_t i = first; i < accesses.size(); ++i) {
        const Access access = accesses[i];
        if (access.action() == Action::hits) {
            hits += access.hits();
            continue;
        }
        const unsigned fresh = table_.add(access.line(), mixed(access.line()), access.sectors());
        hits += access.count() - sector_count(fresh);
        if (fresh != 0) merged_.emplace_back(access.line(), fresh, Action::read_merged);
    }
    replace(accesses, first, hits);
    return Movable::anywhere;
}

// Each line once, where it is first asked for, with all sectors that the step asks of it.
Movable StepMerger::merge_kept(std::vector<Access>& accesses, std::size_t first, const KnownL1& l1) {
    std::uint64_t hits = 0;
    std::size_t requests = 0;
    table_.clear();
    merged_.clear();
    for (std::size_t i = first; i < accesses.size(); ++i) {
        const Access access = accesses[i];
        if (access.action() == Action::hits) {
            hits += access.hits();
            continue;
        }
        ++requests;
        const std::size_t number = table_.number_of(access.line(), mixed(access.line()));
        if (number == merged_.size()) {
            merged_.push_back(access);
            continue;
        }
        hits += sector_count(access.sectors() & merged_[number].sectors());
        merged_[number].add_sectors(access.sectors());
    }
    if (merged_.size() == requests) return Movable::anywhere;
    // No more lines than ways fit wherever they lie; more must be looked at.
    const bool fit_anywhere = merged_.size() <= l1.ways;
    if (!fit_anywhere && !fit(merged_, l1)) return Movable::nowhere;
    replace(accesses, first, hits);
    return fit_anywhere ? Movable::anywhere : Movable::where_fit;
}

}  // namespace gambrel::sim_detail
