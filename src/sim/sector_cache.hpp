// A sectored, set-associative cache with exact LRU: tags of lines, and which of their sectors are valid and dirty.
// Lines stay where they are and a word of nibbles has their order of use, so that a look-up reads one or two lines of
// the host's cache and moves nothing. It counts nothing: callers know whose access it was.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "sim/access.hpp"

namespace gambrel::sim_detail {

class SectorCache {
public:
    static constexpr unsigned kMostWays = 16;
    // At least one set of `ways` lines; capacities that are not a multiple are rounded down. `ways` is cut to the lines
    // and to kMostWays.
    SectorCache(std::uint64_t lines, unsigned ways);

    struct Outcome {
        unsigned missing = 0;           // sectors that were not there before
        std::uint64_t victim_line = 0;  // meaningful if victim_dirty
        unsigned victim_dirty = 0;
        bool filled = false;  // a way that was empty: had the cache seen more of the past, this might have been a hit
    };
    // `hash` must be mixed(line): callers have it already. At least one sector.
    Outcome touch(std::uint64_t line, std::uint64_t hash, unsigned sectors, bool dirty) {
        Set& set = sets_[set_of(hash)];
        const unsigned bits = dirty ? sectors << 4U | sectors : sectors;
        const unsigned way = find(set, line);
        if (way < kMostWays) {
            const unsigned missing = sectors & ~unsigned{set.states[way]};
            set.states[way] = static_cast<std::uint16_t>(set.states[way] | bits);
            if (way != (set.order & 0xFU)) use(set, way);
            return {missing, 0, 0, false};
        }
        return replace(set, line, sectors, bits);
    }
    [[nodiscard]] unsigned valid(std::uint64_t line, std::uint64_t hash) const;  // without counting as a use
    void invalidate(std::uint64_t line, std::uint64_t hash);
    void clear();
    [[nodiscard]] std::uint64_t lines() const { return sets_.size() * ways_; }

    // f(line, dirty sectors) of every dirty line; they are clean afterwards.
    template <class F>
    void flush(F f) {
        for (Set& set : sets_) {
            for (unsigned way = 0; way < ways_; ++way) {
                const unsigned dirty = set.states[way] >> 4U & kAllSectors;
                if (dirty == 0) continue;
                f(line_of(set, way), dirty);
                set.states[way] = static_cast<std::uint16_t>(set.states[way] & 0xFF0FU);
            }
        }
    }

private:
    struct alignas(128) Set {
        std::array<std::uint32_t, kMostWays> tags{};    // the low half of lines
        std::array<std::uint16_t, kMostWays> states{};  // the rest of the line << 8 | dirty << 4 | valid; 0: empty
        std::uint64_t order = 0xFEDCBA9876543210ULL;    // ways, the one used last in the lowest nibble
    };

    [[nodiscard]] std::size_t set_of(std::uint64_t hash) const {
        // Multiply and shift instead of %: the number of sets is not a power of two on most GPUs.
        return static_cast<std::size_t>((hash >> 32U) * sets_.size() >> 32U);
    }
    static std::uint64_t line_of(const Set& set, unsigned way) {
        return std::uint64_t{set.states[way]} >> 8U << 32U | set.tags[way];
    }
    // kMostWays if it is not there.
    static unsigned find(const Set& set, std::uint64_t line) {
        unsigned same = equal_tags(set, static_cast<std::uint32_t>(line));
        for (; same != 0; same &= same - 1) {
            const auto way = static_cast<unsigned>(std::countr_zero(same));
            if (set.states[way] >> 8U == line >> 32U && (set.states[way] & kAllSectors) != 0) return way;
        }
        return kMostWays;
    }
    static unsigned equal_tags(const Set& set, std::uint32_t tag) {
#if defined(__SSE2__)
        // The portable instruction set of x86 has it; four times as fast as what compilers make of the loop below.
        const __m128i wanted = _mm_set1_epi32(static_cast<int>(tag));
        const auto* tags = reinterpret_cast<const __m128i*>(set.tags.data());
        const auto equal = [&](int i) { return _mm_cmpeq_epi32(_mm_load_si128(tags + i), wanted); };
        const __m128i low = _mm_packs_epi32(equal(0), equal(1)), high = _mm_packs_epi32(equal(2), equal(3));
        return static_cast<unsigned>(_mm_movemask_epi8(_mm_packs_epi16(low, high)));
#else
        unsigned same = 0;
        for (unsigned way = 0; way < kMostWays; ++way) same |= (set.tags[way] == tag ? 1U : 0U) << way;
        return same;
#endif
    }
    // Moves a way to the front of the order.
    static void use(Set& set, unsigned way) {
        const std::uint64_t before = below(set.order, way);
        set.order = (set.order & ~(before << 4U | 0xFU)) | (set.order & before) << 4U | way;
    }
    // The nibbles that were used after `way`, as a mask.
    static std::uint64_t below(std::uint64_t order, unsigned way) {
        constexpr std::uint64_t kOnes = 0x1111111111111111ULL;
        const std::uint64_t differing = order ^ way * kOnes;
        // Of the nibbles that this finds to be zero the lowest one is.
        const std::uint64_t zero = (differing - kOnes) & ~differing & kOnes << 3U;
        return (zero & (~zero + 1)) / 8 - 1;
    }
    Outcome replace(Set& set, std::uint64_t line, unsigned sectors, unsigned bits) {
        const auto way = static_cast<unsigned>(set.order >> last_shift_ & 0xFU);
        const Outcome outcome{sectors, line_of(set, way), unsigned{set.states[way]} >> 4U & kAllSectors,
                              set.states[way] == 0};
        set.tags[way] = static_cast<std::uint32_t>(line);
        set.states[way] = static_cast<std::uint16_t>(line >> 32U << 8U | bits);
        // It was the last in order, so the others move up by one.
        set.order = (set.order & ~used_) | (set.order << 4U & used_) | way;
        return outcome;
    }

    unsigned ways_, last_shift_;  // of the nibble of the line that goes next
    std::uint64_t used_;          // the nibbles of ways in use, as a mask
    std::vector<Set> sets_;
};

}  // namespace gambrel::sim_detail
