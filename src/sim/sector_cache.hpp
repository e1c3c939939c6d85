// A sectored, set-associative cache with exact LRU: tags of lines, and which of their sectors are valid and dirty. Each
// set is kept in order of use, so the victim is always the last entry. It counts nothing: callers know whose access it
// was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/access.hpp"

namespace gambrel::sim_detail {

class SectorCache {
public:
    // At least one set of `ways` lines; capacities that are no multiple are rounded down. `ways` is cut to the lines.
    SectorCache(std::uint64_t lines, unsigned ways);

    struct Outcome {
        unsigned missing = 0;           // sectors that were not there before
        std::uint64_t victim_line = 0;  // meaningful if victim_dirty
        unsigned victim_dirty = 0;
    };
    // `hash` must be mixed(line): callers have it already.
    Outcome touch(std::uint64_t line, std::uint64_t hash, unsigned sectors, bool dirty);
    [[nodiscard]] unsigned valid(std::uint64_t line, std::uint64_t hash) const;  // without counting as a use
    void invalidate(std::uint64_t line, std::uint64_t hash);
    void clear();
    [[nodiscard]] std::uint64_t lines() const { return entries_.size(); }

    // f(line, dirty sectors) of every dirty line; they are clean afterwards.
    template <class F>
    void flush(F f) {
        for (std::uint64_t& entry : entries_) {
            if (entry != kEmpty && (entry >> 4U & kAllSectors) != 0) {
                f(entry >> 8U, static_cast<unsigned>(entry >> 4U & kAllSectors));
                entry &= ~std::uint64_t{0xF0};
            }
        }
    }

private:
    // line << 8 | dirty << 4 | valid
    static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
    [[nodiscard]] std::size_t set_of(std::uint64_t hash) const {
        // Multiply and shift instead of %: sets are no power of two on most GPUs.
        return static_cast<std::size_t>((hash >> 32U) * sets_ >> 32U) * ways_;
    }

    // How many lines of the cache share these bits of the hash. Most misses find 0 and need not search their set.
    [[nodiscard]] std::uint16_t& filter(std::uint64_t hash) { return filter_[hash >> 4U & filter_mask_]; }

    std::uint64_t sets_;
    unsigned ways_;
    std::vector<std::uint64_t> entries_;
    std::uint64_t filter_mask_;
    std::vector<std::uint16_t> filter_;
};

}  // namespace gambrel::sim_detail
