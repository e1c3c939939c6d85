// Which instruction reaches the Tensor Cores of which architecture, type by type: the table behind ProbeAction::mma.
// Invariant: a row's kernel computes what `flop_per_trip` and `expected_sum` say; the tests compile every row for its
// architectures and find its instruction in the machine code.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <gambrel/machine.hpp>

#include "measure/device.hpp"

namespace gambrel::measure_detail {

struct TensorKernel {
    Pipe pipe{};
    MatrixPath path{};
    int first_cc = 0, last_cc = 0;  // 10 * major + minor, both included
    int m = 0, n = 0, k = 0;
    int products = 1;          // that one instruction does: Volta's m8n8k4 does four
    std::string_view define;   // picks the instruction in the kernel's text
    std::string_view operand;  // picks the packed constants
    int threads = 256, groups_per_unit = 2;
    int chains = 4, unroll = 8;
    MatrixVariant variant = MatrixVariant::usual;
    bool accelerated = false;  // needs the architecture with an "a": no other GPU runs it
    int least_compiler = 0;    // 100 * major + minor of the first NVRTC that has it; 0: all that have the architecture
};

std::span<const TensorKernel> tensor_kernels();
Probe probe_of(const TensorKernel& row);  // by which find_tensor_kernel finds it

// The row for the pipe and variant on this architecture by `path`; `automatic` takes the strongest path there is.
// A shape other than zeros must be that of the row. Without `accelerated`, rows that need the "a" are skipped.
const TensorKernel* find_tensor_kernel(const Probe& probe, ComputeCapability cc, bool accelerated);
std::string tensor_refusal(const Probe& probe, ComputeCapability cc);  // why find_tensor_kernel found none

double flop_per_trip(const TensorKernel& kernel);             // of one group
double expected_sum(const TensorKernel& kernel, int thread);  // what a thread leaves in `out`

}  // namespace gambrel::measure_detail
