// The GPU that runs the kernels: its memory, its caches and a clock that counts throughput. The time of a launch is the
// busiest resource's; nothing overlaps worse than that. Latency counts only for a block of one thread, which waits for
// every load.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernel.hpp"

namespace ptx {

// What a test knows to be true of the GPU. Rates are per cycle, of one SM or of all.
struct Description {
    int cc = 80;
    int sms = 2;
    double clock = 4e6;  // Hz: slow, so that a sample of a millisecond is a few thousand cycles
    double launch_seconds = 2e-6;
    int l1_bytes = 128 * 1024, l2_bytes = 2 << 20, shared_bytes = 100 * 1024;
    double l1_bytes_per_cycle = 128;    // of an SM, and the same for shared memory
    double l2_bytes_per_cycle = 128;    // of all
    double dram_bytes_per_cycle = 32;   // of all
    double products_per_cycle = 1024;   // multiply-adds of 16-bit matrices on an SM
    double instructions_per_cycle = 4;  // warps that an SM issues
    int l1_latency = 33, l2_latency = 210, dram_latency = 500, shared_latency = 23;
    std::size_t memory_bytes = std::size_t{2} << 30;
    bool cuts_fp8 = false;  // adds FP8 products with 13 bits, as Hopper does
    bool crowded = false;   // the first two groups share an SM, as beside another program

    double fma_per_cycle() const { return 32 * instructions_per_cycle; }
};

// Lines of 128 bytes, 16 ways, least recently used; sets by a hash, so that no stride is special.
class Cache {
public:
    explicit Cache(int bytes);
    bool touch(std::uint64_t line);  // true: it was there

private:
    static constexpr std::size_t kWays = 16;
    std::size_t sets_;
    std::vector<std::uint64_t> tags_;
    std::vector<std::uint64_t> ages_;
    std::uint64_t now_ = 0;
};

class Gpu {
public:
    explicit Gpu(const Description& description) : is(description), l2_(description.l2_bytes) {}

    const Description is;

    std::uint64_t allocate(std::size_t bytes);  // 0: out of memory
    void release(std::uint64_t address);
    void copied_in(std::uint64_t to, std::size_t bytes);  // through the L2
    void check(std::uint64_t from, std::uint64_t to, const Instruction& by) const;

    // Runs the kernel to its end; seconds of the device. Throws a Fault for whatever a GPU would not do.
    double launch(const Kernel& kernel, unsigned groups, unsigned threads, void** arguments);

    // Counted by instructions as they run.
    struct Usage {
        double issue = 0, l1 = 0, shared = 0, tensor = 0, latency = 0;
    };
    // What launches moved since someone set it to zero.
    struct Moved {
        double l1 = 0, l2 = 0, dram = 0;
        int launches = 0;
    };
    Moved moved;
    Usage& usage(int sm) { return usage_[static_cast<std::size_t>(sm)]; }
    void access(int sm, std::uint64_t line, bool near, double& latency);
    [[nodiscard]] double cycles() const;  // since the launch
    [[nodiscard]] double seconds() const { return elapsed_ + cycles() / is.clock; }

    // Registers of blocks that have ended, for the next: megabytes that the system would have to clear at each launch.
    std::vector<std::vector<std::uint64_t>> spare_registers;

    // An instruction budget for each block, after which a launch counts as hung.
    static constexpr std::uint64_t kMostInstructions = 400'000'000;

private:
    std::map<std::uint64_t, std::size_t> memory_;
    mutable std::uint64_t last_first_ = 1, last_end_ = 0;  // the allocation that was accessed last
    std::size_t used_ = 0;
    Cache l2_;
    std::vector<Cache> l1_;  // of each SM, empty at the start of every kernel
    std::vector<Usage> usage_;
    double l2_moved_ = 0, dram_moved_ = 0, elapsed_ = 0;
};

Gpu* current_gpu();  // that cuInit made

}  // namespace ptx
