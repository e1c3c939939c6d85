// One group of threads while it runs: registers, shared memory, and the state that the rules of asynchronous matrix
// instructions are checked against. Threads run in lockstep by lowest program counter.
#pragma once

#include "gpu.hpp"

namespace ptx {

struct Barrier {  // an mbarrier
    int expected = 0, pending = 0;
    std::uint64_t phase = 0;
};

// wgmma: which registers belong to products that are not finished, and what was written since the last fence.
struct WarpgroupState {
    std::vector<std::uint64_t> written;     // by register: when
    std::vector<std::uint32_t> unfinished;  // by register: the group of products it belongs to
    std::uint64_t now = 1, fenced = 0;
    std::uint32_t open_group = 1, finished_group = 0;
};

// tcgen05: the tensor memory of the SM.
struct TensorMemory {
    static constexpr std::uint32_t kColumns = 512, kLanes = 128;
    std::vector<std::uint32_t> cells;  // lane by lane
    std::uint32_t columns = 0;         // allocated
    bool may_allocate = true;
    int uncommitted = 0, unwaited = 0;  // products
    std::uint32_t& at(std::uint32_t lane, std::uint32_t column) { return cells[lane * kColumns + column]; }
};

struct Block {
    Block(Gpu& on, const Kernel& of, unsigned number, unsigned groups, unsigned thread_count,
          const std::vector<std::uint8_t>& arguments);
    Block(Block&&) = default;
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;
    Block& operator=(Block&&) = delete;
    ~Block();

    void run(unsigned instructions);

    std::uint64_t* reg(int number) { return registers.data() + static_cast<std::size_t>(number) * threads; }
    // The bytes of a shared address.
    std::uint8_t* shared_at(std::uint64_t address, std::size_t bytes, const Instruction& by);
    // Address of a memory operand, for one thread.
    [[nodiscard]] std::uint64_t address(const Operand& memory, unsigned thread) const;

    Gpu& gpu;
    const Kernel& kernel;
    unsigned id, grid, threads;
    int sm;
    std::vector<std::uint64_t> registers;
    std::vector<std::uint8_t> shared, parameters;
    // Shared memory that a thread wrote and no fence has shown to the matrix units yet.
    std::vector<std::uint8_t> unfenced;
    std::map<std::uint32_t, Barrier> barriers;
    WarpgroupState warpgroup;
    TensorMemory tensor;
    bool done = false;

private:
    void execute(const Instruction& in, const std::uint8_t* mask, unsigned active);
    void run_together();
    void run_apart();
    void rejoin();
    void check_warpgroup(const Instruction& in);

    bool together_ = true;  // all threads are at the same place
    int place_ = 0;
    std::vector<int> places_;
    std::vector<std::uint8_t> alive_, waiting_, mask_;
    std::uint64_t executed_ = 0;
};

// A source operand as a pointer with a stride of 0 or 1 over threads. `scratch` must outlive it.
struct Source {
    const std::uint64_t* values;
    std::size_t stride;
    std::uint64_t operator[](unsigned thread) const { return values[thread * stride]; }
};
struct Scratch {
    std::uint64_t one = 0;
    std::vector<std::uint64_t> many;
};
Source source(Block& block, const Operand& operand, int width, Scratch& scratch);
inline std::uint64_t value_at(Block& block, const Operand& operand, int width, unsigned thread) {
    Scratch scratch;
    return source(block, operand, width, scratch)[thread];
}

template <class Visit>
void each_thread(const Block& block, const std::uint8_t* mask, Visit visit) {
    if (mask == nullptr)
        for (unsigned t = 0; t < block.threads; ++t) visit(t);
    else
        for (unsigned t = 0; t < block.threads; ++t)
            if (mask[t] != 0) visit(t);
}

// For .aligned instructions: every warp takes part as a whole or not at all.
void check_whole_warps(const Block& block, const Instruction& in, const std::uint8_t* mask);
// The first thread that takes part, and how many do.
struct Participants {
    unsigned first = 0, count = 0;
};
Participants participants(const Block& block, const std::uint8_t* mask);

}  // namespace ptx
