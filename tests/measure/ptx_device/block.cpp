#include "block.hpp"

#include <algorithm>
#include <limits>

namespace ptx {

Block::Block(Gpu& on, const Kernel& of, unsigned number, unsigned groups, unsigned thread_count,
             const std::vector<std::uint8_t>& arguments)
    : gpu(on),
      kernel(of),
      id(number),
      grid(groups),
      threads(thread_count),
      sm(on.is.crowded && number < 2 ? 0 : static_cast<int>(number % static_cast<unsigned>(on.is.sms))),
      shared(of.shared_bytes + 16, 0xa5),
      parameters(arguments),
      unfenced(thread_count, 0) {
    if (!gpu.spare_registers.empty()) {
        registers = std::move(gpu.spare_registers.back());
        gpu.spare_registers.pop_back();
    }
    // Values that no kernel expects, as in shared memory: a register or a word that is read before it is written shows.
    registers.assign(static_cast<std::size_t>(of.register_count) * thread_count, 0xdeadbeefdeadbeefULL);
    warpgroup.written.assign(static_cast<std::size_t>(of.register_count), 0);
    warpgroup.unfinished.assign(static_cast<std::size_t>(of.register_count), 0);
}

Block::~Block() {
    if (!registers.empty()) gpu.spare_registers.push_back(std::move(registers));
}

std::uint8_t* Block::shared_at(std::uint64_t at, std::size_t bytes, const Instruction& by) {
    at &= 0xffffffffU;
    if (at < kSharedBase || at + bytes > kSharedBase + kernel.shared_bytes)
        fail("a shared address out of bounds in " + by.text);
    return shared.data() + (at - kSharedBase);
}

std::uint64_t Block::address(const Operand& memory, unsigned thread) const {
    const Operand& base = memory.parts.front();
    const auto offset = static_cast<std::uint64_t>(memory.offset);
    switch (base.kind) {
        case Operand::Kind::reg:
            return registers[static_cast<std::size_t>(base.reg) * threads + thread] + offset;
        case Operand::Kind::immediate:
            return base.immediate + offset;
        default:
            if (const auto it = kernel.shared.find(base.name); it != kernel.shared.end()) return it->second + offset;
            fail("the symbol " + base.name + " has no address");
    }
}

Source source(Block& b, const Operand& o, int width, Scratch& scratch) {
    const auto same = [&](std::uint64_t value) { return scratch.one = value, Source{&scratch.one, 0}; };
    switch (o.kind) {
        case Operand::Kind::reg:
            return {b.reg(o.reg), 1};
        case Operand::Kind::immediate:
            return same(o.immediate & mask_of(width));
        case Operand::Kind::decimal:
            return same(width == 64 ? bits_of(o.decimal) : bits_of(static_cast<float>(o.decimal)));
        case Operand::Kind::symbol:
            if (const auto it = b.kernel.shared.find(o.name); it != b.kernel.shared.end()) return same(it->second);
            fail("unknown symbol " + o.name);
        case Operand::Kind::special:
            break;
        default:
            fail("an operand that cannot be read");
    }
    if (o.name == "ctaid.x") return same(b.id);
    if (o.name == "nctaid.x") return same(b.grid);
    if (o.name == "ntid.x") return same(b.threads);
    if (o.name == "smid") return same(static_cast<std::uint64_t>(b.sm));
    if (o.name == "clock64") return same(static_cast<std::uint64_t>(b.gpu.cycles()));
    if (o.name == "globaltimer") return same(static_cast<std::uint64_t>(1e9 * b.gpu.seconds()));
    if (o.name != "tid.x" && o.name != "laneid") fail("unknown special register " + o.name);
    scratch.many.resize(b.threads);
    for (unsigned t = 0; t < b.threads; ++t) scratch.many[t] = o.name == "tid.x" ? t : t % 32;
    return {scratch.many.data(), 1};
}

void check_whole_warps(const Block& b, const Instruction& in, const std::uint8_t* mask) {
    if (b.threads % 32 != 0) fail("an .aligned instruction in a group without whole warps: " + in.text);
    if (mask == nullptr) return;
    for (unsigned t = 0; t < b.threads; ++t)
        if (mask[t] != mask[t / 32 * 32]) fail("an .aligned instruction in a divergent warp: " + in.text);
}

Participants participants(const Block& b, const std::uint8_t* mask) {
    Participants all;
    each_thread(b, mask, [&](unsigned t) {
        if (all.count++ == 0) all.first = t;
    });
    return all;
}

// Registers of a product that is under way may neither be read nor written.
void Block::check_warpgroup(const Instruction& in) {
    if (in.words.front() == "wgmma") return;
    const auto look = [&](const Operand& o) {
        if (o.kind == Operand::Kind::reg &&
            warpgroup.unfinished[static_cast<std::size_t>(o.reg)] > warpgroup.finished_group)
            fail("a register of an unfinished wgmma is used by " + in.text);
    };
    for (const Operand& o : in.operands) {
        look(o);
        for (const Operand& part : o.parts) look(part);
    }
    ++warpgroup.now;
    if (in.operands.empty()) return;
    const Operand& to = in.operands.front();
    const auto wrote = [&](const Operand& o) {
        if (o.kind == Operand::Kind::reg) warpgroup.written[static_cast<std::size_t>(o.reg)] = warpgroup.now;
    };
    wrote(to);
    if (to.kind == Operand::Kind::vector)
        for (const Operand& part : to.parts) wrote(part);
}

void Block::execute(const Instruction& in, const std::uint8_t* mask, unsigned active) {
    Gpu::Usage& usage = gpu.usage(sm);
    usage.issue += static_cast<double>((active + 31) / 32) / gpu.is.instructions_per_cycle;
    if (gpu.is.cc == 90) check_warpgroup(in);
    in.handler(*this, in, mask);
}

void Block::run(unsigned instructions) {
    for (unsigned i = 0; i < instructions && !done; ++i) {
        if (++executed_ > Gpu::kMostInstructions) fail("the kernel does not end");
        together_ ? run_together() : run_apart();
    }
}

void Block::run_together() {
    const Instruction& in = kernel.code.at(static_cast<std::size_t>(place_));
    unsigned active = threads;
    if (in.predicate >= 0) {
        const std::uint64_t* p = reg(in.predicate);
        active = 0;
        for (unsigned t = 0; t < threads; ++t) active += (p[t] != 0) != in.predicate_negated ? 1 : 0;
    }
    if (active == 0) {
        ++place_;
    } else if (active == threads) {
        switch (in.control) {
            case Control::exit:
                done = true;
                break;
            case Control::branch:
                gpu.usage(sm).issue += static_cast<double>((threads + 31) / 32) / gpu.is.instructions_per_cycle;
                place_ = in.target;
                break;
            case Control::barrier:
                ++place_;
                break;
            case Control::none:
                execute(in, nullptr, threads);
                ++place_;
        }
    } else if (in.control == Control::none) {
        mask_.assign(threads, 0);
        const std::uint64_t* p = reg(in.predicate);
        for (unsigned t = 0; t < threads; ++t) mask_[t] = (p[t] != 0) != in.predicate_negated ? 1 : 0;
        execute(in, mask_.data(), active);
        ++place_;
    } else {
        together_ = false;
        places_.assign(threads, place_);
        alive_.assign(threads, 1);
        waiting_.assign(threads, 0);
    }
}

void Block::run_apart() {
    int lowest = std::numeric_limits<int>::max();
    bool anyone = false;
    for (unsigned t = 0; t < threads; ++t) {
        anyone = anyone || alive_[t] != 0;
        if (alive_[t] != 0 && waiting_[t] == 0) lowest = std::min(lowest, places_[t]);
    }
    if (!anyone) {
        done = true;
        return;
    }
    if (lowest == std::numeric_limits<int>::max()) {  // all who live have reached the barrier
        for (unsigned t = 0; t < threads; ++t)
            if (alive_[t] != 0) waiting_[t] = 0, ++places_[t];
        rejoin();
        return;
    }
    const Instruction& in = kernel.code.at(static_cast<std::size_t>(lowest));
    mask_.assign(threads, 0);
    unsigned active = 0;
    for (unsigned t = 0; t < threads; ++t) {
        if (alive_[t] == 0 || waiting_[t] != 0 || places_[t] != lowest) continue;
        const bool goes = in.predicate < 0 || (reg(in.predicate)[t] != 0) != in.predicate_negated;
        mask_[t] = goes ? 1 : 0;
        active += goes ? 1 : 0;
        if (!goes) places_[t] = lowest + 1;
    }
    if (active != 0 && in.control == Control::none) execute(in, active == threads ? nullptr : mask_.data(), active);
    for (unsigned t = 0; t < threads; ++t) {
        if (mask_[t] == 0) continue;
        if (in.control == Control::exit)
            alive_[t] = 0;
        else if (in.control == Control::barrier)
            waiting_[t] = 1;
        else
            places_[t] = in.control == Control::branch ? in.target : lowest + 1;
    }
    rejoin();
}

void Block::rejoin() {
    for (unsigned t = 0; t < threads; ++t)
        if (alive_[t] == 0 || waiting_[t] != 0 || places_[t] != places_[0]) return;
    together_ = true;
    place_ = places_[0];
}

}  // namespace ptx
