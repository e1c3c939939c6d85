#include "measure/gpu/expected_chains.hpp"

#include <cmath>

namespace gambrel::measure_detail {

namespace {

int mantissa_bits(Pipe pipe) {
    switch (pipe) {
        case Pipe::fp64:
            return 53;
        case Pipe::fp32:
            return 24;
        case Pipe::fp16:
            return 11;
        default:
            return 8;
    }
}

double fma_once(Pipe pipe, double x, double a, double b) {
    if (pipe == Pipe::fp64) return std::fma(x, a, b);
    if (pipe == Pipe::fp32) return std::fma(static_cast<float>(x), static_cast<float>(a), static_cast<float>(b));
    // Two mantissas of 11 bits and an addend of like size: a double holds the exact result.
    return rounded(pipe, x * a + b);
}

// Contracts to b / (1 - a), and stops there for good: a step that changes nothing is the last that need be done.
double follow_fma(Pipe pipe, double x, std::int64_t steps, double a, double b) {
    for (std::int64_t i = 0; i < steps; ++i) {
        const double next = fma_once(pipe, x, a, b);
        if (next == x) break;
        x = next;
    }
    return x;
}

// Counts up by b, a power of two, until b is lost in rounding. Within a binade all steps are alike and done at once.
double follow_add(Pipe pipe, double x, std::int64_t steps, double b) {
    while (steps > 0) {
        const double ulp = std::ldexp(1.0, std::ilogb(x) + 1 - mantissa_bits(pipe));
        const double end = std::ldexp(1.0, std::ilogb(x) + 1);
        const auto plain = static_cast<std::int64_t>(std::floor((end - x) / b)) - 1;
        if (b >= ulp && plain > 1) {
            const std::int64_t jump = plain < steps ? plain : steps;
            x += static_cast<double>(jump) * b;
            steps -= jump;
            continue;
        }
        const double next = rounded(pipe, x + b);
        if (next == x) break;
        x = next;
        --steps;
    }
    return x;
}

std::uint32_t word_of(double x) { return static_cast<std::uint32_t>(x); }

// x <- x * a + b, `steps` times, modulo 2^32: the map is composed with itself by squaring.
std::uint32_t follow_affine(std::uint32_t x, std::uint64_t steps, std::uint32_t a, std::uint32_t b) {
    std::uint32_t factor = 1, term = 0;
    for (; steps != 0; steps >>= 1U) {
        if ((steps & 1U) != 0) {
            factor *= a;
            term = term * a + b;
        }
        b = b * a + b;
        a *= a;
    }
    return x * factor + term;
}

double follow_integer(ProbeAction action, double x, std::int64_t steps, const ArithmeticArguments& with) {
    const std::uint32_t a = word_of(with.a), b = word_of(with.b);
    const auto count = static_cast<std::uint64_t>(steps);
    if (action == ProbeAction::fma) return follow_affine(word_of(x), count, a, b);
    if (action == ProbeAction::add) return follow_affine(word_of(x), count, 1, b);
    return follow_affine(word_of(x), count / 2, a * b, 0);
}

}  // namespace

ArithmeticArguments arithmetic_arguments(ProbeAction action, Pipe pipe) {
    if (pipe == Pipe::int32) {
        // The generator of Numerical Recipes; multiplying in turn by two odd numbers loses no bits.
        if (action == ProbeAction::multiply) return {1664525, 22695477, 1, 5};
        return {1664525, 1013904223, 1, 5};
    }
    if (action == ProbeAction::add) return {0, 1, 0.25, 0.03125};
    if (action == ProbeAction::multiply) return {2, 0.5, 0.25, 0.03125};
    // 1 - 2^-p and 3 * 2^-p: chains creep towards 3 with full mantissas, slower the more bits there are to fill.
    const double step = std::ldexp(1.0, pipe == Pipe::fp16 ? -5 : pipe == Pipe::bf16 ? -3 : -10);
    return {1 - step, 3 * step, 0.25, 0.03125};
}

double rounded(Pipe pipe, double x) {
    if (pipe == Pipe::fp64 || x == 0) return x;
    const int shift = mantissa_bits(pipe) - 1 - std::ilogb(x);
    return std::ldexp(std::nearbyint(std::ldexp(x, shift)), -shift);
}

double followed(ProbeAction action, Pipe pipe, double x, std::int64_t steps) {
    const ArithmeticArguments with = arithmetic_arguments(action, pipe);
    if (pipe == Pipe::int32) return follow_integer(action, x, steps, with);
    if (action == ProbeAction::fma) return follow_fma(pipe, x, steps, with.a, with.b);
    if (action == ProbeAction::add) return follow_add(pipe, x, steps, with.b);
    return steps % 2 == 0 ? x : x * with.a;  // by 2 and by 1/2 in turn
}

double followed_sum(ProbeAction action, Pipe pipe, int lane, int chains, std::int64_t steps) {
    const ArithmeticArguments with = arithmetic_arguments(action, pipe);
    double sum = 0;
    for (int chain = 0; chain < chains; ++chain) {
        const double x = followed(action, pipe, 1 + lane * with.lane_step + chain * with.chain_step, steps);
        if (chain == 0)
            sum = x;
        else if (pipe == Pipe::int32)
            sum = word_of(sum) + word_of(x);
        else
            sum = rounded(pipe, sum + x);
    }
    return sum;
}

}  // namespace gambrel::measure_detail
