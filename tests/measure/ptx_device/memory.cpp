// Loads and stores: of parameters, of shared and of global memory.
#include <algorithm>
#include <cstring>

#include "block.hpp"

namespace ptx {
namespace {

using Mask = const std::uint8_t*;

// A copy of constant size is one instruction; of variable size it is a call, which the address sanitizer watches.
void copy_word(void* to, const void* from, std::size_t bytes) {
    if (bytes == 4)
        std::memcpy(to, from, 4);
    else if (bytes == 8)
        std::memcpy(to, from, 8);
    else
        std::memcpy(to, from, bytes);
}

// A load or store, decoded once.
struct Transfer {
    bool load, near;
    const Operand& memory;
    std::vector<const Operand*> values;
    std::size_t each, total;  // bytes

    explicit Transfer(const Instruction& in)
        : load(in.words[0] == "ld"),
          near(load && !in.has("cg")),
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

const Transfer& transfer_of(const Instruction& in) {
    if (!in.decoded) in.decoded = std::make_shared<Transfer>(in);
    return *static_cast<const Transfer*>(in.decoded.get());
}

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
    const Transfer& transfer = transfer_of(in);
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
    const Transfer& transfer = transfer_of(in);
    double moved = 0, latency = 0;
    std::uint64_t last_line = ~std::uint64_t{0};
    each_thread(b, mask, [&](unsigned t) {
        const std::uint64_t at = b.address(transfer.memory, t);
        if (at % transfer.total != 0) fail("a misaligned global access: " + in.text);
        if (t % 32 == 0) last_line = ~std::uint64_t{0};
        if (at / 128 != last_line) {
            last_line = at / 128;
            b.gpu.check(at, at + transfer.total, in);
            b.gpu.access(b.sm, last_line, transfer.near, latency);
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

Handler memory_handler(const Instruction& in) {
    if (in.has("param")) return parameter_load;
    if (in.has("shared")) return shared_access;
    return in.has("global") ? global_access : nullptr;
}

}  // namespace ptx
