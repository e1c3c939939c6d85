// Makes the requests of one step for one operand fewer without changing what they come to: what L1 finds because an
// earlier request of the step brought it in stands as a number of hits. It knows no tile and no cache beyond KnownL1.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/access.hpp"
#include "sim/merge_table.hpp"
#include "sim/step_pattern.hpp"

namespace gambrel::sim_detail {

// The L1 that requests will meet, by what they may rely on: a line stays in it until as many others of its set have
// been asked for as it has ways. No sets: nothing is known.
struct KnownL1 {
    std::uint64_t sets = 0;
    unsigned ways = 0;
};

// No line that is asked for leaves L1 before the last of them has been.
bool fit(std::span<const Access> accesses, const KnownL1& l1);

class StepMerger {
public:
    // apart: the tensor of these requests is one that no other request of the step is for.
    struct Rules {
        bool apart = false;
        KnownL1 l1 = {};
    };
    // Of the requests from `first` on, all of one action and one tensor. Returns where the same would have become of
    // them if all had been for lines that lie elsewhere, in the same distances.
    Movable merge(std::vector<Access>& accesses, std::size_t first, const Rules& rules);

private:
    Movable merge_step(std::vector<Access>& accesses, std::size_t first);
    Movable merge_kept(std::vector<Access>& accesses, std::size_t first, const KnownL1& l1);
    void replace(std::vector<Access>& accesses, std::size_t first, std::uint64_t hits) const;

    MergeTable table_;
    std::vector<Access> merged_;
};

}  // namespace gambrel::sim_detail
