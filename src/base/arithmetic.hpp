// Arithmetic and conversions of whole numbers that the standard library lacks.
#pragma once

#include <algorithm>
#include <cstdint>

namespace gambrel {

// Parts of b that a falls into, the last perhaps not whole; b below 1 counts as 1.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
    b = std::max<std::int64_t>(1, b);
    return (a + b - 1) / b;
}

// A count as a factor of real numbers; -Wconversion wants the conversion written out.
constexpr double real(std::int64_t n) { return static_cast<double>(n); }

}  // namespace gambrel
