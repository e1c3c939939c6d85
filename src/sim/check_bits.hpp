// The check bits of ECC where they lie in the same memory (GDDR): what a memory controller moves for them beside the
// data. HBM has lanes of its own for them. Invariant: at most a sector for every access to a line of data.
#pragma once

#include "sim/sector_cache.hpp"

namespace gambrel::sim_detail {

class CheckBits {
public:
    // `lines` of data have a line of check bits: 16 where a sector of 32 bytes has two. 0: no ECC, or HBM's.
    explicit CheckBits(std::uint64_t lines = 0) : lines_(lines) {}
    [[nodiscard]] bool none() const { return lines_ == 0; }

    struct Moved {
        unsigned read = 0, written = 0;  // sectors
    };
    // For an access to one line of data in DRAM. A write does not read: memory writes single bytes.
    Moved access(std::uint64_t line, bool write) {
        const std::uint64_t own = (base_address(Tensor::check_bits) >> kLineShift) + line / lines_;
        const unsigned sector = 1U << line % lines_ * kSectorsPerLine / lines_;
        const SectorCache::Outcome outcome = kept_.touch(own, kept_.place_of(mixed(own)), sector, write);
        return {write ? 0 : sector_count(outcome.missing), sector_count(outcome.victim_dirty)};
    }
    // What is still to be written.
    unsigned flush() {
        unsigned written = 0;
        kept_.flush([&](std::uint64_t, unsigned dirty, unsigned) { written += sector_count(dirty); });
        return written;
    }
    void clear() { kept_.clear(); }

private:
    // What a controller keeps is not published. Tesla T4 and A40 with ECC on read 10 to 20 % more sectors from DRAM
    // than L2 misses (docs/simulator.md): far less than whole layers' check bits stay.
    static constexpr std::uint64_t kLines = 8;
    SectorCache kept_{kLines, kLines};
    std::uint64_t lines_;
};

}  // namespace gambrel::sim_detail
