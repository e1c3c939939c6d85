// Arithmetic on whole numbers that the standard library lacks.
#pragma once

#include <algorithm>
#include <cstdint>

namespace gambrel {

// Parts of b that a falls into, the last perhaps not whole; b below 1 counts as 1.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
    b = std::max<std::int64_t>(1, b);
    return (a + b - 1) / b;
}

}  // namespace gambrel
