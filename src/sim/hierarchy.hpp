// L1 of every SM, the slices of L2 and the DRAM behind them. Events are given in order of time, a batch at a time; SMs
// work in parallel up to their L1, slices of L2 after that. Invariant: the same counts for any number of threads,
// because an SM and a slice each see their accesses in one order that only the events give.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "sim/check_bits.hpp"
#include "sim/merge_table.hpp"
#include "sim/schedule.hpp"
#include "sim/sector_cache.hpp"
#include "sim/stream.hpp"

namespace gambrel::sim_detail {

struct CacheShape {
    std::uint32_t sms = 1;
    std::uint64_t l1_lines = 0;  // of an SM; 0: none
    unsigned l1_ways = 16;
    std::uint64_t l2_lines = 1024;
    unsigned l2_ways = 16;
    // 2 where each half of L2 keeps copies for the SMs nearest to it (A100 and later data centre chips).
    unsigned partitions = 1;
    std::uint64_t ecc_lines = 0;  // of data that have a line of check bits in the same memory; 0: none
};

// Sectors. Atomics count as writes; what L2 must read from DRAM to do one is in dram_read.
struct Counts {
    std::uint64_t l1_read = 0, l1_write = 0, l1_hit = 0;
    std::uint64_t l2_read = 0, l2_write = 0, l2_hit = 0;  // from SMs; hits of reads
    std::uint64_t fabric = 0;                             // from one partition of L2 to the other
    std::uint64_t dram_read = 0, dram_write = 0;
    // Lines that took an empty way of L1 or L2: the only misses that a longer past could have made hits.
    std::uint64_t l1_filled = 0, l2_filled = 0;
    Counts& operator+=(const Counts& other);
};
using TensorCounts = std::array<Counts, kTensors>;

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
    // Fixed, so that results do not depend on how many threads share the slices.
    static constexpr unsigned kSlices = 16;
    struct Sm {
        explicit Sm(SectorCache cache) : l1(std::move(cache)) {}
        SectorCache l1;
        MergeTable merged;
        bool has_l1 = true;
        unsigned partition = 0;
        std::vector<CtaState> slots;
        std::vector<Access> requests;
        std::array<std::vector<Access>, kSlices> misses;
        std::vector<std::uint32_t> events;  // of this batch, by index
        TensorCounts counts{};
    };
    struct Slice {
        std::vector<SectorCache> partitions;
        CheckBits checks;
        std::vector<const Access*> cursor;  // next miss of each SM
        std::array<TensorCounts, 2> counts{};
    };
    // ends_[event].of[slice]: one past the event's last miss in its SM's list for that slice. One line of the host's
    // cache for each event.
    struct alignas(64) Ends {
        std::array<std::uint32_t, kSlices> of;
    };
    void run_sm(Sm& sm, std::span<const Event> events, Counted counted);
    const Access* look_up(Sm& sm, const Access* at, const Access* end, TensorCounts& counts) const;
    void run_slice(Slice& slice, unsigned index, std::span<const Event> events, Counted counted);
    void access_l2(Slice& slice, unsigned partition, Access access, TensorCounts& counts) const;
    void access_halves(Slice& slice, unsigned partition, Access access, TensorCounts& counts) const;
    // The sectors that came from DRAM, or would have if they had not been overwritten.
    unsigned touch_l2(Slice& slice, unsigned partition, Access access, unsigned sectors, TensorCounts& counts) const;
    void write_dram(Slice& slice, std::uint64_t line, unsigned sectors, TensorCounts& counts) const;
    void add_checks(Slice& slice, std::uint64_t line, bool write, TensorCounts& counts) const;

    const AddressStream& stream_;
    CacheShape shape_;
    unsigned threads_;
    std::vector<Sm> sms_;
    std::vector<Slice> slices_;
    std::vector<Ends> ends_;  // of this batch's events
};

}  // namespace gambrel::sim_detail
