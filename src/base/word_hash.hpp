// Where a small table of words that repeat keeps one of them: a few instructions, for words that come from no
// adversary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace gambrel::base_detail {

// Most words are short. Names of kernels differ somewhere in their middle, so four parts of them are mixed, which
// together are all of most names.
inline std::size_t word_hash(std::string_view word) {
    if (word.empty()) return 0;
    if (word.size() <= 12) return word.size() * 7 + static_cast<unsigned char>(word.back());
    std::uint64_t mixed = word.size();
    const std::size_t last = word.size() - sizeof mixed;
    for (const std::size_t at : {std::size_t{0}, last / 3, last - last / 3, last}) {
        std::uint64_t part = 0;
        std::memcpy(&part, word.data() + at, sizeof part);
        mixed = (mixed ^ part) * 0x9E3779B97F4A7C15u;  // 2^64 over the golden ratio
        mixed ^= mixed >> 32;
    }
    return mixed;
}

}  // namespace gambrel::base_detail
