// L1 of every SM, the slices of L2 and the DRAM behind them. Events are given in order of time, a batch at a time; SMs
// work in parallel up to their L1, slices of L2 after that. A slice takes the requests of steps that run at the same
// time in turn, one of each CTA. Invariant: the same counts for any number of threads, because an SM and a slice each
// see their accesses in one order that only the events give.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "sim/counts.hpp"
#include "sim/group_sets.hpp"
#include "sim/l1_cache.hpp"
#include "sim/l2_slice.hpp"
#include "sim/merge_table.hpp"
#include "sim/round_order.hpp"
#include "sim/schedule.hpp"
#include "sim/stream.hpp"

namespace gambrel::sim_detail {

class Hierarchy {
public:
    Hierarchy(const AddressStream& stream, CacheShape shape, std::uint32_t ctas_per_sm, unsigned threads);

    // CTAs outside `counted` fill caches but are not counted.
    struct Counted {
        std::int64_t first = 0, end = std::numeric_limits<std::int64_t>::max();
        [[nodiscard]] bool has(std::int64_t cta) const { return cta >= first && cta < end; }
    };
    void run(std::span<const Event> events, Counted counted);
    // Writes all dirty lines to DRAM; they stay in L2, clean. counted: as traffic of the counted CTAs. in_order: by
    // address, as at the end of a kernel; else by set, as L2 evicts lines in the middle of a run.
    void flush(bool counted = true, bool in_order = true);
    void end_kernel();  // L1 does not outlive a kernel
    void clear();       // all caches and counts
    void clear_counts();
    [[nodiscard]] TensorCounts counts() const;
    [[nodiscard]] TensorCounts uncounted() const;  // of L2 and DRAM only

private:
    struct Sm {
        explicit Sm(L1Cache cache) : l1(std::move(cache)) {}
        L1Cache l1;
        bool has_l1 = true;
        unsigned partition = 0;
        std::uint64_t sender = 0;  // of the event that it is at
        std::vector<CtaState> slots;
        // What L2 is asked for: lines, and groups of lines, which every slice has its part of.
        MissList misses;
        std::vector<GroupRead> group_misses;
        std::vector<std::uint32_t> events;  // of this batch, by index
        TensorCounts counts{};
    };
    // What the events of a batch ask of L2, in the lists of their SMs.
    struct Asked {
        std::uint32_t sm = 0;
        std::uint32_t begin = 0, end = 0;                // of its misses
        std::uint32_t places_end = 0;                    // of these
        std::uint32_t groups_begin = 0, groups_end = 0;  // of its groups
    };
    // Steps that CTAs take at the same time, whose requests mix on their way to L2: events of this batch, in each of
    // which another CTA takes a step. Groups come last.
    struct Round {
        std::vector<std::uint32_t> events;
        std::uint32_t places_end = 0;
        RoundOrder lines;
        std::vector<GroupRead> groups;
    };
    void run_sm(Sm& sm, std::span<const Event> events, Counted counted);
    const Access* look_up(Sm& sm, MergeTable& merged, const Access* at, const Access* end, TensorCounts& counts) const;
    void look_up_group(Sm& sm, Access access, Counts& count) const;
    void add_miss(Sm& sm, Access access, std::uint64_t hash) const {
        sm.misses.add(access.sent_by(sm.sender), L2Slice::slice_of(access.line(), hash, shape_.ecc_lines));
    }
    void sort_round(Round& round) const;
    void run_slice(unsigned index);
    void find_rounds(std::span<const Event> events);

    const AddressStream& stream_;
    CacheShape shape_;
    unsigned threads_;
    GroupSets l1_groups_;  // of every L1
    std::vector<Sm> sms_;
    std::vector<L2Slice> slices_;
    std::vector<L2Slice::Member> members_;  // of every line of a group
    std::vector<Asked> asked_;              // of this batch's events
    std::vector<Round> rounds_;
    std::size_t round_count_ = 0;               // that are in use: the others keep their memory
    std::vector<std::uint32_t> steps_of_slot_;  // of every slot of every SM, in the events that are looked at
};

}  // namespace gambrel::sim_detail
