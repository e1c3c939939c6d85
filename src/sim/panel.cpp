#include "sim/panel.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "sim/sector_cache.hpp"

namespace gambrel::sim_detail {
namespace {

std::optional<Action> of_groups(Action action) {
    if (action == Action::read) return Action::read_group;
    if (action == Action::read_merged) return Action::merged_group;
    return {};
}

}  // namespace

// Puts groups of the lines of which the same sectors are asked in the place of requests from `first` on.
void Panel::group(std::size_t first, LineGroups& groups) {
    if (accesses_.size() - first < LineGroups::kLeast) return;
    const Action action = accesses_[first].action();
    const std::optional<Action> of_group = of_groups(action);
    if (!of_group) return;
    std::array<std::size_t, kAllSectors + 1> alike{};
    for (std::size_t i = first; i < accesses_.size(); ++i) ++alike[accesses_[i].sectors()];
    for (unsigned sectors = 1; sectors <= kAllSectors; ++sectors) {
        if (alike[sectors] < LineGroups::kLeast) continue;
        alike_.clear();
        for (std::size_t i = first; i < accesses_.size() && alike_.size() < SectorCache::kMostGroup; ++i)
            if (accesses_[i].sectors() == sectors && accesses_[i].action() == action)
                alike_.push_back(accesses_[i].line());
        const std::optional<std::size_t> group = groups.find_or_add(alike_);
        if (!group) continue;
        const auto tensor = static_cast<Tensor>(tensor_of(alike_.front()));
        // They are in the same order.
        auto next = alike_.cbegin();
        const auto moved = [&](Access access) {
            const bool in_group = next != alike_.cend() && access.sectors() == sectors && access.line() == *next;
            next += in_group ? 1 : 0;
            return in_group;
        };
        const auto from = accesses_.begin() + static_cast<std::ptrdiff_t>(first);
        accesses_.erase(std::remove_if(from, accesses_.end(), moved), accesses_.end());
        accesses_.push_back(Access::group(tensor, *group, sectors, *of_group));
    }
}

bool Panel::asks_alone(const LineGroups& groups) const {
    if (groups.size() == 0) return false;
    // Most lines are in no group, and it costs less to see this by a bit than in a large table.
    std::vector<bool> maybe(std::size_t{1} << 21U);
    const auto bit = [&](std::uint64_t hash) { return hash % maybe.size(); };
    for (const HashedLine& line : groups.lines()) maybe[bit(line.hash)] = true;
    return std::any_of(accesses_.begin(), accesses_.end(), [&](Access access) {
        return access.action() == Action::read && maybe[bit(mixed(access.line()))] && groups.has(access.line());
    });
}

}  // namespace gambrel::sim_detail
