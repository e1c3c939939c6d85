// Quantities as types: bytes, FLOP, seconds and cycles, and what their products and quotients are.
// Invariant: a Quantity holds base units (1 B, 1 FLOP, 1 s, 1 cycle); prefixes live only in text.
// Seconds and cycles meet only through a Frequency. It knows no GPU.
#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace gambrel {

template <int Byte, int Flop, int Second, int Cycle>
class Quantity {
public:
    constexpr Quantity() = default;
    // Explicit: a bare double has no unit, so the caller must say which quantity it is meant to be.
    constexpr explicit Quantity(double base_units) : value_(base_units) {}

    [[nodiscard]] constexpr double value() const { return value_; }
    // Written out, because compilers make three comparisons and branches of a partial ordering.
    friend constexpr bool operator==(Quantity a, Quantity b) { return a.value_ == b.value_; }
    friend constexpr bool operator<(Quantity a, Quantity b) { return a.value_ < b.value_; }
    friend constexpr bool operator>(Quantity a, Quantity b) { return a.value_ > b.value_; }
    friend constexpr bool operator<=(Quantity a, Quantity b) { return a.value_ <= b.value_; }
    friend constexpr bool operator>=(Quantity a, Quantity b) { return a.value_ >= b.value_; }

    constexpr Quantity& operator+=(Quantity b) { return value_ += b.value_, *this; }
    constexpr Quantity& operator-=(Quantity b) { return value_ -= b.value_, *this; }
    constexpr Quantity& operator*=(double factor) { return value_ *= factor, *this; }
    friend constexpr Quantity operator+(Quantity a, Quantity b) { return a += b; }
    friend constexpr Quantity operator-(Quantity a, Quantity b) { return a -= b; }
    friend constexpr Quantity operator*(Quantity a, double factor) { return a *= factor; }
    friend constexpr Quantity operator*(double factor, Quantity a) { return a *= factor; }
    friend constexpr Quantity operator/(Quantity a, double divisor) { return Quantity{a.value_ / divisor}; }

private:
    double value_ = 0;
};

namespace detail {
template <int B, int F, int S, int C>
struct Simplified {
    using type = Quantity<B, F, S, C>;
    static constexpr type make(double v) { return type{v}; }
};
template <>
struct Simplified<0, 0, 0, 0> {
    using type = double;
    static constexpr type make(double v) { return v; }
};
}  // namespace detail

template <int B1, int F1, int S1, int C1, int B2, int F2, int S2, int C2>
constexpr auto operator*(Quantity<B1, F1, S1, C1> a, Quantity<B2, F2, S2, C2> b) {
    return detail::Simplified<B1 + B2, F1 + F2, S1 + S2, C1 + C2>::make(a.value() * b.value());
}
template <int B1, int F1, int S1, int C1, int B2, int F2, int S2, int C2>
constexpr auto operator/(Quantity<B1, F1, S1, C1> a, Quantity<B2, F2, S2, C2> b) {
    return detail::Simplified<B1 - B2, F1 - F2, S1 - S2, C1 - C2>::make(a.value() / b.value());
}

using Bytes = Quantity<1, 0, 0, 0>;
using Flops = Quantity<0, 1, 0, 0>;
using Seconds = Quantity<0, 0, 1, 0>;
using Cycles = Quantity<0, 0, 0, 1>;
using Bandwidth = Quantity<1, 0, -1, 0>;
using FlopRate = Quantity<0, 1, -1, 0>;
using Intensity = Quantity<-1, 1, 0, 0>;
using Frequency = Quantity<0, 0, -1, 1>;
using BytesPerCycle = Quantity<1, 0, 0, -1>;
using FlopPerCycle = Quantity<0, 1, 0, -1>;

// "900 GB/s" to a Bandwidth and so on. Decimal prefixes k M G T P (1e3 steps); Ki Mi Gi Ti are accepted for bytes.
// A number without a unit, or with the unit of another quantity, is an error that says what was expected.
template <class Q>
tl::expected<Q, std::string> parse_quantity(std::string_view text);

// The shortest text with a decimal prefix and at most `digits` significant digits: "897 GB/s", "15.7 TFLOP/s".
// Capacities that are whole KiB, MiB or GiB are better written with binary_text.
template <class Q>
std::string to_text(Q quantity, int digits = 4);
std::string binary_text(Bytes capacity);

// Exact inverse of parse_quantity for data files: as few digits as read back to the same double.
template <class Q>
std::string exact_text(Q quantity);

}  // namespace gambrel
