#include "ingest/metric_units.hpp"

#include <algorithm>
#include <array>

namespace gambrel::ingest_detail {

namespace {

// What ncu counts. An unknown noun is reported, not guessed: "Mfoo" might be a million or not.
constexpr std::array<std::string_view, 24> kNouns = {"inst",     "sector",  "warp",    "block", "thread",    "cycle",
                                                     "register", "request", "cluster", "pass",  "SM",        "1",
                                                     "event",    "op",      "flop",    "FLOP",  "wavefront", "hit",
                                                     "sample",   "packet",  "count",   "tag",   "access",    "bit"};

bool is_noun(std::string_view word) {
    const auto known = [](std::string_view w) { return std::find(kNouns.begin(), kNouns.end(), w) != kNouns.end(); };
    return known(word) || (word.ends_with('s') && known(word.substr(0, word.size() - 1)));
}

bool is_byte(std::string_view word) { return word == "byte" || word == "bytes" || word == "B"; }
bool is_hertz(std::string_view word) { return word == "hz" || word == "Hz"; }
bool is_second(std::string_view word) { return word == "second" || word == "s" || word == "sec"; }

// Nanoseconds, not seconds, because whole powers of ten are exact.
std::optional<double> nanoseconds_in(std::string_view word) {
    if (is_second(word)) return 1e9;
    if (word.starts_with("\xC2\xB5") && is_second(word.substr(2))) return 1e3;  // U+00B5, the micro sign
    if (word.size() < 2 || !is_second(word.substr(1))) return std::nullopt;
    switch (word[0]) {
        case 'n':
            return 1.0;
        case 'u':
            return 1e3;
        case 'm':
            return 1e6;
        default:
            return std::nullopt;
    }
}

std::optional<int> thousands_in(char prefix) {
    switch (prefix) {
        case 'K':
        case 'k':
            return 1;
        case 'M':
            return 2;
        case 'G':
            return 3;
        case 'T':
            return 4;
        case 'P':
            return 5;
        default:
            return std::nullopt;
    }
}

double power(double base, int exponent) {
    double result = 1;
    for (int i = 0; i < exponent; ++i) result *= base;
    return result;
}

std::optional<double> counted_factor(std::string_view word, ByteScale scale) {
    if (is_byte(word) || is_hertz(word) || is_noun(word) || word == "%") return 1.0;
    if (word.size() < 2) return std::nullopt;
    const auto thousands = thousands_in(word[0]);
    if (!thousands) return std::nullopt;
    std::string_view noun = word.substr(1);
    if (noun.starts_with('i') && is_byte(noun.substr(1))) return power(1024, *thousands);
    if (is_byte(noun)) return power(scale == ByteScale::binary ? 1024 : 1000, *thousands);
    if (is_hertz(noun) || is_noun(noun)) return power(1000, *thousands);
    return std::nullopt;
}

}  // namespace

std::optional<double> base_unit_factor(std::string_view unit, ByteScale scale) {
    if (unit.empty()) return 1.0;
    const std::size_t slash = unit.find('/');
    const std::string_view above = unit.substr(0, slash);
    const auto time_above = nanoseconds_in(above);
    const auto numerator = time_above ? time_above : counted_factor(above, scale);
    if (slash == std::string_view::npos || !numerator) return numerator;
    const std::string_view below = unit.substr(slash + 1);
    if (const auto time_below = nanoseconds_in(below)) return *numerator * (1e9 / *time_below);
    const auto denominator = counted_factor(below, scale);
    if (!denominator) return std::nullopt;
    return *numerator / *denominator;
}

}  // namespace gambrel::ingest_detail
