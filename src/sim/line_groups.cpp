#include "sim/line_groups.hpp"

#include <algorithm>

#include "sim/access.hpp"

namespace gambrel::sim_detail {

std::optional<std::size_t> LineGroups::find_or_add(std::span<const std::uint64_t> wanted) {
    if (wanted.size() < kLeast) return {};
    if (const auto found = group_of_.find(wanted.front()); found != group_of_.end()) {
        const std::span<const HashedLine> known = lines(found->second);
        const auto same = [](const HashedLine& a, std::uint64_t b) { return a.line == b; };
        if (!std::equal(known.begin(), known.end(), wanted.begin(), wanted.end(), same)) return {};
        return found->second;
    }
    if (size() == kMost || lines_.size() + wanted.size() > kMostLines) return {};
    const std::size_t group = size();
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (group_of_.emplace(wanted[i], group).second) continue;
        // One is in another group, or comes twice.
        for (const std::uint64_t line : wanted.first(i)) group_of_.erase(line);
        return {};
    }
    for (const std::uint64_t line : wanted) lines_.push_back({line, mixed(line)});
    ends_.push_back(lines_.size());
    return group;
}

void LineGroups::keep_first(std::size_t groups) {
    if (groups >= size()) return;
    const std::size_t kept = groups == 0 ? 0 : ends_[groups - 1];
    for (std::size_t i = kept; i < lines_.size(); ++i) group_of_.erase(lines_[i].line);
    lines_.resize(kept);
    ends_.resize(groups);
}

}  // namespace gambrel::sim_detail
