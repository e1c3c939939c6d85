// Numbers that read back as they were.
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

#include <fmt/compile.h>
#include <fmt/format.h>

#include "report/numbers.hpp"

namespace gambrel::report_detail {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr auto kPowersOfTen = [] {
    std::array<std::uint64_t, 18> powers{1};
    for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = 10 * powers[i - 1];
    return powers;
}();
constexpr std::uint64_t kEightDigits = kPowersOfTen[8];

// Of a number below 10^8, a byte each, the first one lowest: halves of four digits, of two, of one, all at once.
std::uint64_t digits_of(std::uint64_t value) {
    std::uint64_t parts = value / 10'000 | value % 10'000 << 32;
    std::uint64_t first = (parts * 10'486 >> 20) & 0x0000'007F'0000'007F;  // parts / 100
    parts = first | (parts - 100 * first) << 16;
    first = (parts * 103 >> 10) & 0x000F'000F'000F'000F;  // parts / 10
    return first | (parts - 10 * first) << 8;
}

void put_bytes(char* to, std::uint64_t bytes) {
    if constexpr (std::endian::native == std::endian::little) {
        std::memcpy(to, &bytes, sizeof bytes);
        return;
    }
    for (int i = 0; i < 8; ++i) to[i] = static_cast<char>(bytes >> 8 * i);
}

constexpr std::uint64_t kZeros = 0x3030'3030'3030'3030;  // "00000000"

char* put_eight(char* to, std::uint64_t value) {
    put_bytes(to, digits_of(value) | kZeros);
    return to + 8;
}

// Of a number below 10^16, into 16 bytes, whatever its length.
char* put_whole(char* to, std::uint64_t value) {
    if (value >= kEightDigits) return put_eight(put_whole(to, value / kEightDigits), value % kEightDigits);
    const std::uint64_t digits = digits_of(value);
    const int leading = std::countr_zero(digits | std::uint64_t{1} << 56) / 8 * 8;
    put_bytes(to, (digits | kZeros) >> leading);
    return to + 8 - leading / 8;
}

// The decimals of a number from 1 to 10^15 that is not whole, into 16 bytes: the fewest that read back to it, and of
// those the nearest. 17 digits before and behind the point are always enough, so that `most` decimals are at most 16
// and their product with the bits behind the point is exact in 128 bits.
// Not inlined, so that whole numbers do not pay for its registers.
[[gnu::noinline]] char* put_decimals(char* to, double value, int most) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const int shift = 1075 - static_cast<int>(bits >> 52);  // bits behind the point, 3 to 52
    const std::uint64_t one = std::uint64_t{1} << shift, part = bits & (one - 1);
    std::uint64_t decimals = 0;
    // Whether so many read back: they are off by no more than half a bit, which is where the next double is rounded to.
    const auto read_back = [&](int count) {
        const std::uint64_t scale = kPowersOfTen[static_cast<std::size_t>(count)];
        const Wide scaled = Wide{part} * scale;
        const std::uint64_t below = static_cast<std::uint64_t>(scaled) & (one - 1);
        const auto floor = static_cast<std::uint64_t>(scaled >> shift);
        const bool up = 2 * below > one || (2 * below == one && floor % 2 == 1);
        if (2 * (up ? one - below : below) > scale - bits % 2) return false;
        decimals = floor + (up ? 1 : 0);
        return true;
    };
    // A half has one decimal, a quarter two: as many as there are bits in use.
    int count = std::min(most, shift - std::countr_zero(part));
    read_back(count);
    while (count > 1 && read_back(count - 1)) --count;
    decimals *= kPowersOfTen[static_cast<std::size_t>(16 - count)];
    put_eight(put_eight(to, decimals / kEightDigits), decimals % kEightDigits);
    return to + count;
}

}  // namespace

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
    // Beyond 1e15 numbers get exponents.
    if (value >= 0 && value < 1e15 && !std::signbit(value)) {
        const auto whole = static_cast<std::int64_t>(value);
        const bool is_whole = static_cast<double>(whole) == value;
        // Decimals without an exponent are the shortest form of a fraction in this range, so fmt writes the same.
        if (is_whole || whole > 0) {
            char* end = put_whole(to, static_cast<std::uint64_t>(whole));
            if (is_whole) return end;
            const int most = 17 - static_cast<int>(end - to);
            *end++ = '.';
            return put_decimals(end, value, most);
        }
    }
    if (!std::isfinite(value)) return to;
    return fmt::format_to(to, FMT_COMPILE("{}"), value);  // "-1.2345678901234567e-308" has 24
}

}  // namespace gambrel::report_detail
