// Which slice of L2 has which lines of groups.
#include "sim/l2_slice.hpp"

namespace gambrel::sim_detail {

std::vector<L2Slice::Member> L2Slice::share_groups(const LineGroups& groups, std::uint64_t ecc_lines,
                                                   std::span<L2Slice> slices) {
    static_assert(LineGroups::kMostLines <= std::size_t{1} << Access::kMemberBits);
    static_assert(2 * LineGroups::kMost <= std::size_t{1} << (kTensorShift - kLineShift - Access::kMemberBits),
                  "a request has room for the parts of both partitions");
    std::vector<Member> members(groups.lines().size());
    for (std::size_t group = 0; group < groups.size(); ++group) {
        const std::span<const HashedLine> lines = groups.lines(group);
        for (std::size_t home = 0; home < slices.front().halves_; ++home) {
            for (L2Slice& slice : slices) slice.parts_.push_back({static_cast<std::uint32_t>(slice.lines_.size()), 0});
            for (std::size_t i = 0; i < lines.size(); ++i) {
                const unsigned index = slice_of(lines[i].line, lines[i].hash, ecc_lines);
                L2Slice& slice = slices[index];
                if (slice.halves_ > 1 && home_of(lines[i].hash) != home) continue;
                members[groups.first(group) + i] = {
                    Access::member(tensor_of(lines[i].line), slice.parts_.size() - 1, slice.lines_.size()), index};
                slice.lines_.push_back(lines[i]);
                slice.group_lines_.push_back(slice.partitions_.front().group_line(lines[i].line, lines[i].hash));
                ++slice.parts_.back().count;
            }
        }
    }
    for (L2Slice& slice : slices) {
        std::vector<std::uint32_t> first;
        for (const Part& part : slice.parts_) first.push_back(part.first);
        for (SectorCache& cache : slice.partitions_) cache.set_groups(first, slice.lines_.size());
    }
    return members;
}

}  // namespace gambrel::sim_detail
