// Several doubles that are computed at once, one for each of as many designs. Every operation rounds each of them as it
// rounds a double, so a formula that is written for both gives equal results. Plain vectors of the compiler, because a
// vector of Highway's can only be used in code that is compiled for its instruction set, and the quantities that the
// formulas are written in are compiled for none.
#pragma once

#include <cmath>
#include <cstdint>

#include <gambrel/units.hpp>

namespace gambrel::delta_detail {

template <class Number, int kWidth>
struct VectorOf {
    // NOLINTNEXTLINE(modernize-use-using): GCC 12 drops the attribute of an alias whose width is a parameter
    typedef Number Type __attribute__((vector_size(kWidth * sizeof(Number))));
};

template <int kWidth>
class Lanes {
public:
    using Vector = typename VectorOf<double, kWidth>::Type;
    using Mask = decltype(Vector{} < Vector{});

    Lanes() = default;
    // Implicit, so that what all designs share can stand beside what they do not.
    Lanes(double all) : vector_(all - Vector{}) {}
    explicit Lanes(Vector vector) : vector_(vector) {}
    template <class Of>
    static Lanes made(Of&& of) {
        Lanes lanes;
        for (int i = 0; i < kWidth; ++i) lanes.vector_[i] = of(i);
        return lanes;
    }
    [[nodiscard]] Vector vector() const { return vector_; }
    [[nodiscard]] double operator[](int lane) const { return vector_[lane]; }

    friend Lanes operator+(Lanes a, Lanes b) { return Lanes(a.vector_ + b.vector_); }
    friend Lanes operator-(Lanes a, Lanes b) { return Lanes(a.vector_ - b.vector_); }
    friend Lanes operator*(Lanes a, Lanes b) { return Lanes(a.vector_ * b.vector_); }
    friend Lanes operator/(Lanes a, Lanes b) { return Lanes(a.vector_ / b.vector_); }
    Lanes& operator+=(Lanes b) { return *this = *this + b; }
    Lanes& operator-=(Lanes b) { return *this = *this - b; }
    Lanes& operator*=(Lanes b) { return *this = *this * b; }
    friend Mask operator<(Lanes a, Lanes b) { return a.vector_ < b.vector_; }
    friend Mask operator>(Lanes a, Lanes b) { return a.vector_ > b.vector_; }
    friend Mask operator<=(Lanes a, Lanes b) { return a.vector_ <= b.vector_; }

private:
    Vector vector_{};
};

template <int B, int F, int S, int C, int kWidth>
Quantity<B, F, S, C, Lanes<kWidth>> operator*(Quantity<B, F, S, C> a, Lanes<kWidth> b) {
    return Quantity<B, F, S, C, Lanes<kWidth>>(a) * b;
}
template <int B, int F, int S, int C, int kWidth>
Quantity<B, F, S, C, Lanes<kWidth>> operator/(Quantity<B, F, S, C> a, Lanes<kWidth> b) {
    return Quantity<B, F, S, C, Lanes<kWidth>>(a) / b;
}

// `a` where the condition holds, else `b`.
constexpr double select(bool condition, double a, double b) { return condition ? a : b; }
template <int kWidth>
Lanes<kWidth> select(typename Lanes<kWidth>::Mask condition, Lanes<kWidth> a, Lanes<kWidth> b) {
    return Lanes<kWidth>(condition ? a.vector() : b.vector());
}

// As std::max and std::min, but by value: of their references to quantities GCC makes branches, a fifth more
// instructions for an evaluation.
template <class Number>
constexpr auto base_units(Number number) {
    if constexpr (requires { number.value(); })
        return number.value();
    else
        return number;
}
template <class A, class B>
constexpr auto larger(A a, B b) {
    using Both = decltype(a + b);
    using Number = decltype(base_units(a + b));
    return Both(select(base_units(a) < base_units(b), Number(base_units(b)), Number(base_units(a))));
}
template <class A, class B>
constexpr auto smaller(A a, B b) {
    using Both = decltype(a + b);
    using Number = decltype(base_units(a + b));
    return Both(select(base_units(b) < base_units(a), Number(base_units(b)), Number(base_units(a))));
}

constexpr bool any(bool condition) { return condition; }
template <class Mask>
bool any(Mask condition) {
    std::int64_t found = 0;
    for (unsigned i = 0; i < sizeof(Mask) / sizeof(std::int64_t); ++i) found |= condition[i];
    return found != 0;
}

// Of counts, which are neither negative nor near 2^52: adding that leaves no room for a fraction.
inline double whole_below(double count) { return std::floor(count); }
inline double whole_above(double count) { return std::ceil(count); }
template <int kWidth>
Lanes<kWidth> whole_below(Lanes<kWidth> count) {
    const Lanes<kWidth> nearest = (count + 0x1p52) - 0x1p52;
    return nearest - select(nearest > count, Lanes<kWidth>(1), Lanes<kWidth>(0));
}
template <int kWidth>
Lanes<kWidth> whole_above(Lanes<kWidth> count) {
    const Lanes<kWidth> nearest = (count + 0x1p52) - 0x1p52;
    return nearest + select(nearest < count, Lanes<kWidth>(1), Lanes<kWidth>(0));
}

inline double power(double base, double exponent) { return std::pow(base, exponent); }
template <int kWidth>
Lanes<kWidth> power(Lanes<kWidth> base, double exponent) {
    return Lanes<kWidth>::made([&](int lane) { return std::pow(base[lane], exponent); });
}

}  // namespace gambrel::delta_detail
