// In which order the ways of a set were used: their numbers as the nibbles of a word, the one used last in the lowest.
// Invariant: each number is in one nibble.
#pragma once

#include <cstdint>

namespace gambrel::sim_detail {

// The nibbles of the ways that were used after `way`, as a mask.
constexpr std::uint64_t used_after(std::uint64_t order, unsigned way) {
    constexpr std::uint64_t kOnes = 0x1111111111111111ULL;
    const std::uint64_t differing = order ^ way * kOnes;
    // Of the nibbles that this finds to be zero the lowest one is.
    const std::uint64_t zero = (differing - kOnes) & ~differing & kOnes << 3U;
    return (zero & (~zero + 1)) / 8 - 1;
}

// `way`, the last one of those that `used` masks, becomes older than `newer` others and no more.
constexpr std::uint64_t with_last_at(std::uint64_t order, std::uint64_t used, unsigned newer, unsigned way) {
    const std::uint64_t before = ~(~std::uint64_t{0} << 4U * newer), after = used & ~(before << 4U | 0xFU);
    return (order & (before | ~used)) | (order << 4U & after) | (before + 1) * way;
}

// `way` is used.
constexpr std::uint64_t with_first(std::uint64_t order, unsigned way) {
    const std::uint64_t after = used_after(order, way);
    return (order & ~(after << 4U | 0xFU)) | (order & after) << 4U | way;
}

}  // namespace gambrel::sim_detail
