// One of the slices of L2 that addresses are spread over, with the DRAM behind it: write-back, allocated on write
// without a fill (of sectors that are written in part see PartialWrites). Where L2 has two partitions, the slice is one
// of each, and each keeps copies for its half of the SMs. Invariant: counts depend only on the order of the accesses
// that it is given.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "sim/check_bits.hpp"
#include "sim/counts.hpp"
#include "sim/line_groups.hpp"
#include "sim/round_order.hpp"
#include "sim/sector_cache.hpp"

namespace gambrel::sim_detail {

// These sectors of all lines of a group.
struct GroupRead {
    std::uint32_t group;
    std::uint8_t sectors, count;  // count: of the sectors of a line
    std::uint8_t account;         // Access::account()
    [[nodiscard]] unsigned tensor() const { return account % 8; }
    [[nodiscard]] unsigned partition() const { return account / 8 % 2; }
    [[nodiscard]] unsigned counted() const { return account / 16; }
};

class L2Slice {
public:
    // The slice of a line. Lines that share check bits share the memory channel that has them.
    static unsigned slice_of(std::uint64_t line, std::uint64_t hash, std::uint64_t ecc_lines) {
        return static_cast<unsigned>((ecc_lines > 0 ? mixed(line / ecc_lines) : hash) % kSlices);
    }

    explicit L2Slice(const CacheShape& shape);
    // A line of a group: what its slice is asked for.
    struct Member {
        Access access;
        unsigned slice = 0;
    };
    // The lines of each slice go to it. Returns all lines of all groups, in their order.
    static std::vector<Member> share_groups(const LineGroups& groups, std::uint64_t ecc_lines,
                                            std::span<L2Slice> slices);

    // One after the other.
    void access(std::span<const Access> accesses);
    void access_group(const GroupRead& read) {
        SectorCache& cache = partitions_[read.partition()];
        for (std::size_t part = read.group * halves_, end = part + halves_; part < end; ++part) {
            const std::uint32_t lines = parts_[part].count;
            if (cache.hit_group(part, read.sectors, lines))
                reads_[read.account].asked += std::uint64_t{lines} * read.count;
            else if (lines > 0)
                access_part(part, read);
        }
    }
    void flush(bool counted, bool in_order);
    void clear();
    void clear_counts() {
        counts_ = {};
        reads_ = {};
    }
    void wind_clock();
    [[nodiscard]] TensorCounts counts(bool counted) const;

private:
    struct Part {
        std::uint32_t first = 0, count = 0;  // of lines_
    };
    void access_part(std::size_t part, const GroupRead& read);
    // What this partition lacks of a part of a group comes from DRAM, and no more is done about it.
    [[nodiscard]] bool only_counts(std::size_t part, unsigned partition) const {
        return checks_.none() && (halves_ == 1 || part % halves_ == partition);
    }
    void access_member(Access access, TensorCounts& counts);
    void touch_part(std::size_t part, const GroupRead& read, TensorCounts& counts);
    // The partitions have as many sets each, so that a line has the same place in both.
    using Place = SectorCache::Place;
    void repeat(Access access, unsigned home, TensorCounts& counts);
    void access_l2(unsigned partition, Access access, Place place, TensorCounts& counts);
    void access_halves(Access access, Place place, unsigned home, TensorCounts& counts);
    // A store or an atomic, at the home of its line.
    void store(SectorCache& cache, Access access, Place place, TensorCounts& counts);
    SectorCache::Outcome store_part(SectorCache& cache, Access access, Place place);
    // What an access and what it drove out come to at DRAM. fills: it reads what is missing.
    void refill(std::uint64_t line, const SectorCache::Outcome& outcome, bool fills, TensorCounts& counts);
    void evict(const SectorCache::Outcome& outcome, TensorCounts& counts);
    // A read of a line that is at home in the other partition, after a look at the copies of this one.
    void read_copy(unsigned home, Access access, Place place, const SectorCache::Outcome& near, TensorCounts& counts);
    // part: of the sectors, those that must be read first.
    void write_dram(std::uint64_t line, unsigned sectors, unsigned part, TensorCounts& counts);
    void add_checks(std::uint64_t line, bool write, TensorCounts& counts);
    static unsigned home_of(std::uint64_t hash) { return static_cast<unsigned>(hash >> 31U & 1U); }

    std::vector<SectorCache> partitions_;
    std::size_t halves_;  // that partitions_ has: a vector divides to know its size
    CheckBits checks_;
    PartialWrites partial_writes_;
    // Of dirty lines with sectors that were written in part: which pairs of bytes of these were. What it says of a
    // sector that has been read since does not matter.
    std::unordered_map<std::uint64_t, std::uint64_t> written_pairs_;
    std::array<TensorCounts, 2> counts_{};
    // Sectors that are not in counts_: those read at the home of their line, and those of them that DRAM was asked for.
    struct Reads {
        std::uint64_t asked = 0, missed = 0;
    };
    std::array<Reads, Access::kAccounts> reads_{};  // by Access::account()
    std::vector<Part> parts_;                       // of group g those at home in partition h: at g x partitions + h
    std::vector<HashedLine> lines_;
    std::vector<SectorCache::GroupLine> group_lines_;  // the same as the caches look for them
};

}  // namespace gambrel::sim_detail
