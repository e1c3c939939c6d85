// A kernel of one PTX module, as NVRTC writes it, decoded once and run many times.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "numbers.hpp"

namespace ptx {

struct Operand {
    enum class Kind : std::uint8_t { reg, immediate, decimal, special, symbol, vector, memory };
    Kind kind = Kind::immediate;
    int reg = -1;
    std::uint64_t immediate = 0;
    double decimal = 0;          // "1.5": its bits depend on the instruction's type
    std::string name;            // special register or symbol
    std::vector<Operand> parts;  // of a vector; the base of a memory operand
    std::int64_t offset = 0;     // of a memory operand
};

struct Block;
struct Instruction;
// `mask` has one byte for each thread; null: all take part.
using Handler = void (*)(Block&, const Instruction&, const std::uint8_t* mask);

enum class Control : std::uint8_t { none, branch, exit, barrier };

// What the suffixes of a matrix instruction say.
struct MatrixTypes {
    int m = 0, n = 0, k = 0;
    std::vector<Element> elements;  // in the order of the text
};

struct Instruction {
    std::string text;
    std::vector<std::string> words;  // "ld", "global", "v4", "u32"
    std::vector<Operand> operands;
    int predicate = -1;
    bool predicate_negated = false;
    Control control = Control::none;
    int target = -1;  // of a branch
    Handler handler = nullptr;
    int width = 32;                       // bits of its type
    char type = 'b';                      // u, s, f, b, or p for a predicate
    bool packed = false, bfloat = false;  // f16x2, bf16x2
    int vector = 1;
    MatrixTypes matrix;
    mutable std::shared_ptr<void> decoded;  // what the handler of a matrix instruction keeps from one run to the next

    [[nodiscard]] bool has(std::string_view word) const {
        for (const std::string& w : words)
            if (w == word) return true;
        return false;
    }
};

struct Parameter {
    std::string name;
    int size = 0, offset = 0;
};

// Shared addresses start here, so that address 0 is a fault.
inline constexpr std::uint32_t kSharedBase = 1024;

struct Kernel {
    std::string name, target;
    std::vector<Parameter> parameters;
    int parameter_bytes = 0;
    std::vector<Instruction> code;
    std::map<std::string, int> registers;  // name to number
    int register_count = 0;
    std::map<std::string, std::uint32_t> shared;  // symbol to address
    std::uint32_t shared_bytes = 0;
    unsigned max_threads = 1024;
};

std::shared_ptr<Kernel> parse(std::string_view ptx);

// The handler of an opcode; null if the model does not have it. One table for each family.
Handler plain_handler(const Instruction& instruction);
Handler memory_handler(const Instruction& instruction);
Handler matrix_handler(const Instruction& instruction);

}  // namespace ptx
