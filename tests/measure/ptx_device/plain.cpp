// Instructions that every GPU has: moves, integer and floating arithmetic, comparisons, memory.
#include <algorithm>
#include <cstring>

#include "block.hpp"

namespace ptx {
namespace {

using Mask = const std::uint8_t*;

template <class F>
void unary(Block& b, const Instruction& in, Mask mask, F f) {
    Scratch s;
    const Source x = source(b, in.operands[1], in.width, s);
    std::uint64_t* const d = b.reg(in.operands[0].reg);
    each_thread(b, mask, [&](unsigned t) { d[t] = f(x[t]); });
}
template <class F>
void binary(Block& b, const Instruction& in, Mask mask, F f) {
    Scratch s0, s1;
    const Source x = source(b, in.operands[1], in.width, s0), y = source(b, in.operands[2], in.width, s1);
    std::uint64_t* const d = b.reg(in.operands[0].reg);
    each_thread(b, mask, [&](unsigned t) { d[t] = f(x[t], y[t]); });
}
template <class F>
void ternary(Block& b, const Instruction& in, Mask mask, F f) {
    Scratch s0, s1, s2;
    const Source x = source(b, in.operands[1], in.width, s0), y = source(b, in.operands[2], in.width, s1),
                 z = source(b, in.operands[3], in.width, s2);
    std::uint64_t* const d = b.reg(in.operands[0].reg);
    each_thread(b, mask, [&](unsigned t) { d[t] = f(x[t], y[t], z[t]); });
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

void packed(Block& b, const Instruction& in, Mask mask) {
    const bool bfloat = in.bfloat;
    if (in.words[0] == "fma")
        ternary(b, in, mask, [bfloat](auto x, auto y, auto z) {
            return by_halves(bfloat, x, y, z, [](double p, double q, double r) { return p * q + r; });
        });
    else if (in.words[0] == "add")
        binary(b, in, mask, [bfloat](auto x, auto y) {
            return by_halves(bfloat, x, y, 0, [](double p, double q, double) { return p + q; });
        });
    else
        fail("packed arithmetic: " + in.text);
}

template <class T>
T number(std::uint64_t bits) {
    if constexpr (sizeof(T) == 8)
        return as_f64(bits);
    else
        return as_f32(bits);
}

template <class T>
void floating(Block& b, const Instruction& in, Mask mask) {
    const std::string& name = in.words[0];
    if (name == "add")
        binary(b, in, mask, [](auto x, auto y) { return bits_of(number<T>(x) + number<T>(y)); });
    else if (name == "sub")
        binary(b, in, mask, [](auto x, auto y) { return bits_of(number<T>(x) - number<T>(y)); });
    else if (name == "mul")
        binary(b, in, mask, [](auto x, auto y) { return bits_of(number<T>(x) * number<T>(y)); });
    else if (name == "fma")
        ternary(b, in, mask,
                [](auto x, auto y, auto z) { return bits_of(std::fma(number<T>(x), number<T>(y), number<T>(z))); });
    else if (name == "neg")
        unary(b, in, mask, [](auto x) { return bits_of(-number<T>(x)); });
    else
        fail("floating arithmetic: " + in.text);
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

void integer(Block& b, const Instruction& in, Mask mask) {
    const std::string& name = in.words[0];
    const int width = in.width;
    const std::uint64_t all = mask_of(width);
    const auto two = [&](auto f) { binary(b, in, mask, [=](auto x, auto y) { return f(x & all, y & all) & all; }); };
    if (name == "add")
        two([](auto x, auto y) { return x + y; });
    else if (name == "sub")
        two([](auto x, auto y) { return x - y; });
    else if (name == "mul" && in.has("wide"))  // the product is twice as wide as the type
        binary(b, in, mask, [=, is_signed = in.type == 's'](auto x, auto y) {
            return is_signed ? static_cast<std::uint64_t>(sign_extended(x, width) * sign_extended(y, width))
                             : (x & all) * (y & all);
        });
    else if (name == "mul" && in.has("hi") && in.type == 'u' && width <= 32)
        two([=](auto x, auto y) { return (x & all) * (y & all) >> width; });
    else if (name == "mul" && in.has("lo"))
        two([](auto x, auto y) { return x * y; });
    else if (name == "mad" && in.has("lo"))
        ternary(b, in, mask, [=](auto x, auto y, auto z) { return (x * y + z) & all; });
    else if (name == "rem" && in.type == 'u')
        two([](auto x, auto y) { return y == 0 ? x : x % y; });
    else if (name == "div" && in.type == 'u')
        two([](auto x, auto y) { return y == 0 ? ~std::uint64_t{0} : x / y; });
    else if (name == "neg")
        unary(b, in, mask, [=](auto x) { return (~x + 1) & all; });
    else if (name == "and")
        two([](auto x, auto y) { return x & y; });
    else if (name == "or")
        two([](auto x, auto y) { return x | y; });
    else if (name == "xor")
        two([](auto x, auto y) { return x ^ y; });
    else if (name == "not")
        unary(b, in, mask, [=](auto x) { return ~x & all; });
    else if (name == "min" && in.type == 'u')
        two([](auto x, auto y) { return std::min(x, y); });
    else if (name == "max" && in.type == 'u')
        two([](auto x, auto y) { return std::max(x, y); });
    else
        fail("integer arithmetic: " + in.text);
}

void arithmetic(Block& b, const Instruction& in, Mask mask) {
    if (in.packed)
        packed(b, in, mask);
    else if (in.type != 'f')
        integer(b, in, mask);
    else if (in.width == 64)
        floating<double>(b, in, mask);
    else
        floating<float>(b, in, mask);
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
bool compared(const std::string& how, T x, T y, const Instruction& in) {
    if (how == "eq") return x == y;
    if (how == "ne") return x != y;
    if (how == "lt") return x < y;
    if (how == "le") return x <= y;
    if (how == "gt") return x > y;
    if (how == "ge") return x >= y;
    fail("comparison: " + in.text);
}

void compare(Block& b, const Instruction& in, Mask mask) {
    if (in.words.size() != 3) fail("comparison: " + in.text);
    const std::string& how = in.words[1];
    const int width = in.width;
    binary(b, in, mask, [&](auto x, auto y) -> std::uint64_t {
        if (in.type == 'f')
            return (width == 64 ? compared(how, as_f64(x), as_f64(y), in) : compared(how, as_f32(x), as_f32(y), in))
                       ? 1
                       : 0;
        if (in.type == 's') return compared(how, sign_extended(x, width), sign_extended(y, width), in) ? 1 : 0;
        return compared(how, x & mask_of(width), y & mask_of(width), in) ? 1 : 0;
    });
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

// ---- memory

// A copy of constant size is one instruction; of variable size it is a call, which the address sanitizer watches.
void copy_word(void* to, const void* from, std::size_t bytes) {
    if (bytes == 4)
        std::memcpy(to, from, 4);
    else if (bytes == 8)
        std::memcpy(to, from, 8);
    else
        std::memcpy(to, from, bytes);
}

struct Transfer {
    bool load;
    const Operand& memory;
    std::vector<const Operand*> values;
    std::size_t each, total;  // bytes

    explicit Transfer(const Instruction& in)
        : load(in.words[0] == "ld"),
          memory(in.operands[load ? 1 : 0]),
          each(static_cast<std::size_t>(in.width) / 8),
          total(each * static_cast<std::size_t>(in.vector)) {
        const Operand& value = in.operands[load ? 0 : 1];
        if (value.kind == Operand::Kind::vector)
            for (const Operand& part : value.parts) values.push_back(&part);
        else
            values.push_back(&value);
        if (values.size() != static_cast<std::size_t>(in.vector)) fail("width of a vector: " + in.text);
    }
    void move(Block& b, const Instruction& in, unsigned t, std::uint8_t* at) const {
        for (std::size_t i = 0; i < values.size(); ++i) {
            std::uint64_t word = 0;
            if (load) {
                copy_word(&word, at + i * each, each);
                b.reg(values[i]->reg)[t] = word;
            } else {
                word = value_at(b, *values[i], in.width, t);
                copy_word(at + i * each, &word, each);
            }
        }
    }
};

void parameter_load(Block& b, const Instruction& in, Mask mask) {
    const Operand& memory = in.operands[1];
    const auto it = std::find_if(b.kernel.parameters.begin(), b.kernel.parameters.end(),
                                 [&](const Parameter& p) { return p.name == memory.parts.front().name; });
    if (it == b.kernel.parameters.end()) fail("unknown parameter: " + in.text);
    std::uint64_t value = 0;
    std::memcpy(&value, b.parameters.data() + it->offset + memory.offset, static_cast<std::size_t>(in.width) / 8);
    std::uint64_t* const d = b.reg(in.operands[0].reg);
    each_thread(b, mask, [&](unsigned t) { d[t] = value; });
}

void shared_access(Block& b, const Instruction& in, Mask mask) {
    const Transfer transfer(in);
    double moved = 0;
    each_thread(b, mask, [&](unsigned t) {
        const std::uint64_t at = b.address(transfer.memory, t);
        if (at % transfer.total != 0) fail("a misaligned shared access: " + in.text);
        transfer.move(b, in, t, b.shared_at(at, transfer.total, in));
        if (!transfer.load) b.unfenced[t] = 1;
        moved += static_cast<double>(transfer.total);
    });
    Gpu::Usage& usage = b.gpu.usage(b.sm);
    usage.shared += moved / b.gpu.is.l1_bytes_per_cycle;
    if (b.threads == 1 && transfer.load) usage.latency += b.gpu.is.shared_latency;
}

void global_access(Block& b, const Instruction& in, Mask mask) {
    const Transfer transfer(in);
    const bool near = transfer.load && !in.has("cg");
    double moved = 0, latency = 0;
    std::uint64_t last_line = ~std::uint64_t{0};
    each_thread(b, mask, [&](unsigned t) {
        const std::uint64_t at = b.address(transfer.memory, t);
        if (at % transfer.total != 0) fail("a misaligned global access: " + in.text);
        if (t % 32 == 0) last_line = ~std::uint64_t{0};
        if (at / 128 != last_line) {
            last_line = at / 128;
            b.gpu.check(at, at + transfer.total, in);
            b.gpu.access(b.sm, last_line, near, latency);
        }
        if ((at + transfer.total - 1) / 128 != last_line || t % 32 == 31) b.gpu.check(at, at + transfer.total, in);
        transfer.move(b, in, t, reinterpret_cast<std::uint8_t*>(at));
        moved += static_cast<double>(transfer.total);
    });
    Gpu::Usage& usage = b.gpu.usage(b.sm);
    usage.l1 += moved / b.gpu.is.l1_bytes_per_cycle;
    if (b.threads == 1 && transfer.load) usage.latency += latency;
}

}  // namespace

Handler plain_handler(const Instruction& in) {
    const std::string& name = in.words.front();
    if (name == "ld" || name == "st") {
        if (in.has("param")) return parameter_load;
        if (in.has("shared")) return shared_access;
        return in.has("global") ? global_access : nullptr;
    }
    if (name == "mov") return move;
    if (name == "cvt") return convert;
    if (name == "cvta") return copy_address;
    if (name == "setp") return compare;
    if (name == "selp") return select;
    if (name == "fence") return fence;
    if (name == "shl" || name == "shr") return shift;
    for (const char* known :
         {"add", "sub", "mul", "mad", "fma", "rem", "div", "neg", "and", "or", "xor", "not", "min", "max"})
        if (name == known) return arithmetic;
    return nullptr;
}

}  // namespace ptx
