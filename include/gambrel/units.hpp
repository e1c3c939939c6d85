// Quantities as types: bytes, FLOP, seconds and cycles, and what their products and quotients are.
// Invariant: a Quantity holds base units (1 B, 1 FLOP, 1 s, 1 cycle); prefixes live only in text.
// Seconds and cycles meet only through a Frequency. It knows no GPU.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include <tl/expected.hpp>

namespace gambrel {

// Number: double, or several of them that are computed at once.
template <int Byte, int Flop, int Second, int Cycle, class Number = double>
class Quantity {
public:
    constexpr Quantity() = default;
    // Explicit: a bare double has no unit, so the caller must say which quantity it is meant to be.
    constexpr explicit Quantity(Number base_units) : value_(base_units) {}
    template <class Other>
    requires(!std::is_same_v<Other, Number> &&
             std::is_convertible_v<Other, Number>) constexpr Quantity(Quantity<Byte, Flop, Second, Cycle, Other> q)
        : value_(q.value()) {}

    [[nodiscard]] constexpr Number value() const { return value_; }
    // Written out, because compilers make three comparisons and branches of a partial ordering.
    friend constexpr bool operator==(Quantity a, Quantity b) { return a.value_ == b.value_; }
    friend constexpr auto operator<(Quantity a, Quantity b) { return a.value_ < b.value_; }
    friend constexpr auto operator>(Quantity a, Quantity b) { return a.value_ > b.value_; }
    friend constexpr auto operator<=(Quantity a, Quantity b) { return a.value_ <= b.value_; }
    friend constexpr auto operator>=(Quantity a, Quantity b) { return a.value_ >= b.value_; }

    constexpr Quantity& operator+=(Quantity b) { return value_ += b.value_, *this; }
    constexpr Quantity& operator-=(Quantity b) { return value_ -= b.value_, *this; }
    constexpr Quantity& operator*=(Number factor) { return value_ *= factor, *this; }
    friend constexpr Quantity operator+(Quantity a, Quantity b) { return a += b; }
    friend constexpr Quantity operator-(Quantity a, Quantity b) { return a -= b; }
    friend constexpr Quantity operator*(Quantity a, Number factor) { return a *= factor; }
    friend constexpr Quantity operator*(Number factor, Quantity a) { return a *= factor; }
    friend constexpr Quantity operator/(Quantity a, Number divisor) { return Quantity{a.value_ / divisor}; }

private:
    Number value_ = 0;
};

namespace detail {
template <int B, int F, int S, int C, class Number>
struct Simplified {
    using type = Quantity<B, F, S, C, Number>;
    static constexpr type make(Number v) { return type{v}; }
};
template <class Number>
struct Simplified<0, 0, 0, 0, Number> {
    using type = Number;
    static constexpr type make(Number v) { return v; }
};
}  // namespace detail

template <int B1, int F1, int S1, int C1, class N1, int B2, int F2, int S2, int C2, class N2>
constexpr auto operator*(Quantity<B1, F1, S1, C1, N1> a, Quantity<B2, F2, S2, C2, N2> b) {
    using Product = decltype(a.value() * b.value());
    return detail::Simplified<B1 + B2, F1 + F2, S1 + S2, C1 + C2, Product>::make(a.value() * b.value());
}
template <int B1, int F1, int S1, int C1, class N1, int B2, int F2, int S2, int C2, class N2>
constexpr auto operator/(Quantity<B1, F1, S1, C1, N1> a, Quantity<B2, F2, S2, C2, N2> b) {
    using Quotient = decltype(a.value() / b.value());
    return detail::Simplified<B1 - B2, F1 - F2, S1 - S2, C1 - C2, Quotient>::make(a.value() / b.value());
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
