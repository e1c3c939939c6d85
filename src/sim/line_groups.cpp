#include "sim/line_groups.hpp"

#include <algorithm>

namespace gambrel::sim_detail {

// Of the line, or of the free place where it would be.
std::size_t LineGroups::place_of(std::uint64_t line, std::uint64_t hash) const {
    const std::size_t mask = table_.size() - 1;
    std::size_t at = hash & mask;
    while (table_[at] != 0 && lines_[table_[at] - 1].line != line) at = (at + 1) & mask;
    return at;
}

void LineGroups::grow() {
    table_.assign(std::max<std::size_t>(1024, 4 * table_.size()), 0);
    for (std::size_t i = 0; i < lines_.size(); ++i)
        table_[place_of(lines_[i].line, lines_[i].hash)] = static_cast<std::uint32_t>(i + 1);
}

// False: it is in a group.
bool LineGroups::add(HashedLine line) {
    if (2 * (lines_.size() + 1) > table_.size()) grow();
    std::uint32_t& place = table_[place_of(line.line, line.hash)];
    if (place != 0) return false;
    lines_.push_back(line);
    place = static_cast<std::uint32_t>(lines_.size());
    return true;
}

void LineGroups::shorten(std::size_t lines) {
    for (; lines_.size() > lines; lines_.pop_back()) table_[place_of(lines_.back().line, lines_.back().hash)] = 0;
}

std::optional<std::size_t> LineGroups::find_or_add(std::span<const std::uint64_t> wanted) {
    if (wanted.size() < kLeast) return {};
    const std::uint64_t front = wanted.front();
    if (const std::uint32_t found = table_[place_of(front, mixed(front))]; found != 0) {
        const auto group =
            static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), found - 1) - ends_.begin());
        const std::span<const HashedLine> known = lines(group);
        const auto same = [](const HashedLine& a, std::uint64_t b) { return a.line == b; };
        if (!std::equal(known.begin(), known.end(), wanted.begin(), wanted.end(), same)) return {};
        return group;
    }
    if (size() == kMost || lines_.size() + wanted.size() > kMostLines) return {};
    const std::size_t before = lines_.size();
    for (const std::uint64_t line : wanted) {
        if (add({line, mixed(line)})) continue;
        // One is in another group, or comes twice.
        shorten(before);
        return {};
    }
    ends_.push_back(lines_.size());
    return size() - 1;
}

void LineGroups::keep_first(std::size_t groups) {
    if (groups >= size()) return;
    shorten(groups == 0 ? 0 : ends_[groups - 1]);
    ends_.resize(groups);
}

}  // namespace gambrel::sim_detail
