#include "ingest/number_text.hpp"

#include <array>
#include <charconv>
#include <string>

namespace gambrel::ingest_detail {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool starts_with_word(std::string_view text, std::string_view lower_word) {
    if (text.size() < lower_word.size()) return false;
    for (std::size_t i = 0; i < lower_word.size(); ++i) {
        const char c = text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] - 'A' + 'a') : text[i];
        if (c != lower_word[i]) return false;
    }
    return true;
}

// Separators that can only group: blank, apostrophe, and their typographic forms U+00A0, U+2009, U+202F, U+2019.
std::size_t pure_group_mark(std::string_view rest) {
    if (rest[0] == ' ' || rest[0] == '\'') return 1;
    if (rest.starts_with("\xC2\xA0")) return 2;
    if (rest.starts_with("\xE2\x80\xAF") || rest.starts_with("\xE2\x80\x89") || rest.starts_with("\xE2\x80\x99"))
        return 3;
    return 0;
}

// The digits and marks of a number, before it is known which mark means what.
struct Extent {
    std::size_t end = 0;
    int commas = 0, points = 0, pure_groups = 0;
    std::size_t last_comma = 0, last_point = 0;
    std::size_t before_first = 0;  // digits before the first mark
    std::size_t after_last = 0;    // digits after the last mark
    bool ragged = false;           // a group between two marks that is not two (Indian) or three digits long
};

Extent extent_of(std::string_view text, std::size_t begin) {
    Extent e;
    std::size_t run = 0;
    bool first = true;
    std::size_t i = begin;
    while (i < text.size()) {
        if (is_digit(text[i])) {
            ++run, ++i;
            continue;
        }
        const bool comma = text[i] == ',', point = text[i] == '.';
        const std::size_t width = comma || point ? 1 : pure_group_mark(text.substr(i));
        if (width == 0) break;
        // "12.5 %": a blank with no digit behind it ends the number.
        if (!comma && !point && (i + width >= text.size() || !is_digit(text[i + width]))) break;
        if (first)
            e.before_first = run;
        else if (run != 2 && run != 3)
            e.ragged = true;
        first = false;
        run = 0;
        if (comma)
            ++e.commas, e.last_comma = i;
        else if (point)
            ++e.points, e.last_point = i;
        else
            ++e.pure_groups;
        i += width;
    }
    if (first) e.before_first = run;
    e.after_last = run;
    e.end = i;
    return e;
}

struct Roles {
    char decimal = 0;  // 0: none
    bool ok = true, ambiguous = false;
    std::optional<DecimalMark> proves;
};

// One comma or one point alone: a group if three digits follow and one to three, no lone zero, go before.
bool could_group(std::string_view text, std::size_t begin, const Extent& e) {
    return e.after_last == 3 && e.before_first >= 1 && e.before_first <= 3 && text[begin] != '0' && !e.ragged;
}

Roles single_kind(std::string_view text, std::size_t begin, const Extent& e, DecimalMark mark) {
    const bool comma = e.commas > 0;
    const char sign = comma ? ',' : '.';
    const DecimalMark as_decimal = comma ? DecimalMark::comma : DecimalMark::point;
    const DecimalMark as_group = comma ? DecimalMark::point : DecimalMark::comma;
    if (e.commas + e.points > 1) return {0, !e.ragged && e.after_last == 3 && e.pure_groups == 0, false, as_group};
    if (e.pure_groups > 0) return {sign, !e.ragged, false, as_decimal};
    if (!could_group(text, begin, e)) return {sign, true, false, as_decimal};
    return {mark == as_decimal ? sign : char{0}, true, true, std::nullopt};
}

Roles roles_of(std::string_view text, std::size_t begin, const Extent& e, DecimalMark mark) {
    if (e.commas == 0 && e.points == 0) return {0, e.pure_groups == 0 || (!e.ragged && e.after_last == 3), false, {}};
    if (e.commas == 0 || e.points == 0) return single_kind(text, begin, e, mark);
    const bool point_last = e.last_point > e.last_comma;
    const int decimals = point_last ? e.points : e.commas;
    return {point_last ? '.' : ',', decimals == 1 && !e.ragged && e.pure_groups == 0, false,
            point_last ? DecimalMark::point : DecimalMark::comma};
}

std::size_t exponent_end(std::string_view text, std::size_t at) {
    if (at >= text.size() || (text[at] != 'e' && text[at] != 'E')) return at;
    std::size_t i = at + 1;
    if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
    const std::size_t digits = i;
    while (i < text.size() && is_digit(text[i])) ++i;
    return i == digits ? at : i;
}

double exact_value(std::string_view text, std::size_t begin, std::size_t end, std::size_t exponent, char decimal) {
    std::string plain;
    for (std::size_t i = begin; i < end; ++i) {
        if (is_digit(text[i]))
            plain += text[i];
        else if (text[i] == decimal)
            plain += '.';
    }
    plain.append(text, end, exponent - end);
    double value = std::numeric_limits<double>::quiet_NaN();
    const auto [stop, fault] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
    // Out of range is still a number to the profiler; infinity lets the caller refuse it as too large.
    if (fault == std::errc::result_out_of_range) return std::numeric_limits<double>::infinity();
    return value;
}

double value_of(std::string_view text, std::size_t begin, std::size_t end, std::size_t exponent, char decimal) {
    constexpr std::array<double, 16> kPowers = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    std::uint64_t mantissa = 0;
    std::size_t digits = 0, fraction = 0;
    bool after = false;
    for (std::size_t i = begin; i < end; ++i) {
        const char c = text[i];
        if (is_digit(c)) {
            mantissa = mantissa * 10 + static_cast<std::uint64_t>(c - '0');
            ++digits;
            fraction += after;
        } else if (c == decimal) {
            after = true;
        }
    }
    // Up to 15 digits and 10^15 are exact doubles, so one division rounds correctly; anything longer goes the slow way.
    if (digits > 15 || exponent != end) return exact_value(text, begin, end, exponent, decimal);
    return fraction == 0 ? static_cast<double>(mantissa) : static_cast<double>(mantissa) / kPowers[fraction];
}

}  // namespace

NumberText number_from(std::string_view text, DecimalMark mark) {
    using Kind = NumberText::Kind;
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    NumberText result;
    std::size_t begin = 0;
    if (text.starts_with("(!)")) begin = 3;
    while (begin < text.size() && text[begin] == ' ') ++begin;
    if (begin == text.size()) {
        result.kind = begin == 0 || text[0] == ' ' ? Kind::missing : Kind::malformed;
        return result;
    }
    const bool negative = text[begin] == '-';
    if (negative || text[begin] == '+') ++begin;
    const std::string_view rest = text.substr(begin);
    if (rest.empty()) return result;
    if (starts_with_word(rest, "nan") || starts_with_word(rest, "n/a")) {
        result.kind = Kind::not_a_number;
        result.length = begin + 3;
        return result;
    }
    if (starts_with_word(rest, "inf")) {
        result.kind = Kind::number;
        result.value = negative ? -kInfinity : kInfinity;
        result.length = begin + (starts_with_word(rest, "infinity") ? 8 : 3);
        return result;
    }
    if (!is_digit(rest[0]) && !(rest.size() > 1 && (rest[0] == '.' || rest[0] == ',') && is_digit(rest[1])))
        return result;

    const Extent extent = extent_of(text, begin);
    const Roles roles = roles_of(text, begin, extent, mark);
    if (!roles.ok) return result;
    result.length = exponent_end(text, extent.end);
    result.value = value_of(text, begin, extent.end, result.length, roles.decimal);
    if (negative) result.value = -result.value;
    result.kind = Kind::number;
    result.ambiguous = roles.ambiguous;
    result.proves = roles.proves;
    return result;
}

}  // namespace gambrel::ingest_detail
