// The caches of a GPU as numbers, and what they count.
#pragma once

#include <array>
#include <cstdint>

#include "sim/access.hpp"

namespace gambrel::sim_detail {

// What a store to a part of a sector costs at DRAM. masked: nothing, for memory without ECC writes single bytes. Check
// bits are those of a whole sector, so with ECC the rest of it must be known: it is read when the sector leaves L2
// unless other stores have completed it, or read at once (docs/simulator.md, "ECC").
enum class PartialWrites : std::uint8_t { masked, read_when_leaving, read_at_once };

struct CacheShape {
    std::uint32_t sms = 1;
    std::uint64_t l1_lines = 0;  // of an SM; 0: none
    unsigned l1_ways = 16;
    std::uint64_t l2_lines = 1024;
    unsigned l2_ways = 16;
    // 2 where each half of L2 keeps copies for the SMs nearest to it (A100 and later data centre chips).
    unsigned partitions = 1;
    std::uint64_t ecc_lines = 0;  // of data that have a line of check bits in the same memory; 0: none
    PartialWrites partial_writes = PartialWrites::masked;
};

// Sectors. Atomics count as writes; what L2 must read from DRAM to do one, or to complete a sector, is in dram_read.
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

}  // namespace gambrel::sim_detail
