// Numbers of lines up to 255, or masks, one for each set of a cache, sixteen at a time: what SSE2 does in one
// instruction, and compilers seldom make of a loop over bytes, which may overlap with anything.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace gambrel::sim_detail {

class SetCounts {
public:
    static constexpr std::size_t kSize = 16;
#if defined(__SSE2__)
    static SetCounts at(const std::uint8_t* from) {
        return SetCounts(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    }
    static SetCounts all(unsigned number) { return SetCounts(_mm_set1_epi8(static_cast<char>(number))); }
    void store(std::uint8_t* to) const { _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes_); }
    // At most 255.
    friend SetCounts operator+(SetCounts a, SetCounts b) { return SetCounts(_mm_adds_epu8(a.bytes_, b.bytes_)); }
    // At least zero.
    friend SetCounts operator-(SetCounts a, SetCounts b) { return SetCounts(_mm_subs_epu8(a.bytes_, b.bytes_)); }
    friend SetCounts min(SetCounts a, SetCounts b) { return SetCounts(_mm_min_epu8(a.bytes_, b.bytes_)); }
    friend SetCounts operator&(SetCounts a, SetCounts b) { return SetCounts(_mm_and_si128(a.bytes_, b.bytes_)); }
    friend SetCounts operator|(SetCounts a, SetCounts b) { return SetCounts(_mm_or_si128(a.bytes_, b.bytes_)); }
    // All bits of the sets where they are equal.
    friend SetCounts equal(SetCounts a, SetCounts b) { return SetCounts(_mm_cmpeq_epi8(a.bytes_, b.bytes_)); }
    [[nodiscard]] bool any() const { return _mm_movemask_epi8(_mm_cmpeq_epi8(bytes_, _mm_setzero_si128())) != 0xFFFF; }
    [[nodiscard]] unsigned sum() const {
        const __m128i halves = _mm_sad_epu8(bytes_, _mm_setzero_si128());
        return static_cast<unsigned>(_mm_cvtsi128_si32(halves) + _mm_extract_epi16(halves, 4));
    }

private:
    explicit SetCounts(__m128i bytes) : bytes_(bytes) {}
    __m128i bytes_;
#else
    static SetCounts at(const std::uint8_t* from) {
        SetCounts made;
        std::memcpy(made.bytes_.data(), from, kSize);
        return made;
    }
    static SetCounts all(unsigned number) {
        SetCounts made;
        made.bytes_.fill(static_cast<std::uint8_t>(number));
        return made;
    }
    void store(std::uint8_t* to) const { std::memcpy(to, bytes_.data(), kSize); }
    // At most 255.
    friend SetCounts operator+(SetCounts a, SetCounts b) {
        return each(a, b, [](unsigned x, unsigned y) { return std::min(x + y, 255U); });
    }
    // At least zero.
    friend SetCounts operator-(SetCounts a, SetCounts b) {
        return each(a, b, [](unsigned x, unsigned y) { return x - std::min(x, y); });
    }
    friend SetCounts min(SetCounts a, SetCounts b) {
        return each(a, b, [](unsigned x, unsigned y) { return std::min(x, y); });
    }
    friend SetCounts operator&(SetCounts a, SetCounts b) {
        return each(a, b, [](unsigned x, unsigned y) { return x & y; });
    }
    friend SetCounts operator|(SetCounts a, SetCounts b) {
        return each(a, b, [](unsigned x, unsigned y) { return x | y; });
    }
    // All bits of the sets where they are equal.
    friend SetCounts equal(SetCounts a, SetCounts b) {
        return each(a, b, [](unsigned x, unsigned y) { return x == y ? 255U : 0; });
    }
    [[nodiscard]] bool any() const {
        return std::any_of(bytes_.begin(), bytes_.end(), [](std::uint8_t byte) { return byte != 0; });
    }
    [[nodiscard]] unsigned sum() const {
        unsigned all = 0;
        for (const std::uint8_t byte : bytes_) all += byte;
        return all;
    }

private:
    SetCounts() = default;
    template <class F>
    static SetCounts each(SetCounts a, SetCounts b, F f) {
        for (std::size_t i = 0; i < kSize; ++i) a.bytes_[i] = static_cast<std::uint8_t>(f(a.bytes_[i], b.bytes_[i]));
        return a;
    }
    std::array<std::uint8_t, kSize> bytes_{};
#endif
};

}  // namespace gambrel::sim_detail
