// What a cache asks of the sixteen ways of a set at once: which are equal to a number, how many are greater. SSE2,
// which the portable instruction set of x86 has, is four times as fast as what compilers make of the loops.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace gambrel::sim_detail {

template <class T>
using Ways = std::array<T, 16>;

#if defined(__SSE2__)
namespace ways_detail {
inline __m128i four(const Ways<std::int32_t>& ways, int i) {
    return _mm_load_si128(reinterpret_cast<const __m128i*>(ways.data()) + i);
}
inline unsigned equal(const Ways<std::int32_t>& ways, __m128i wanted) {
    const auto same = [&](int i) { return _mm_cmpeq_epi32(four(ways, i), wanted); };
    const __m128i low = _mm_packs_epi32(same(0), same(1)), high = _mm_packs_epi32(same(2), same(3));
    return static_cast<unsigned>(_mm_movemask_epi8(_mm_packs_epi16(low, high)));
}
}  // namespace ways_detail
#endif

// As a mask. Ways must lie at a multiple of 16 bytes.
inline unsigned equal_ways(const Ways<std::int32_t>& ways, std::int32_t wanted) {
#if defined(__SSE2__)
    return ways_detail::equal(ways, _mm_set1_epi32(wanted));
#else
    unsigned same = 0;
    for (unsigned way = 0; way < ways.size(); ++way) same |= (ways[way] == wanted ? 1U : 0U) << way;
    return same;
#endif
}

// How many are greater than `number`.
inline unsigned later_ways(const Ways<std::int32_t>& ways, std::int32_t number) {
#if defined(__SSE2__)
    const __m128i all = _mm_set1_epi32(number);
    const auto greater = [&](int i) { return _mm_cmpgt_epi32(ways_detail::four(ways, i), all); };
    // -1 for each that is.
    __m128i sum = _mm_add_epi32(_mm_add_epi32(greater(0), greater(1)), _mm_add_epi32(greater(2), greater(3)));
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, _MM_SHUFFLE(1, 0, 3, 2)));
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, _MM_SHUFFLE(2, 3, 0, 1)));
    return static_cast<unsigned>(-_mm_cvtsi128_si32(sum));
#else
    return static_cast<unsigned>(std::count_if(ways.begin(), ways.end(), [&](std::int32_t x) { return x > number; }));
#endif
}

}  // namespace gambrel::sim_detail
