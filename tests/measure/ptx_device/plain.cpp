// Instructions that every GPU has: moves, integer and floating arithmetic, comparisons. Loads and stores are in
// memory.cpp.
#include <algorithm>
#include <cstring>
#include <functional>
#include <type_traits>

#include "block.hpp"

namespace ptx {
namespace {

using Mask = const std::uint8_t*;

// Calls `use` with a function of the thread: the loop over threads must not ask which kind of operand it has.
template <class Use>
void with(const Source& s, Use use) {
    if (s.stride == 0)
        use([value = *s.values](unsigned) { return value; });
    else
        use([values = s.values](unsigned t) { return values[t]; });
}

template <class F>
void unary(Block& b, const Instruction& in, Mask mask, F f) {
    Scratch s;
    std::uint64_t* const d = b.reg(in.operands[0].reg);
    with(source(b, in.operands[1], in.width, s),
         [&](auto x) { each_thread(b, mask, [=](unsigned t) { d[t] = f(x(t)); }); });
}
template <class F>
void binary(Block& b, const Instruction& in, Mask mask, F f) {
    Scratch s0, s1;
    std::uint64_t* const d = b.reg(in.operands[0].reg);
    with(source(b, in.operands[1], in.width, s0), [&](auto x) {
        with(source(b, in.operands[2], in.width, s1),
             [&](auto y) { each_thread(b, mask, [=](unsigned t) { d[t] = f(x(t), y(t)); }); });
    });
}
template <class F>
void ternary(Block& b, const Instruction& in, Mask mask, F f) {
    Scratch s0, s1, s2;
    const Source x = source(b, in.operands[1], in.width, s0), y = source(b, in.operands[2], in.width, s1),
                 z = source(b, in.operands[3], in.width, s2);
    std::uint64_t* const d = b.reg(in.operands[0].reg);
    each_thread(b, mask, [=](unsigned t) { d[t] = f(x[t], y[t], z[t]); });
}

// Both halves of a packed register, each rounded once.
template <class F>
std::uint64_t by_halves(bool bfloat, std::uint64_t x, std::uint64_t y, std::uint64_t z, F f) {
    std::uint64_t result = 0;
    for (int shift = 0; shift < 32; shift += 16) {
        const auto value = [&](std::uint64_t v) {
            return bfloat ? bfloat_value(v >> shift & 0xffff) : half_value(v >> shift & 0xffff);
        };
        const double exact = f(value(x), value(y), value(z));
        result |= (bfloat ? bfloat_bits(exact) : half_bits(exact)) << shift;
    }
    return result;
}

template <bool bfloat>
void packed_fma(Block& b, const Instruction& in, Mask mask) {
    ternary(b, in, mask, [](auto x, auto y, auto z) {
        return by_halves(bfloat, x, y, z, [](double p, double q, double r) { return p * q + r; });
    });
}
template <bool bfloat>
void packed_add(Block& b, const Instruction& in, Mask mask) {
    binary(b, in, mask,
           [](auto x, auto y) { return by_halves(bfloat, x, y, 0, [](double p, double q, double) { return p + q; }); });
}
Handler packed_handler(const Instruction& in) {
    if (in.words[0] == "fma") return in.bfloat ? packed_fma<true> : packed_fma<false>;
    if (in.words[0] == "add") return in.bfloat ? packed_add<true> : packed_add<false>;
    return nullptr;
}

template <class T>
T number(std::uint64_t bits) {
    if constexpr (sizeof(T) == 8)
        return as_f64(bits);
    else
        return as_f32(bits);
}

// One handler for each operation: which it is was decided when the kernel was parsed.
template <auto f>
void one(Block& b, const Instruction& in, Mask mask) {
    unary(b, in, mask, f);
}
template <auto f>
void two(Block& b, const Instruction& in, Mask mask) {
    binary(b, in, mask, f);
}
template <class T>
void fused(Block& b, const Instruction& in, Mask mask) {
    ternary(b, in, mask,
            [](auto x, auto y, auto z) { return bits_of(std::fma(number<T>(x), number<T>(y), number<T>(z))); });
}

template <class T>
Handler floating_handler(const std::string& name) {
    if (name == "add")
        return two<[](std::uint64_t x, std::uint64_t y) { return bits_of(number<T>(x) + number<T>(y)); }>;
    if (name == "sub")
        return two<[](std::uint64_t x, std::uint64_t y) { return bits_of(number<T>(x) - number<T>(y)); }>;
    if (name == "mul")
        return two<[](std::uint64_t x, std::uint64_t y) { return bits_of(number<T>(x) * number<T>(y)); }>;
    if (name == "neg") return one<[](std::uint64_t x) { return bits_of(-number<T>(x)); }>;
    return name == "fma" ? fused<T> : nullptr;
}

void shift(Block& b, const Instruction& in, Mask mask) {
    const int width = in.width;
    const std::uint64_t all = mask_of(width);
    if (in.words[0] == "shr" && in.type == 's') fail("signed shift: " + in.text);
    const bool left = in.words[0] == "shl";
    binary(b, in, mask, [=](std::uint64_t x, std::uint64_t y) -> std::uint64_t {
        y &= 0xffffffffU;
        if (y >= static_cast<unsigned>(width)) return 0;
        return left ? x << y & all : (x & all) >> y;
    });
}

// Operands and result are cut to the type's width.
template <auto f>
void whole(Block& b, const Instruction& in, Mask mask) {
    const std::uint64_t all = mask_of(in.width);
    binary(b, in, mask, [all](std::uint64_t x, std::uint64_t y) { return f(x & all, y & all) & all; });
}
void multiply_wide(Block& b, const Instruction& in, Mask mask) {  // the product is twice as wide as the type
    const int width = in.width;
    const std::uint64_t all = mask_of(width);
    if (in.type == 's')
        binary(b, in, mask, [=](auto x, auto y) {
            return static_cast<std::uint64_t>(sign_extended(x, width) * sign_extended(y, width));
        });
    else
        binary(b, in, mask, [=](auto x, auto y) { return (x & all) * (y & all); });
}
void multiply_high(Block& b, const Instruction& in, Mask mask) {
    const int width = in.width;
    const std::uint64_t all = mask_of(width);
    binary(b, in, mask, [=](auto x, auto y) { return (x & all) * (y & all) >> width; });
}
void multiply_and_add(Block& b, const Instruction& in, Mask mask) {
    const std::uint64_t all = mask_of(in.width);
    ternary(b, in, mask, [=](auto x, auto y, auto z) { return (x * y + z) & all; });
}
void negate(Block& b, const Instruction& in, Mask mask) {
    const std::uint64_t all = mask_of(in.width);
    unary(b, in, mask, [=](auto x) { return (~x + 1) & all; });
}
void invert(Block& b, const Instruction& in, Mask mask) {
    const std::uint64_t all = mask_of(in.width);
    unary(b, in, mask, [=](auto x) { return ~x & all; });
}

Handler integer_handler(const Instruction& in) {
    using U = std::uint64_t;
    const std::string& name = in.words[0];
    if (name == "mul" && in.has("wide")) return multiply_wide;
    if (name == "mul" && in.has("hi")) return in.type == 'u' && in.width <= 32 ? multiply_high : nullptr;
    if (name == "mul") return in.has("lo") ? whole<[](U x, U y) { return x * y; }> : nullptr;
    if (name == "mad") return in.has("lo") ? multiply_and_add : nullptr;
    if (name == "neg") return negate;
    if (name == "not") return invert;
    if (name == "add") return whole<[](U x, U y) { return x + y; }>;
    if (name == "sub") return whole<[](U x, U y) { return x - y; }>;
    if (name == "and") return whole<[](U x, U y) { return x & y; }>;
    if (name == "or") return whole<[](U x, U y) { return x | y; }>;
    if (name == "xor") return whole<[](U x, U y) { return x ^ y; }>;
    if (in.type != 'u') return nullptr;
    if (name == "rem") return whole<[](U x, U y) { return y == 0 ? x : x % y; }>;
    if (name == "div") return whole<[](U x, U y) { return y == 0 ? ~U{0} : x / y; }>;
    if (name == "min") return whole<[](U x, U y) { return std::min(x, y); }>;
    return name == "max" ? whole<[](U x, U y) { return std::max(x, y); }> : nullptr;
}

Handler arithmetic_handler(const Instruction& in) {
    if (in.packed) return packed_handler(in);
    if (in.type != 'f') return integer_handler(in);
    return in.width == 64 ? floating_handler<double>(in.words[0]) : floating_handler<float>(in.words[0]);
}

void move(Block& b, const Instruction& in, Mask mask) {
    const Operand &to = in.operands[0], &from = in.operands[1];
    if (to.kind == Operand::Kind::vector || from.kind == Operand::Kind::vector) {
        const bool split = to.kind == Operand::Kind::vector;
        const auto& parts = split ? to.parts : from.parts;
        const int part = in.width / static_cast<int>(parts.size());
        each_thread(b, mask, [&](unsigned t) {
            std::uint64_t joined = 0;
            for (std::size_t i = 0; i < parts.size(); ++i) {
                const auto at = part * static_cast<int>(i);
                if (split)
                    b.reg(parts[i].reg)[t] = value_at(b, from, in.width, t) >> at & mask_of(part);
                else
                    joined |= (value_at(b, parts[i], part, t) & mask_of(part)) << at;
            }
            if (!split) b.reg(to.reg)[t] = joined;
        });
        return;
    }
    const std::uint64_t all = mask_of(in.width);
    unary(b, in, mask, [all](auto x) { return x & all; });
}

void convert(Block& b, const Instruction& in, Mask mask) {
    const std::string &to = in.words[in.words.size() - 2], &from = in.words.back();
    const auto bits = [](const std::string& type) { return std::stoi(type.substr(type.find_first_of("0123456789"))); };
    const int from_bits = bits(from), to_bits = bits(to);
    unary(b, in, mask, [&](std::uint64_t x) -> std::uint64_t {
        x &= mask_of(from_bits);
        const bool whole = from[0] != 'f';
        if (to[0] != 'f') {
            if (!whole) fail("conversion to an integer: " + in.text);
            return static_cast<std::uint64_t>(from[0] == 's' ? sign_extended(x, from_bits)
                                                             : static_cast<std::int64_t>(x)) &
                   mask_of(to_bits);
        }
        const double value = from == "f32"    ? as_f32(x)
                             : from == "f64"  ? as_f64(x)
                             : from == "f16"  ? half_value(x)
                             : from[0] == 's' ? static_cast<double>(sign_extended(x, from_bits))
                                              : static_cast<double>(x);
        return to_bits == 64 ? bits_of(value) : to_bits == 32 ? bits_of(static_cast<float>(value)) : half_bits(value);
    });
}

template <class T>
T operand_as(std::uint64_t x, int width) {
    if constexpr (std::is_floating_point_v<T>)
        return number<T>(x);
    else if constexpr (std::is_signed_v<T>)
        return sign_extended(x, width);
    else
        return x & mask_of(width);
}
template <class T, class Relation>
void compare(Block& b, const Instruction& in, Mask mask) {
    const int width = in.width;
    binary(b, in, mask, [width](std::uint64_t x, std::uint64_t y) -> std::uint64_t {
        return Relation{}(operand_as<T>(x, width), operand_as<T>(y, width)) ? 1 : 0;
    });
}
template <class T>
Handler relation_handler(const std::string& how) {
    if (how == "eq") return compare<T, std::equal_to<T>>;
    if (how == "ne") return compare<T, std::not_equal_to<T>>;
    if (how == "lt") return compare<T, std::less<T>>;
    if (how == "le") return compare<T, std::less_equal<T>>;
    if (how == "gt") return compare<T, std::greater<T>>;
    return how == "ge" ? compare<T, std::greater_equal<T>> : nullptr;
}
Handler compare_handler(const Instruction& in) {
    if (in.words.size() != 3) return nullptr;
    const std::string& how = in.words[1];
    if (in.type == 'f') return in.width == 64 ? relation_handler<double>(how) : relation_handler<float>(how);
    return in.type == 's' ? relation_handler<std::int64_t>(how) : relation_handler<std::uint64_t>(how);
}

void select(Block& b, const Instruction& in, Mask mask) {
    Scratch s0, s1;
    const Source x = source(b, in.operands[1], in.width, s0), y = source(b, in.operands[2], in.width, s1);
    std::uint64_t* const d = b.reg(in.operands[0].reg);
    const std::uint64_t* const p = b.reg(in.operands[3].reg);
    each_thread(b, mask, [&](unsigned t) { d[t] = p[t] != 0 ? x[t] : y[t]; });
}

void copy_address(Block& b, const Instruction& in, Mask mask) {
    unary(b, in, mask, [](auto x) { return x; });
}

void fence(Block& b, const Instruction& in, Mask mask) {
    if (in.has("proxy")) each_thread(b, mask, [&](unsigned t) { b.unfenced[t] = 0; });
}

}  // namespace

Handler plain_handler(const Instruction& in) {
    const std::string& name = in.words.front();
    if (name == "ld" || name == "st") return memory_handler(in);
    if (name == "mov") return move;
    if (name == "cvt") return convert;
    if (name == "cvta") return copy_address;
    if (name == "setp") return compare_handler(in);
    if (name == "selp") return select;
    if (name == "fence") return fence;
    if (name == "shl" || name == "shr") return shift;
    return arithmetic_handler(in);
}

}  // namespace ptx
