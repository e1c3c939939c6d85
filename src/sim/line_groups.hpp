// Lines that many CTAs ask for together, each time with the same sectors of all of them: a column of tiles of B, for
// the k-steps that lie in one line. Caches handle such a group at once (sector_cache.hpp). Invariant: no line is in two
// groups, and those of one are of one tensor. It knows no cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/access.hpp"

namespace gambrel::sim_detail {

struct HashedLine {
    std::uint64_t line, hash;  // hash: mixed(line)
};

class LineGroups {
public:
    // Fewer lines are looked up as fast one by one: L2 looks at a group in each of its slices.
    static constexpr std::size_t kLeast = 16;
    static constexpr std::size_t kMost = std::size_t{1} << 14U;       // groups
    static constexpr std::size_t kMostLines = std::size_t{1} << 18U;  // of all groups together, 4 MB

    [[nodiscard]] std::size_t size() const { return ends_.size(); }
    [[nodiscard]] std::span<const HashedLine> lines(std::size_t group) const {
        return {lines_.data() + first(group), ends_[group] - first(group)};
    }
    // Those of all groups, one after the other, and where those of one begin.
    [[nodiscard]] std::span<const HashedLine> lines() const { return lines_; }
    [[nodiscard]] std::size_t first(std::size_t group) const { return group == 0 ? 0 : ends_[group - 1]; }
    // The group that has exactly these lines in this order; it is made if none of them is in a group yet.
    std::optional<std::size_t> find_or_add(std::span<const std::uint64_t> wanted);
    void keep_first(std::size_t groups);  // forgets those that were added later
    [[nodiscard]] bool has(std::uint64_t line) const { return table_[place_of(line, mixed(line))] != 0; }
    // alone: some line of a group is also asked for by itself, so that L1 must look lines up one by one.
    void end_adding(bool alone) {
        alone_ = alone;
        table_.assign(1, 0);
    }
    [[nodiscard]] bool alone() const { return alone_; }

private:
    [[nodiscard]] std::size_t place_of(std::uint64_t line, std::uint64_t hash) const;
    bool add(HashedLine line);
    void shorten(std::size_t lines);
    void grow();

    std::vector<HashedLine> lines_;
    std::vector<std::size_t> ends_;
    // Where lines stand in lines_, and one; 0: free. Found by hash, and behind that place until one is free. Lines are
    // taken out only in the reverse order of that in which they came, so that no line is behind a gap.
    std::vector<std::uint32_t> table_ = std::vector<std::uint32_t>(1);
    bool alone_ = false;
};

}  // namespace gambrel::sim_detail
