// Would the proofs notice a broken kernel? Each mutant changes one thing in a kernel's text; its sum must not be right,
// or the GPU must refuse it. These are tests of the tests in ptx_kernels_test.cpp.
#include <iostream>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "measure/cuda/cuda_api.hpp"
#include "measure/cuda/nvrtc.hpp"
#include "measure/gpu/kernel_source.hpp"
#include "ptx_gpu.hpp"

namespace gambrel::measure_detail {
namespace {

struct Mutant {
    int cc;
    const char* architecture;
    const char* kernel;  // TensorKernel::define
    const char* what;
    const char* old_text;
    const char* new_text;
    bool random = false;  // with random operands
};

constexpr Mutant kMutants[] = {
    {90, "sm_90a", "WGMMA_FP16", "no fence.proxy.async",
     "asm volatile(\"fence.proxy.async;\" ::: \"memory\");\n    __syncthreads();\n    const",
     "__syncthreads();\n    const"},
    {90, "sm_90a", "WGMMA_FP16", "no fence.proxy.async before the last product",
     "asm volatile(\"fence.proxy.async;\" ::: \"memory\");\n    __syncthreads();\n    begin",
     "__syncthreads();\n    begin"},
    {90, "sm_90a", "WGMMA_FP16", "no wgmma.fence", "asm volatile(\"wgmma.fence.sync.aligned;\" ::: \"memory\");", ""},
    {90, "sm_90a", "WGMMA_FP16", "a wait that leaves one group", "wait_group.sync.aligned 0",
     "wait_group.sync.aligned 1"},
    {90, "sm_90a", "WGMMA_FP16", "A is not negated", "\", p, -1, 1, 0, 0;}\"", "\", p, 1, 1, 0, 0;}\""},
    {90, "sm_90a", "WGMMA_FP16", "B half as large", "#define B_BYTES (256 * ROW_BYTES)",
     "#define B_BYTES (128 * ROW_BYTES)"},
    {90, "sm_90a", "WGMMA_FP16", "offsets along k and along the rows swapped",
     "(ulong64)(128 >> 4) << 16) | ((ulong64)(8 * ROW_BYTES >> 4) << 32)",
     "(ulong64)(8 * ROW_BYTES >> 4) << 16) | ((ulong64)(128 >> 4) << 32)"},
    {90, "sm_90a", "WGMMA_TF32", "another constant", "#define PACKED_1_5 0x3fc00000u",
     "#define PACKED_1_5 0x3fe00000u"},
    {90, "sm_90a", "WGMMA_INT8", "wrong INT8 constant", "PACKED_1_5 0x03030303u", "PACKED_1_5 0x02020202u"},
    {90, "sm_90a", "WGMMA_INT8", "the second A is not the negative", "a_set[1][i] = negated(a_set[0][i], i);",
     "a_set[1][i] = a_set[0][i];"},
    {100, "sm_100a", "TCGEN05_FP16", "descriptor version 0", "operand_descriptor(a_set[2], 1)",
     "operand_descriptor(a_set[2], 0)"},
    {100, "sm_100a", "TCGEN05_FP16", "offsets along k and along the rows swapped",
     "(ulong64)(128 >> 4) << 16) | ((ulong64)(8 * ROW_BYTES >> 4) << 32)",
     "(ulong64)(8 * ROW_BYTES >> 4) << 16) | ((ulong64)(128 >> 4) << 32)"},
    {100, "sm_100a", "TCGEN05_BF16", "BF16 described as FP16",
     "#define TYPES ((1u << 7) | (1u << 10))\n#elif defined(TCGEN05_TF32)",
     "#define TYPES 0u\n#elif defined(TCGEN05_TF32)"},
    {100, "sm_100a", "TCGEN05_FP8", "N in the wrong bits", "((COLUMNS / 8u) << 17)", "((COLUMNS / 8u) << 16)"},
    {100, "sm_100a", "TCGEN05_FP4", "scales described as UE4M3", "(1u << 23)", "0u"},
    {100, "sm_100a", "TCGEN05_FP4", "scales of 2", "0x7f7f7f7fu", "0x80808080u"},
    {100, "sm_100a", "TCGEN05_FP4", "scales of four columns only", "column < 32", "column < 4"},
    {100, "sm_100a", "TCGEN05_FP4", "A negated by the descriptor",
     "#if defined(INTEGER) || defined(SCALED)\n#define NEGATED_SHAPE SHAPE",
     "#if defined(INTEGER) || defined(SCALED)\n#define NEGATED_SHAPE (SHAPE | (1u << 13))"},
    {100, "sm_100a", "TCGEN05_FP16", "lanes of another warp", "(warp * 32u) << 16", "(warp * 16u) << 16"},
    {100, "sm_100a", "TCGEN05_FP16", "tensor memory is not given back", "if (warp == 0) asm volatile(\"tcgen05.dealloc",
     "if (warp == 9) asm volatile(\"tcgen05.dealloc"},
    {100, "sm_100a", "TCGEN05_FP16", "no fence.proxy.async", "fence.proxy.async;\\n", ""},
    {100, "sm_100a", "TCGEN05_FP16", "parity of the second wait", "wait_for_products(barrier, 1)",
     "wait_for_products(barrier, 0)"},
    {100, "sm_100a", "TCGEN05_FP16", "parity of the third wait", "ended = all && wait_for_products(barrier, 0)",
     "ended = all && wait_for_products(barrier, 1)"},
    {100, "sm_100a", "TCGEN05_INT8", "INT8 negated by the descriptor",
     "#if defined(INTEGER) || defined(SCALED)\n#define NEGATED_SHAPE SHAPE",
     "#if defined(INTEGER) || defined(SCALED)\n#define NEGATED_SHAPE (SHAPE | (1u << 13))"},
    {80, "sm_80", "MMA_FP16_M16N8K16", "A is not negated", "? minus : plus", "? plus : plus"},
    {80, "sm_80", "MMA_FP16_M16N8K16", "no last product", "mma(d[c], plus, b);\n        UNROLLED", "UNROLLED"},
    {80, "sm_80", "MMA_FP16_M16N8K16", "rows of the constant A swapped", "#define ROW_OF_LANE (lane / 4u)",
     "#define ROW_OF_LANE (lane / 4u + 1u)"},
    {120, "sm_120a", "MMA_FP6_M16N8K32", "E3M2 in the upper six bits", "#define PACKED_1 0x0c0c0c0cu",
     "#define PACKED_1 0x30303030u"},
    {120, "sm_120a", "MMA_FP4_M16N8K64", "scales of 2", "\"r\"(0x7f7f7f7fu)", "\"r\"(0x80808080u)"},
    {100, "sm_100a", "TCGEN05_FP6", "words that begin within other numbers", "((i & 3u) * 2u)", "((i & 3u) * 4u)"},
    {100, "sm_100a", "TCGEN05_FP6", "described as FP8", "#define TYPES ((4u << 7) | (4u << 10))", "#define TYPES 0u"},
    {100, "sm_100a", "TCGEN05_NVFP4", "scales of 2", "0x38383838u", "0x40404040u"},
    {100, "sm_100a", "TCGEN05_NVFP4", "scales described as UE8M0", "#define SCALE_TYPE 0u",
     "#define SCALE_TYPE (1u << 23)"},
    {103, "sm_103a", "TCGEN05_FP4_K96", "described with depth 64", "#define DEPTH_BIT (1u << 31)",
     "#define DEPTH_BIT 0u"},
    {103, "sm_103a", "TCGEN05_FP4_K96", "rows of 32 bytes", "#define ROW_BYTES 48", "#define ROW_BYTES 32"},
    {90, "sm_90a", "MMA_FP64_M16N8K16", "A is not negated", "? minus : plus", "? plus : plus"},
    // Nothing changed: the harness itself must find these right.
    {80, "sm_80", "MMA_FP16_M16N8K16", "", "", ""},
    {90, "sm_90a", "WGMMA_FP16", "", "", ""},
    {100, "sm_100a", "TCGEN05_FP4", "", "", ""},
    {103, "sm_103a", "TCGEN05_FP4_K96", "", "", ""},
    {80, "sm_80", "MMA_FP16_ACC16_M16N8K16", "", "", "", true},
};

class PtxMutants : public PtxGpu {
protected:
    // "" if every thread left the sum that the row expects, else what went wrong.
    static std::string outcome(const TensorKernel& row, const KernelSource& source, const char* architecture) {
        const auto api = open_cuda();
        const auto compiler = Nvrtc::open();
        if (!api || !compiler) return "harness";
        const auto binary = (*compiler)->compile(source, architecture);
        if (!binary) return "does not compile";
        const CudaApi& cuda = **api;
        CuModule module = nullptr;
        CuFunction function = nullptr;
        if (cuda.cuModuleLoadData(&module, binary->image.c_str()) != 0) return "is not loaded";
        if (cuda.cuModuleGetFunction(&function, module, source.entry.c_str()) != 0) return "harness";
        const auto threads = static_cast<unsigned>(row.threads);
        CuPointer out = 0, times = 0;
        cuda.cuMemAlloc(&out, threads * sizeof(double));
        cuda.cuMemAlloc(&times, 3 * sizeof(std::uint64_t));
        unsigned zero = 0, rounds = 2;
        void* arguments[] = {&out, &times, &zero, &rounds};
        cuda.cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, nullptr, arguments, nullptr);
        std::vector<double> sums(threads);
        const CuResult code = cuda.cuMemcpyDtoH(sums.data(), out, threads * sizeof(double));
        cuda.cuModuleUnload(module);
        if (code != 0) return cuda_error(cuda, code);
        for (unsigned t = 0; t < threads; ++t)
            if (const double expected = expected_sum(row, static_cast<int>(t)); sums[t] != expected)
                return fmt::format("thread {} leaves {}, expected {}", t, sums[t], expected);
        return "";
    }
};

TEST_F(PtxMutants, all_are_caught_and_what_was_not_changed_is_right) {
    if (IsSkipped()) return;
    set("PTX_SMS", 1);
    int caught = 0, mutants = 0;
    for (const Mutant& mutant : kMutants) {
        set("PTX_CC", mutant.cc);
        const TensorKernel* row = nullptr;
        for (const TensorKernel& r : tensor_kernels())
            if (r.define == mutant.kernel && mutant.cc >= r.first_cc && mutant.cc <= r.last_cc) row = &r;
        ASSERT_NE(row, nullptr) << mutant.kernel;
        KernelSource source = tensor_source(*row, mutant.random);
        const std::string what = mutant.what;
        if (!what.empty()) {
            const std::string old_text = mutant.old_text, new_text = mutant.new_text;
            auto at = source.text.find(old_text);
            ASSERT_NE(at, std::string::npos) << mutant.kernel << ", " << what << ": the text to change is not there";
            for (; at != std::string::npos; at = source.text.find(old_text, at + new_text.size()))
                source.text.replace(at, old_text.size(), new_text);
        }
        const std::string found = outcome(*row, source, mutant.architecture);
        ASSERT_NE(found, "harness");
        if (what.empty()) {
            EXPECT_EQ(found, "") << mutant.kernel;
            continue;
        }
        ++mutants;
        caught += found.empty() ? 0 : 1;
        EXPECT_NE(found, "") << mutant.kernel << ", " << what << ": not noticed";
    }
    std::cout << fmt::format("{} of {} broken kernels were caught\n", caught, mutants);
}

}  // namespace
}  // namespace gambrel::measure_detail
