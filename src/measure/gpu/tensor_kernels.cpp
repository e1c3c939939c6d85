#include "measure/gpu/tensor_kernels.hpp"

#include <array>

#include <fmt/format.h>

namespace gambrel::measure_detail {

namespace {

using enum MatrixPath;

// FP64 rows only where the matrix unit has FP64: cc 8.6, 8.9 and 12.x run its instruction on the ordinary FP64 pipe.
// FP8 by mma.sync is emulated with FP16 instructions on cc 9.0 and 10.x (seen in the machine code), so there it has no
// row.
constexpr TensorKernel warp_row(Pipe pipe, int first_cc, int last_cc, int m, int n, int k, std::string_view define,
                                std::string_view operand) {
    TensorKernel row;
    row.pipe = pipe;
    row.path = warp;
    row.first_cc = first_cc;
    row.last_cc = last_cc;
    row.m = m;
    row.n = n;
    row.k = k;
    row.define = define;
    row.operand = operand;
    return row;
}
constexpr TensorKernel volta(Pipe pipe, std::string_view define) {
    TensorKernel row = warp_row(pipe, 70, 74, 8, 8, 4, define, "OPERAND_FP16");
    row.products = 4;
    return row;
}
constexpr TensorKernel accelerated(TensorKernel row) {
    row.accelerated = true;
    return row;
}
// Two warpgroups, so that one computes while the other starts; 128 accumulator registers a thread leave no room for
// more.
constexpr TensorKernel warpgroup_row(Pipe pipe, int k, std::string_view define, std::string_view operand) {
    TensorKernel row = accelerated(warp_row(pipe, 90, 90, 64, 256, k, define, operand));
    row.path = warpgroup;
    row.groups_per_unit = 1;
    row.chains = 1;
    return row;
}
constexpr TensorKernel tcgen05_row(Pipe pipe, int last_cc, int k, std::string_view define, std::string_view operand,
                                   int chains = 2) {
    TensorKernel row = accelerated(warp_row(pipe, 100, last_cc, 128, 256, k, define, operand));
    row.path = tensor_memory;
    row.threads = 128;
    row.groups_per_unit = 1;
    row.chains = chains;
    return row;
}

constexpr TensorKernel variant(MatrixVariant which, TensorKernel row) {
    row.variant = which;
    return row;
}
// Operands of many registers leave room for few chains; one more would spill.
constexpr TensorKernel with_chains(int chains, TensorKernel row) {
    row.chains = chains;
    return row;
}
constexpr TensorKernel since_cc(int first_cc, TensorKernel row) {
    row.first_cc = first_cc;
    return row;
}
constexpr TensorKernel since_compiler(int version, TensorKernel row) {
    row.least_compiler = version;
    return row;
}

constexpr int kLatest = 999;
constexpr std::array kRows{
    volta(Pipe::tensor_fp16, "MMA_FP16_M8N8K4"),
    volta(Pipe::tensor_fp16_acc16, "MMA_FP16_ACC16_M8N8K4"),
    warp_row(Pipe::tensor_fp16, 75, 79, 16, 8, 8, "MMA_FP16_M16N8K8", "OPERAND_FP16"),
    warp_row(Pipe::tensor_fp16_acc16, 75, 79, 16, 8, 8, "MMA_FP16_ACC16_M16N8K8", "OPERAND_FP16"),
    warp_row(Pipe::tensor_int8, 75, 79, 8, 8, 16, "MMA_INT8_M8N8K16", "OPERAND_INT8"),
    warp_row(Pipe::tensor_fp16, 80, kLatest, 16, 8, 16, "MMA_FP16_M16N8K16", "OPERAND_FP16"),
    warp_row(Pipe::tensor_fp16_acc16, 80, kLatest, 16, 8, 16, "MMA_FP16_ACC16_M16N8K16", "OPERAND_FP16"),
    warp_row(Pipe::tensor_bf16, 80, kLatest, 16, 8, 16, "MMA_BF16_M16N8K16", "OPERAND_BF16"),
    warp_row(Pipe::tensor_tf32, 80, kLatest, 16, 8, 8, "MMA_TF32_M16N8K8", "OPERAND_TF32"),
    warp_row(Pipe::tensor_int8, 80, kLatest, 16, 8, 32, "MMA_INT8_M16N8K32", "OPERAND_INT8"),
    warp_row(Pipe::tensor_fp64, 80, 80, 8, 8, 4, "MMA_FP64_M8N8K4", "OPERAND_FP64"),
    warp_row(Pipe::tensor_fp64, 90, 90, 16, 8, 8, "MMA_FP64_M16N8K8", "OPERAND_FP64"),
    variant(MatrixVariant::k4, warp_row(Pipe::tensor_fp64, 90, 90, 16, 8, 4, "MMA_FP64_M16N8K4", "OPERAND_FP64")),
    variant(MatrixVariant::k16,
            with_chains(2, warp_row(Pipe::tensor_fp64, 90, 90, 16, 8, 16, "MMA_FP64_M16N8K16", "OPERAND_FP64"))),
    warp_row(Pipe::tensor_fp64, 100, 100, 8, 8, 4, "MMA_FP64_M8N8K4", "OPERAND_FP64"),
    since_compiler(1204, warp_row(Pipe::tensor_fp8, 89, 89, 16, 8, 32, "MMA_FP8_M16N8K32", "OPERAND_FP8")),
    since_compiler(1208, warp_row(Pipe::tensor_fp8_acc16, 89, 89, 16, 8, 32, "MMA_FP8_ACC16_M16N8K32", "OPERAND_FP8")),
    warp_row(Pipe::tensor_fp8, 120, 129, 16, 8, 32, "MMA_FP8_M16N8K32", "OPERAND_FP8"),
    warp_row(Pipe::tensor_fp8_acc16, 120, 129, 16, 8, 32, "MMA_FP8_ACC16_M16N8K32", "OPERAND_FP8"),
    accelerated(warp_row(Pipe::tensor_fp6, 120, 129, 16, 8, 32, "MMA_FP6_M16N8K32", "OPERAND_FP6")),
    accelerated(warp_row(Pipe::tensor_fp4, 120, 129, 16, 8, 64, "MMA_FP4_M16N8K64", "OPERAND_FP4")),
    warpgroup_row(Pipe::tensor_fp16, 16, "WGMMA_FP16", "OPERAND_FP16"),
    warpgroup_row(Pipe::tensor_bf16, 16, "WGMMA_BF16", "OPERAND_BF16"),
    warpgroup_row(Pipe::tensor_tf32, 8, "WGMMA_TF32", "OPERAND_TF32"),
    warpgroup_row(Pipe::tensor_fp8, 32, "WGMMA_FP8", "OPERAND_FP8"),
    warpgroup_row(Pipe::tensor_int8, 32, "WGMMA_INT8", "OPERAND_INT8"),
    tcgen05_row(Pipe::tensor_fp16, 119, 16, "TCGEN05_FP16", "OPERAND_FP16"),
    tcgen05_row(Pipe::tensor_bf16, 119, 16, "TCGEN05_BF16", "OPERAND_BF16"),
    tcgen05_row(Pipe::tensor_tf32, 119, 8, "TCGEN05_TF32", "OPERAND_TF32"),
    tcgen05_row(Pipe::tensor_fp8, 119, 32, "TCGEN05_FP8", "OPERAND_FP8"),
    // cc 10.3 dropped INT8 from tcgen05, 11.0 has it.
    tcgen05_row(Pipe::tensor_int8, 102, 32, "TCGEN05_INT8", "OPERAND_INT8"),
    since_cc(110, tcgen05_row(Pipe::tensor_int8, 110, 32, "TCGEN05_INT8", "OPERAND_INT8")),
    tcgen05_row(Pipe::tensor_fp6, 119, 32, "TCGEN05_FP6", "OPERAND_FP6_PACKED"),
    // Scales of FP4 need the tensor memory of the second accumulator. Only depth 96 reaches the peak of cc 10.3.
    tcgen05_row(Pipe::tensor_fp4, 119, 64, "TCGEN05_FP4", "OPERAND_FP4", 1),
    variant(MatrixVariant::nvfp4, tcgen05_row(Pipe::tensor_fp4, 119, 64, "TCGEN05_NVFP4", "OPERAND_FP4", 1)),
    since_cc(103,
             variant(MatrixVariant::k96, tcgen05_row(Pipe::tensor_fp4, 103, 96, "TCGEN05_FP4_K96", "OPERAND_FP4", 1))),
};

bool fits(const TensorKernel& row, const Probe& probe, int cc) {
    const bool shape =
        probe.shape_m == 0 || (probe.shape_m == row.m && probe.shape_n == row.n && probe.shape_k == row.k);
    return row.pipe == probe.pipe && row.variant == probe.variant && cc >= row.first_cc && cc <= row.last_cc && shape &&
           (probe.matrix == automatic || probe.matrix == row.path);
}

}  // namespace

std::span<const TensorKernel> tensor_kernels() { return kRows; }

Probe probe_of(const TensorKernel& row) {
    return {.action = ProbeAction::mma, .pipe = row.pipe, .matrix = row.path, .variant = row.variant};
}

const TensorKernel* find_tensor_kernel(const Probe& probe, ComputeCapability cc, bool with_accelerated) {
    const TensorKernel* best = nullptr;
    for (const TensorKernel& row : kRows) {
        if (row.accelerated && !with_accelerated) continue;
        if (fits(row, probe, cc.major * 10 + cc.minor) && (best == nullptr || row.path > best->path)) best = &row;
    }
    return best;
}

std::string tensor_refusal(const Probe& probe, ComputeCapability cc) {
    if (!is_tensor(probe.pipe)) return fmt::format("{} is not a Tensor Core pipe", title(probe.pipe));
    if (probe.matrix == library) return "the library is asked with a gemm probe";
    // The same words for every type: a report lists all that share a reason in one sentence.
    return fmt::format("compute capability {} has no such instruction", to_text(cc));
}

double flop_per_trip(const TensorKernel& row) {
    const double product = 2.0 * row.m * row.n * row.k * row.products;
    const int issuers = row.path == warp ? row.threads / 32 : row.path == warpgroup ? row.threads / 128 : 1;
    return product * issuers * row.chains * row.unroll;
}

double expected_sum(const TensorKernel& row, int thread) {
    // One product of the proof's matrices adds 1.5 * 2 in each of k steps in even rows of D, 1 * 2 in odd ones; INT8
    // has 3 * 1 and 1 * 1. See tensor_operands.cu.
    const double even = 3.0 * row.k, odd = (row.operand == "OPERAND_INT8" ? 1.0 : 2.0) * row.k;
    if (row.path == tensor_memory) return 256.0 * row.chains * 2 * (thread / 8 % 2 == 0 ? even : odd);
    if (row.path == warpgroup) return 64 * (1 + even) + 2 * 64 * (1 + odd);
    const int lane = thread % 32, values = row.m * row.n * row.products / 32;
    const bool is_even = (row.products == 4 ? lane : lane / 4) % 2 == 0;
    double sum = 0;
    for (int chain = 0; chain < row.chains; ++chain) sum += values * ((1 << (chain & 3)) + (is_even ? even : odd));
    return sum;
}

}  // namespace gambrel::measure_detail
