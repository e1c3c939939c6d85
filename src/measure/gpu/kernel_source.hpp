// Micro-kernels as source text: what to define before which of the texts in src/measure/kernels.
// Invariant: the text depends on its arguments alone, so that what the tests compile and disassemble is what a GPU
// runs. Compiles nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <gambrel/machine.hpp>

#include "measure/device.hpp"
#include "measure/gpu/tensor_kernels.hpp"

namespace gambrel::measure_detail {

enum class Dialect : std::uint8_t { cuda, opencl };

// What the text depends on besides the probe.
struct Target {
    Dialect dialect = Dialect::cuda;
    ComputeCapability cc{};   // CUDA: what is compiled for
    bool accelerated = true;  // CUDA: with the instructions of the "a" of an architecture
    int compiler = 9999;      // CUDA: version of NVRTC, 100 * major + minor
    bool cpu = false;         // OpenCL on a CPU: one work-item a group, and vectors in it
    bool fp64 = true;         // OpenCL: extensions of the device
    bool fp16 = true;
    PerPipe<int> lanes{};                     // OpenCL: numbers in one REAL; CUDA's prelude knows its own
    int vec_words = 4;                        // 32-bit words in one memory access
    std::int64_t shared_bytes = 48LL * 1024;  // that one group may have
};

struct Shape {
    int threads = 1;
    int unroll = 1;
    int chains = 1;
    std::int64_t set_bytes = 0;  // kernels on shared memory: its size is part of the text
    bool operator==(const Shape&) const = default;
};

struct KernelSource {
    std::string text;
    std::string entry;
    int threads = 1;
};

// Numbers that one REAL of the pipe packs.
int lanes(const Target& target, Pipe pipe);

// "" if the target can do the arithmetic of this pipe with ordinary instructions, else why not.
std::string arithmetic_refusal(const Target& target, ProbeAction action, Pipe pipe);
Shape arithmetic_shape(const Target& target, int chains);  // chains 0: as many as are best
KernelSource arithmetic_source(const Target& target, ProbeAction action, Pipe pipe, const Shape& shape);

struct MemoryKernel {
    ProbeAction action = ProbeAction::load;  // load, store, copy, triad
    Pipe pipe = Pipe::fp32;                  // of the triad
    bool near = true;                        // through all caches, else past the L1
};
KernelSource memory_source(const Target& target, const MemoryKernel& kernel, const Shape& shape);
KernelSource shared_load_source(const Target& target, const Shape& shape);
// Words, or numbers of the pipe.
KernelSource fill_source(const Target& target, std::optional<Pipe> numbers, const Shape& shape);
// A line of 128 bytes holds one link, so that no step finds its line already fetched by the one before.
inline constexpr int kLinkWords = 32;
KernelSource chase_source(const Target& target, Level level, const Shape& shape);
KernelSource empty_source(const Target& target, const Shape& shape);

// `random`: operands with random signs and mantissas in the loop, which draw the power that real data does.
KernelSource tensor_source(const TensorKernel& kernel, bool random = false);
KernelSource matrix_fill_source(std::string_view operand, const Shape& shape);  // "OPERAND_FP16"

}  // namespace gambrel::measure_detail
