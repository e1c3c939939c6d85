// Numbers of PTX as doubles and back: bits of every floating format that the kernels use.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ptx {

// Something that a GPU would refuse, or that this model does not know. Ends a launch.
struct Fault : std::runtime_error {
    using std::runtime_error::runtime_error;
};
[[noreturn]] inline void fail(const std::string& what) { throw Fault(what); }

inline std::uint64_t mask_of(int bits) { return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1; }
inline double as_f64(std::uint64_t bits) { return std::bit_cast<double>(bits); }
inline float as_f32(std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }
inline std::uint64_t bits_of(double x) { return std::bit_cast<std::uint64_t>(x); }
inline std::uint64_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }
inline std::int64_t sign_extended(std::uint64_t value, int bits) {
    return static_cast<std::int64_t>(value << (64 - bits)) >> (64 - bits);
}

// x * 2^power, exactly; std::ldexp took a seventh of the time of a whole run.
inline double scaled_by(double x, int power) {
    if (power < -1022 || power > 1023) return std::ldexp(x, power);
    return x * as_f64(static_cast<std::uint64_t>(power + 1023) << 52);
}
inline int exponent_of(double x) {  // of a number that is not 0
    const int field = static_cast<int>(bits_of(x) >> 52 & 2047);
    return field == 0 || field == 2047 ? std::ilogb(x) : field - 1023;
}

// A format of one sign bit, then `exponent` and `mantissa` bits, without infinities.
inline double small_float(std::uint64_t bits, int exponent, int mantissa, int bias) {
    const std::uint64_t field = bits >> mantissa & mask_of(exponent), fraction = bits & mask_of(mantissa);
    const double magnitude = field == 0 ? scaled_by(static_cast<double>(fraction), 1 - bias - mantissa)
                                        : scaled_by(static_cast<double>(fraction + (std::uint64_t{1} << mantissa)),
                                                    static_cast<int>(field) - bias - mantissa);
    return (bits >> (exponent + mantissa) & 1) != 0 ? -magnitude : magnitude;
}
inline double half_value(std::uint64_t bits) {
    if ((bits >> 10 & 31) != 31) return small_float(bits & 0xffff, 5, 10, 15);
    if ((bits & 1023) != 0) return std::nan("");
    return (bits & 0x8000) != 0 ? -HUGE_VAL : HUGE_VAL;
}
inline std::uint64_t half_bits(double x) {
    if (std::isnan(x)) return 0x7fff;
    const std::uint64_t sign = std::signbit(x) ? 0x8000 : 0;
    x = std::abs(x);
    if (x == 0) return sign;
    if (std::isinf(x)) return sign | 0x7c00;
    int exponent = std::max(exponent_of(x), -14);
    double scaled = std::nearbyint(scaled_by(x, 10 - exponent));
    if (scaled >= 2048) scaled /= 2, ++exponent;
    if (exponent > 15) return sign | 0x7c00;
    if (scaled < 1024) return sign | static_cast<std::uint64_t>(scaled);
    return sign | static_cast<std::uint64_t>(exponent + 15) << 10 | (static_cast<std::uint64_t>(scaled) - 1024);
}
inline double bfloat_value(std::uint64_t bits) { return as_f32((bits & 0xffff) << 16); }
inline std::uint64_t bfloat_bits(double x) {  // rounded once, from the exact result
    if (std::isnan(x)) return 0x7fff;
    if (x == 0) return std::signbit(x) ? 0x8000 : 0;
    const int exponent = exponent_of(x);
    const double rounded = scaled_by(std::nearbyint(scaled_by(x, 7 - exponent)), exponent - 7);
    return bits_of(static_cast<float>(rounded)) >> 16;
}

// Types of matrix elements.
enum class Element : std::uint8_t { f64, f32, tf32, s32, f16, bf16, s8, u8, e4m3, e5m2, e3m2, e2m3, e2m1 };

inline int bits_of(Element type) {
    switch (type) {
        case Element::f64:
            return 64;
        case Element::f32:
        case Element::tf32:
        case Element::s32:
            return 32;
        case Element::f16:
        case Element::bf16:
            return 16;
        case Element::e2m1:
            return 4;
        default:
            return 8;
    }
}

inline double value_of(Element type, std::uint64_t bits) {
    const auto six_bits = [&] {
        if ((bits & 0xc0) != 0) fail("a six-bit number has bits above the six set");
    };
    switch (type) {
        case Element::f64:
            return as_f64(bits);
        case Element::f32:
            return as_f32(bits);
        case Element::tf32:
            return as_f32(bits & 0xffffe000U);
        case Element::s32:
            return static_cast<std::int32_t>(bits);
        case Element::f16:
            return half_value(bits);
        case Element::bf16:
            return bfloat_value(bits);
        case Element::s8:
            return static_cast<std::int8_t>(bits);
        case Element::u8:
            return static_cast<std::uint8_t>(bits);
        case Element::e4m3:
            return (bits & 0x7f) == 0x7f ? std::nan("") : small_float(bits, 4, 3, 7);
        case Element::e5m2:
            return small_float(bits, 5, 2, 15);
        case Element::e3m2:
            return six_bits(), small_float(bits, 3, 2, 3);
        case Element::e2m3:
            return six_bits(), small_float(bits, 2, 3, 1);
        case Element::e2m1:
            return small_float(bits, 2, 1, 1);
    }
    return 0;
}

inline std::uint64_t element_bits(Element type, double value) {  // of accumulators
    switch (type) {
        case Element::f64:
            return bits_of(value);
        case Element::f32:
            return bits_of(static_cast<float>(value));
        case Element::s32:
            return static_cast<std::uint32_t>(static_cast<std::int64_t>(value));
        case Element::f16:
            return half_bits(value);
        default:
            fail("not a type of accumulators");
    }
}

}  // namespace ptx
