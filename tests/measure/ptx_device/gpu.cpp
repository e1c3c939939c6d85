#include "gpu.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "block.hpp"

namespace ptx {

Cache::Cache(int bytes)
    : sets_(std::max<std::size_t>(1, static_cast<std::size_t>(bytes) / 128 / kWays)),
      tags_(sets_ * kWays, ~std::uint64_t{0}),
      ages_(sets_ * kWays, 0) {}

bool Cache::touch(std::uint64_t line) {
    // The set is the line's number modulo the sets, turned by the number above it: a whole range fills sets evenly.
    const std::uint64_t above = line / sets_;
    const std::size_t set = static_cast<std::size_t>((line - above * sets_ + above * 7) % sets_) * kWays;
    ++now_;
    std::size_t victim = set;
    for (std::size_t i = set; i < set + kWays; ++i) {
        if (tags_[i] == line) return ages_[i] = now_, true;
        if (ages_[i] < ages_[victim]) victim = i;
    }
    tags_[victim] = line;
    ages_[victim] = now_;
    return false;
}

std::uint64_t Gpu::allocate(std::size_t bytes) {
    if (used_ + bytes > is.memory_bytes) return 0;
    void* memory = std::aligned_alloc(512, (bytes + 511) / 512 * 512);
    if (memory == nullptr) return 0;
    std::memset(memory, 0xcd, bytes);
    const auto address = reinterpret_cast<std::uint64_t>(memory);
    memory_[address] = bytes;
    used_ += bytes;
    return address;
}

void Gpu::release(std::uint64_t address) {
    const auto it = memory_.find(address);
    if (it == memory_.end()) return;
    used_ -= it->second;
    last_first_ = 1, last_end_ = 0;
    memory_.erase(it);
    std::free(reinterpret_cast<void*>(address));
}

void Gpu::copied_in(std::uint64_t to, std::size_t bytes) {
    for (std::uint64_t line = to / 128; line <= (to + bytes - 1) / 128; ++line) l2_.touch(line);
}

void Gpu::check(std::uint64_t from, std::uint64_t to, const Instruction& by) const {
    if (from >= last_first_ && to <= last_end_) return;
    auto it = memory_.upper_bound(from);
    if (it == memory_.begin()) fail("an illegal address in " + by.text);
    --it;
    if (to > it->first + it->second) fail("an address out of bounds in " + by.text);
    last_first_ = it->first, last_end_ = it->first + it->second;
}

void Gpu::access(int sm, std::uint64_t line, bool near, double& latency) {
    if (near && l1_[static_cast<std::size_t>(sm)].touch(line)) {
        latency = std::max<double>(latency, is.l1_latency);
        return;
    }
    l2_moved_ += 128;
    const bool hit = l2_.touch(line);
    if (!hit) dram_moved_ += 128;
    latency = std::max<double>(latency, hit ? is.l2_latency : is.dram_latency);
}

double Gpu::cycles() const {
    double most = std::max(l2_moved_ / is.l2_bytes_per_cycle, dram_moved_ / is.dram_bytes_per_cycle);
    for (const Usage& u : usage_) most = std::max({most, u.issue, u.l1, u.shared, u.tensor, u.latency});
    return most;
}

double Gpu::launch(const Kernel& kernel, unsigned groups, unsigned threads, void** arguments) {
    if (threads > kernel.max_threads) fail("more threads than the kernel's launch bounds");
    l1_.assign(static_cast<std::size_t>(is.sms), Cache(is.l1_bytes));
    usage_.assign(static_cast<std::size_t>(is.sms), {});
    l2_moved_ = dram_moved_ = 0;
    std::vector<std::uint8_t> parameters(static_cast<std::size_t>(kernel.parameter_bytes) + 8);
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i)
        std::memcpy(parameters.data() + kernel.parameters[i].offset, arguments[i],
                    static_cast<std::size_t>(kernel.parameters[i].size));
    std::vector<Block> blocks;
    blocks.reserve(groups);
    for (unsigned g = 0; g < groups; ++g) blocks.emplace_back(*this, kernel, g, groups, threads, parameters);
    constexpr unsigned kTurn = 64;  // instructions of a block before the next one's
    for (bool busy = true; busy;) {
        busy = false;
        for (Block& b : blocks) {
            if (b.done) continue;
            b.run(kTurn);
            busy = busy || !b.done;
        }
    }
    for (const Block& b : blocks)
        if (b.tensor.columns != 0) fail("tensor memory was not given back by the end of the kernel");
    const double seconds = cycles() / is.clock + is.launch_seconds;
    elapsed_ += seconds;
    for (const Usage& u : usage_) moved.l1 += u.l1 * is.l1_bytes_per_cycle;
    moved.l2 += l2_moved_, moved.dram += dram_moved_, ++moved.launches;
    usage_.clear();
    l2_moved_ = dram_moved_ = 0;
    return seconds;
}

}  // namespace ptx
