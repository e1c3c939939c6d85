// Numbers that read back as they were.
#include <array>
#include <cmath>

#include <fmt/compile.h>
#include <fmt/format.h>

#include "report/numbers.hpp"

namespace gambrel::report_detail {

std::string exact(double value) {
    std::string text;
    add_exact(text, value);
    return text;
}

void add_exact(std::string& text, double value) {
    std::array<char, kLongestExact> digits;
    text.append(digits.data(), put_exact(digits.data(), value));
}

char* put_exact(char* to, double value) {
    // Bytes and FLOP are whole numbers, which need no search for the shortest decimals; beyond 1e15 they get exponents.
    if (value >= 0 && value < 1e15 && !std::signbit(value)) {
        const auto whole = static_cast<std::int64_t>(value);
        if (static_cast<double>(whole) == value) return fmt::format_to(to, FMT_COMPILE("{}"), whole);
    }
    if (!std::isfinite(value)) return to;
    return fmt::format_to(to, FMT_COMPILE("{}"), value);  // "-1.2345678901234567e-308" has 24
}

}  // namespace gambrel::report_detail
