#include <gambrel/units.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace gambrel {
namespace {

struct Prefix {
    std::string_view text;
    double factor;
};
// Largest first, so that to_text takes the largest that fits.
constexpr std::array<Prefix, 10> kDecimal{{{"P", 1e15},
                                           {"T", 1e12},
                                           {"G", 1e9},
                                           {"M", 1e6},
                                           {"k", 1e3},
                                           {"", 1},
                                           {"m", 1e-3},
                                           {"u", 1e-6},
                                           {"n", 1e-9},
                                           {"p", 1e-12}}};
constexpr std::array<Prefix, 4> kBinary{
    {{"Ti", 1099511627776.0}, {"Gi", 1073741824.0}, {"Mi", 1048576.0}, {"Ki", 1024.0}}};

template <class Q>
struct Unit;  // text: what follows the prefix; small: prefixes below one are meaningful; example: for messages
template <>
struct Unit<Bytes> {
    static constexpr std::string_view text = "B", example = "16 GB";
    static constexpr bool small = false;
};
template <>
struct Unit<Flops> {
    static constexpr std::string_view text = "FLOP", example = "1.5 GFLOP";
    static constexpr bool small = false;
};
template <>
struct Unit<Seconds> {
    static constexpr std::string_view text = "s", example = "4.2 us";
    static constexpr bool small = true;
};
template <>
struct Unit<Cycles> {
    static constexpr std::string_view text = "cycle", example = "28 cycle";
    static constexpr bool small = false;
};
template <>
struct Unit<Bandwidth> {
    static constexpr std::string_view text = "B/s", example = "3.35 TB/s";
    static constexpr bool small = false;
};
template <>
struct Unit<FlopRate> {
    static constexpr std::string_view text = "FLOP/s", example = "15.7 TFLOP/s";
    static constexpr bool small = false;
};
template <>
struct Unit<Intensity> {
    static constexpr std::string_view text = "FLOP/B", example = "0.25 FLOP/B";
    static constexpr bool small = false;
};
template <>
struct Unit<Frequency> {
    static constexpr std::string_view text = "Hz", example = "1530 MHz";
    static constexpr bool small = false;
};
template <>
struct Unit<BytesPerCycle> {
    static constexpr std::string_view text = "B/cycle", example = "128 B/cycle";
    static constexpr bool small = false;
};
template <>
struct Unit<FlopPerCycle> {
    static constexpr std::string_view text = "FLOP/cycle", example = "1024 FLOP/cycle";
    static constexpr bool small = false;
};

std::optional<double> prefix_factor(std::string_view prefix, bool small, bool binary) {
    for (const auto& p : kDecimal)
        if (p.text == prefix && (small || p.factor >= 1)) return p.factor;
    if (binary)
        for (const auto& p : kBinary)
            if (p.text == prefix) return p.factor;
    return std::nullopt;
}

std::string_view trimmed(std::string_view s) {
    while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
    while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
    return s;
}

// "%.4g" without exponents for the range that prefixes leave (0.001 to 999999).
std::string significant(double value, int digits) {
    if (value == 0) return "0";
    const int magnitude = static_cast<int>(std::floor(std::log10(std::fabs(value)))) + 1;
    std::string text = fmt::format("{:.{}f}", value, std::max(0, digits - magnitude));
    if (text.find('.') != std::string::npos) {
        text.erase(text.find_last_not_of('0') + 1);
        if (text.back() == '.') text.pop_back();
    }
    return text;
}

// Where the number ends; null if there is none.
const char* number_at_start(std::string_view s, double& number) {
#if defined(__wasi__)  // its libc++ has no from_chars for floating point; machine files there are the build's own
    const std::string ended(s);
    char* end = nullptr;
    number = std::strtod(ended.c_str(), &end);
    return end == ended.c_str() ? nullptr : s.data() + (end - ended.c_str());
#else
    const auto [end, status] = std::from_chars(s.data(), s.data() + s.size(), number);
    return status != std::errc{} || end == s.data() ? nullptr : end;
#endif
}

}  // namespace

template <class Q>
tl::expected<Q, std::string> parse_quantity(std::string_view text) {
    using U = Unit<Q>;
    const auto fail = [&](std::string_view why) {
        return tl::unexpected(fmt::format("\"{}\" {}; write a value such as \"{}\"", text, why, U::example));
    };
    const std::string_view s = trimmed(text);
    double number = 0;
    const char* end = number_at_start(s, number);
    if (!end) return fail("does not start with a number");
    if (!std::isfinite(number)) return fail("is not a finite number");
    const std::string_view unit = trimmed(s.substr(static_cast<std::size_t>(end - s.data())));
    if (unit.empty()) return fail("has no unit");
    if (!unit.ends_with(U::text)) return fail("has another unit than expected");
    const auto factor = prefix_factor(unit.substr(0, unit.size() - U::text.size()), U::small, std::is_same_v<Q, Bytes>);
    if (!factor) return fail("has an unknown prefix or unit");
    if (!std::isfinite(number * *factor)) return fail("is too large");
    return Q{number * *factor};
}

template <class Q>
std::string to_text(Q quantity, int digits) {
    using U = Unit<Q>;
    const double v = quantity.value();
    if (!std::isfinite(v)) return fmt::format("{} {}", v, U::text);
    // Rates per cycle and intensities read better plain: "1024 FLOP/cycle", "0.25 FLOP/B".
    constexpr bool plain = std::is_same_v<Q, BytesPerCycle> || std::is_same_v<Q, FlopPerCycle> ||
                           std::is_same_v<Q, Intensity> || std::is_same_v<Q, Cycles>;
    const Prefix* chosen = &kDecimal[5];
    if (!plain && v != 0) {
        for (const auto& p : kDecimal) {
            if (!U::small && p.factor < 1) break;
            chosen = &p;
            // 999.96 rounds to 1000 at four digits: judged after rounding, so that it becomes the next prefix's 1.
            const double half_unit = 1 - 0.5 * std::pow(10.0, -digits);
            if (std::fabs(v) >= p.factor * half_unit) break;
        }
    }
    return fmt::format("{} {}{}", significant(v / chosen->factor, digits), chosen->text, U::text);
}

template <class Q>
std::string exact_text(Q quantity) {
    using U = Unit<Q>;
    const double v = quantity.value();
    // The shortest spelling over all prefixes that parses back to the same double; "900 GB/s" before "0.9 TB/s".
    std::string best = fmt::format("{} {}", v, U::text);
    bool below_one = false;
    for (const auto& p : kDecimal) {
        if (p.factor < 1 && !U::small) continue;
        std::string text = fmt::format("{} {}{}", v / p.factor, p.text, U::text);
        const auto back = parse_quantity<Q>(text);
        if (!back || back->value() != v) continue;
        if (text.size() > best.size() || (text.size() == best.size() && !below_one)) continue;
        best = std::move(text);
        below_one = std::fabs(v) < p.factor;
    }
    return best;
}

std::string binary_text(Bytes capacity) {
    const double v = capacity.value();
    // 1e9 is a whole number of quarter KiB too; a size that needs that many digits was never meant in binary.
    for (const auto& p : kBinary)
        if (v >= p.factor && v < p.factor * 10240 && std::fmod(v * 4, p.factor) == 0)
            return fmt::format("{} {}B", v / p.factor, p.text);
    return to_text(capacity);
}

#define GAMBREL_INSTANTIATE(Q)                                                 \
    template tl::expected<Q, std::string> parse_quantity<Q>(std::string_view); \
    template std::string to_text<Q>(Q, int);                                   \
    template std::string exact_text<Q>(Q);
GAMBREL_INSTANTIATE(Bytes)
GAMBREL_INSTANTIATE(Flops)
GAMBREL_INSTANTIATE(Seconds)
GAMBREL_INSTANTIATE(Cycles)
GAMBREL_INSTANTIATE(Bandwidth)
GAMBREL_INSTANTIATE(FlopRate)
GAMBREL_INSTANTIATE(Intensity)
GAMBREL_INSTANTIATE(Frequency)
GAMBREL_INSTANTIATE(BytesPerCycle)
GAMBREL_INSTANTIATE(FlopPerCycle)
#undef GAMBREL_INSTANTIATE

}  // namespace gambrel
