// Does every CUDA kernel compile for every architecture, and does its machine code hold the intended instructions and
// no others? No GPU is needed: NVRTC compiles, nvdisasm shows (tools/fetch_nvidia.sh brings both).
#include <charconv>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "machine_code.hpp"
#include "measure/cuda/gemm.hpp"
#include "measure/cuda/nvrtc.hpp"
#include "measure/gpu/kernel_source.hpp"

namespace gambrel::measure_detail {
namespace {

struct Expectation {
    std::string what;  // "FP32 FMA"
    KernelSource source;
    std::string instruction;       // regular expression; "": only that it compiles
    std::size_t count = 0;         // of them in the hot loop
    std::size_t overhead = 0;      // other instructions that the loop may have: counting, addresses, sums
    std::string memory = {};       // regular expression of all memory accesses that the loop may have
    std::size_t memory_count = 0;  // how many there must be
};

Target target_for(const std::string& architecture) {
    Target target;
    int number = 0;
    std::from_chars(architecture.data(), architecture.data() + architecture.size(), number);
    target.cc = {number / 10, number % 10};
    target.accelerated = architecture.ends_with('a');
    return target;
}

std::string arithmetic_instruction(ProbeAction action, Pipe pipe) {
    const std::string kind = action == ProbeAction::fma ? "FMA" : action == ProbeAction::add ? "ADD" : "MUL";
    switch (pipe) {
        case Pipe::fp64:
            return "^D" + kind + "$";
        case Pipe::fp32:
            return "^F" + kind + "$";
        case Pipe::fp16:
            return "^HFMA2(\\.MMA)?$";
        case Pipe::bf16:
            return "^HFMA2(\\.MMA)?\\.BF16";
        default:
            return "^IMAD(\\.U32)?$";
    }
}

void add_arithmetic(const Target& target, std::vector<Expectation>& all) {
    const Shape shape = arithmetic_shape(target, 0);
    for (const Pipe pipe : {Pipe::fp64, Pipe::fp32, Pipe::fp16, Pipe::bf16, Pipe::int32})
        for (const ProbeAction action : {ProbeAction::fma, ProbeAction::add, ProbeAction::multiply})
            if (arithmetic_refusal(target, action, pipe).empty())
                all.push_back({fmt::format("{} {}", title(pipe), name(action)),
                               arithmetic_source(target, action, pipe, shape), arithmetic_instruction(action, pipe),
                               static_cast<std::size_t>(shape.chains * shape.unroll), 8});
}

void add_memory(const Target& target, std::vector<Expectation>& all) {
    constexpr Shape kShape{512, 4, 1, 0}, kSmall{96, 4, 1, 0};
    const std::string near = "^LDG\\.E\\.128(\\.SYS)?$", far = "^LDG\\.E\\.128\\.STRONG\\.(GPU|GPU\\.PRIVATE)$";
    const std::string store = "^STG\\.E\\.128(\\.SYS)?$";
    const auto add = [&](const char* what, MemoryKernel kernel, const Shape& shape, const std::string& instruction,
                         const std::string& memory, std::size_t accesses, std::size_t overhead) {
        all.push_back({what, memory_source(target, kernel, shape), instruction, 4, overhead, memory, accesses});
    };
    add("L1 load", {ProbeAction::load, Pipe::fp32, true}, kShape, near, near, 4, 20);
    add("L1 load of a small set", {ProbeAction::load, Pipe::fp32, true}, kSmall, near, near, 4, 20);
    add("L2 and DRAM load", {ProbeAction::load, Pipe::fp32, false}, kShape, far, far, 4, 20);
    add("store", {ProbeAction::store, Pipe::fp32, false}, kShape, store, store, 4, 40);
    add("copy", {ProbeAction::copy, Pipe::fp32, false}, kShape, far, far + "|" + store, 8, 20);
    add("copy's stores", {ProbeAction::copy, Pipe::fp32, false}, kShape, store, far + "|" + store, 8, 20);
    for (const Pipe pipe : {Pipe::fp32, Pipe::fp64}) {
        Expectation triad{
            "triad", memory_source(target, {ProbeAction::triad, pipe, false}, kShape), far, 8, 40, far + "|" + store,
            12};
        all.push_back(std::move(triad));
        all.push_back({"fill of numbers", fill_source(target, pipe, {256, 1, 1, 0}), "", 0, 0});
    }
    Shape shared = kShape;
    shared.set_bytes = 32 * 1024;
    all.push_back({"shared memory load", shared_load_source(target, shared), "^LDS(\\.U)?\\.128$", 4, 24, "^LDS", 4});
    all.push_back({"fill", fill_source(target, std::nullopt, {256, 1, 1, 0}), "", 0, 0});
}

void add_latency(const Target& target, std::vector<Expectation>& all) {
    Shape shape{1, 16, 1, 0};
    // Nothing but the loads and the loop's own counting: arithmetic between them would count as latency.
    all.push_back({"L1 latency", chase_source(target, Level::l1, shape), "^LDG\\.E\\.64(\\.SYS)?$", 16, 8, "^LDG", 16});
    all.push_back(
        {"L2 latency", chase_source(target, Level::l2, shape), "^LDG\\.E\\.64\\.STRONG\\.GPU", 16, 8, "^LDG", 16});
    shape.set_bytes = 16 * 1024;
    all.push_back(
        {"shared memory latency", chase_source(target, Level::shared, shape), "^LDS(\\.U)?$", 16, 8, "^LDS", 16});
    all.push_back({"launch", empty_source(target, {1, 1, 1, 0}), "", 0, 0});
}

std::string tensor_instruction(const TensorKernel& row) {
    const std::string_view kind = row.define.substr(row.define.find('_') + 1);
    const std::string type = kind.starts_with("FP16_ACC16")  ? "F16"
                             : kind.starts_with("FP8_ACC16") ? "F16.E4M3.E4M3"
                             : kind.starts_with("FP16")      ? "F32"
                             : kind.starts_with("BF16")      ? "F32.BF16"
                             : kind.starts_with("TF32")      ? "F32.TF32"
                             : kind.starts_with("FP8")       ? "F32.E4M3.E4M3"
                             : kind.starts_with("FP6")       ? "F32.E3M2.E3M2"
                             : kind.starts_with("INT8")      ? "S8.S8"
                                                             : "";
    const char family = kind.starts_with("FP64")                               ? 'D'
                        : kind.starts_with("INT8")                             ? 'I'
                        : kind.starts_with("FP8") || kind.starts_with("FP6")   ? 'Q'
                        : kind.starts_with("FP4") || kind.starts_with("NVFP4") ? 'O'
                                                                               : 'H';
    if (row.path == MatrixPath::tensor_memory) return fmt::format("^UTC{}MMA", family);
    if (row.path == MatrixPath::warpgroup)
        return fmt::format("^{}GMMA.{}x{}x{}.{}$", family, row.m, row.n, row.k, type);
    if (family == 'D') return fmt::format("^DMMA.({0}{1}{2}|{0}x{1}x{2})$", row.m, row.n, row.k);
    if (family == 'O') return "^OMMA.SF.16864.F32.E2M1.E2M1.E8$";
    return fmt::format("^{}MMA.{}{}{}.{}$", family, row.m, row.n, row.k, type);
}

void add_tensor(const Target& target, std::vector<Expectation>& all) {
    const int cc = target.cc.major * 10 + target.cc.minor;
    for (const TensorKernel& row : tensor_kernels()) {
        if (cc < row.first_cc || cc > row.last_cc || (row.accelerated && !target.accelerated)) continue;
        const auto count = static_cast<std::size_t>(row.chains * row.unroll);
        // The asynchronous ones set up descriptors in uniform registers.
        // An FP64 product of depth 16 takes tens of cycles, and moves of its operands between chains run beside it.
        const std::size_t moves = row.variant == MatrixVariant::k16 ? 32 : 16;
        const std::size_t overhead = row.path == MatrixPath::warp ? moves : count * 8 + 40;
        all.push_back({std::string(row.define), tensor_source(row), tensor_instruction(row), count, overhead});
    }
    if (target.cc.major >= 7)
        for (const Pipe pipe :
             {Pipe::fp64, Pipe::fp32, Pipe::tensor_fp16, Pipe::tensor_bf16, Pipe::tensor_fp8, Pipe::tensor_int8})
            all.push_back({"operands of a library product",
                           matrix_fill_source(gemm_types(pipe)->operand, {256, 1, 1, 0}), "", 0, 0});
}

const std::regex kSpill("^(LDL|STL)");
const std::regex kMemory("^(LDG|STG|LDS|STS|LDL|STL|LD|ST|ATOM|ATOMG|ATOMS|RED|LDSM|LDTM|STTM|LDGSTS|UBLKCP)(\\.|$)");

// GAMBREL_KEEP_LISTINGS=FOLDER keeps what was looked at, for people.
void check(const std::string& architecture, const Expectation& expected, const Instructions& code) {
    ASSERT_FALSE(code.empty()) << "no machine code";
    if (const char* folder = std::getenv("GAMBREL_KEEP_LISTINGS")) {
        std::ofstream out(fmt::format("{}/{}_{}.sass", folder, architecture, expected.what));
        for (const Instruction& i : code)
            out << fmt::format("{:05x} {} {}\n", i.address - code[0].address, i.name, i.operands);
    }
    EXPECT_EQ(count_matching(code, kSpill), 0U) << "registers spill to memory";
    if (expected.instruction.empty()) return;
    const std::regex wanted(expected.instruction);
    const Instructions loop = hot_loop(code, wanted);
    EXPECT_EQ(count_matching(loop, wanted), expected.count) << expected.instruction << " in a loop of " << loop.size();
    EXPECT_LE(loop.size(), expected.count + expected.memory_count + expected.overhead) << "the loop does other work";
    const std::size_t all = count_matching(loop, kMemory);
    const std::size_t allowed = expected.memory.empty() ? 0 : count_matching(loop, std::regex(expected.memory));
    EXPECT_EQ(all, allowed) << "memory accesses that are not " << expected.memory;
    EXPECT_EQ(allowed, expected.memory_count) << "memory accesses";
}

class CudaMachineCode : public testing::TestWithParam<const char*> {};

TEST_P(CudaMachineCode, holds_the_intended_instructions_and_no_others) {
    const std::string architecture = GetParam();
    const std::string folder = GAMBREL_NVIDIA_TOOLS;
    const std::string nvrtc = folder + "/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
                      nvdisasm = folder + "/nvidia/cu13/bin/nvdisasm";
    if (!std::filesystem::exists(nvrtc) || !std::filesystem::exists(nvdisasm))
        GTEST_SKIP() << "NVRTC and nvdisasm not found in " << folder << "; tools/fetch_nvidia.sh brings them";
    setenv("GAMBREL_NVRTC", nvrtc.c_str(), 1);
    const auto compiler = Nvrtc::open();
    ASSERT_TRUE(compiler) << to_text(compiler.error());

    const Target target = target_for(architecture);
    std::vector<Expectation> all;
    add_arithmetic(target, all);
    add_memory(target, all);
    add_latency(target, all);
    add_tensor(target, all);
    std::vector<std::string> codes;
    for (const Expectation& expected : all) {
        const auto binary = (*compiler)->compile(expected.source, "sm_" + architecture);
        ASSERT_TRUE(binary) << expected.what << ": " << to_text(binary.error());
        codes.push_back(code_of(binary->image, expected.source.entry));
        EXPECT_FALSE(codes.back().empty()) << expected.what << ": no section .text." << expected.source.entry;
    }
    if (target.cc < ComputeCapability{7, 5}) return;  // nvdisasm 13 does not read them
    const auto disassembled = disassemble(nvdisasm, "SM" + architecture, codes, testing::TempDir());
    ASSERT_EQ(disassembled.size(), all.size()) << "nvdisasm failed";
    for (std::size_t i = 0; i < all.size(); ++i) {
        SCOPED_TRACE(fmt::format("sm_{}: {}", architecture, all[i].what));
        check(architecture, all[i], disassembled[i]);
    }
}

INSTANTIATE_TEST_SUITE_P(Architectures, CudaMachineCode,
                         testing::Values("60", "70", "75", "80", "86", "89", "90a", "100a", "120", "120a"),
                         [](const auto& one) { return "sm_" + std::string(one.param); });

}  // namespace
}  // namespace gambrel::measure_detail
