// Does every CUDA kernel compute what its proof expects? Each is compiled by NVRTC and executed by a model of the PTX
// instruction set, through the real driver calls and the real probe.
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "measure/cuda/nvrtc.hpp"
#include "measure/gpu/kernel_source.hpp"
#include "measure/runner.hpp"
#include "ptx_gpu.hpp"

namespace gambrel::measure_detail {
namespace {

constexpr int kArchitectures[] = {70, 75, 80, 86, 89, 90, 100, 103, 110, 120};
int pairs = 0;  // of Tensor row and architecture, executed by all tests

class PtxKernels : public PtxGpu {
protected:
    // NVRTC 13 is the first that calls the architecture of Thor 110.
    void use_gpu(int cc) {
        if (cc == 110) use_compiler("13.0");
        set("PTX_CC", cc);
    }
    // The PTX of every kernel that the probe compiles.
    std::string ptx_of(int cc, const Probe& probe, double bytes) {
        const std::string dump = testing::TempDir() + "/ptx_" + std::to_string(getpid()) + ".ptx";
        set("PTX_CC", cc);
        set("PTX_DUMP", dump);
        const auto device = open();
        if (device == nullptr) return "";
        EXPECT_TRUE(run(*device, probe, bytes, 1));
        unsetenv("PTX_DUMP");
        std::ifstream in(dump);
        std::string text(std::istreambuf_iterator<char>(in), {});
        std::filesystem::remove(dump);
        return text;
    }
    static std::unique_ptr<Device> open() {
        auto device = open_device("cuda:0");
        EXPECT_TRUE(device) << to_text(device.error());
        return device ? std::move(*device) : nullptr;
    }
};

class PtxArchitecture : public PtxKernels, public testing::WithParamInterface<int> {};

TEST_P(PtxArchitecture, every_tensor_row_gives_its_expected_sum) {
    if (IsSkipped()) return;
    const int cc = GetParam();
    use_gpu(cc);
    if (IsSkipped()) return;
    set("PTX_SMS", 1);
    const auto device = open();
    ASSERT_NE(device, nullptr);
    int executed = 0;
    for (const TensorKernel& row : tensor_kernels()) {
        if (cc < row.first_cc || cc > row.last_cc) continue;
        Probe probe = probe_of(row);
        for (const bool random : {false, true}) {  // what the loop adds it takes away again, whatever the operands
            probe.random = random;
            const auto sample = run(*device, probe, 0, 1);
            ASSERT_TRUE(sample) << title(probe) << ": " << to_text(sample.error());
            EXPECT_FALSE(sample->fault) << title(probe) << ": " << *sample->fault;
            EXPECT_DOUBLE_EQ(sample->flop, flop_per_trip(row) * row.groups_per_unit) << title(probe);
        }
        ++executed;
    }
    pairs += executed;
    std::cout << fmt::format(
        "compute capability {}.{}: {} Tensor rows executed; {} pairs of row and architecture so far\n", cc / 10,
        cc % 10, executed, pairs);
    EXPECT_GE(executed, 2);
}

TEST_P(PtxArchitecture, every_other_kernel_proves_its_result) {
    if (IsSkipped()) return;
    // Their code differs where a GPU has other words for memory: 7.0, 9.0 with 128 bits, 11.0 and 12.0 with 256.
    const std::set<int> differing = {70, 90, 110, 120};
    if (!differing.contains(GetParam()) && !std::getenv("GAMBREL_TEST_ALL_GPUS"))
        GTEST_SKIP() << "the same code as of another architecture: make test-gpu-model";
    use_gpu(GetParam());
    if (IsSkipped()) return;
    const auto device = open();
    ASSERT_NE(device, nullptr);
    std::vector<std::pair<Probe, double>> probes;
    for (const Pipe pipe : {Pipe::fp64, Pipe::fp32, Pipe::fp16, Pipe::bf16, Pipe::int32})
        probes.push_back({{.action = ProbeAction::fma, .pipe = pipe}, 0});
    for (const Pipe pipe : {Pipe::fp64, Pipe::fp32})
        for (const ProbeAction action : {ProbeAction::add, ProbeAction::multiply})
            probes.push_back({{.action = action, .pipe = pipe}, 0});
    using enum WorkingSetSharing;
    for (const WorkingSetSharing sharing : {own, whole, split})
        probes.push_back({{.action = ProbeAction::load, .sharing = sharing}, 100'000});
    for (const ProbeAction action : {ProbeAction::store, ProbeAction::copy})
        probes.push_back({{.action = action, .sharing = split}, 300'000});
    for (const Pipe pipe : {Pipe::fp64, Pipe::fp32})
        probes.push_back({{.action = ProbeAction::triad, .pipe = pipe, .sharing = split}, 300'000});
    probes.push_back({{.action = ProbeAction::load, .level = Level::shared}, 40'000});
    for (const Level level : {Level::shared, Level::l1, Level::l2, Level::dram})
        probes.push_back({{.action = ProbeAction::chase, .level = level, .units = 1}, 40'000});
    probes.push_back({{.action = ProbeAction::empty}, 0});
    for (const ProbeAction action : {ProbeAction::host_to_device, ProbeAction::device_to_host})
        probes.push_back({{.action = action}, 4096});
    for (const auto& [probe, set] : probes) {
        const auto sample = run(*device, probe, set, 8);
        if (!sample && sample.error().front().where == "refused") continue;
        ASSERT_TRUE(sample) << title(probe) << ": " << to_text(sample.error());
        EXPECT_FALSE(sample->fault) << title(probe) << ": " << *sample->fault;
        if (kind_of(probe) == CeilingKind::compute) {
            ASSERT_TRUE(sample->clock) << title(probe);
            EXPECT_NEAR(sample->clock->value() / 4e6, 1, 0.01) << title(probe);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Cc, PtxArchitecture, testing::ValuesIn(kArchitectures),
                         [](const auto& chip) { return "cc" + std::to_string(chip.param); });

TEST_F(PtxKernels, an_fp8_unit_with_13_bits_still_gives_the_expected_sum) {
    if (IsSkipped()) return;
    set("PTX_CUTS_FP8", 1);
    for (const auto& [cc, path] : {std::pair{89, MatrixPath::warp}, {90, MatrixPath::warpgroup}}) {
        set("PTX_CC", cc);
        const auto device = open();
        ASSERT_NE(device, nullptr);
        const auto sample = run(*device, {.action = ProbeAction::mma, .pipe = Pipe::tensor_fp8, .matrix = path}, 0, 1);
        ASSERT_TRUE(sample) << to_text(sample.error());
        EXPECT_FALSE(sample->fault) << *sample->fault;
    }
}

int count_of(const std::string& text, const std::string& what) {
    int count = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
    return count;
}

TEST_F(PtxKernels, sums_of_products_are_not_added_in_fp64_of_which_some_gpus_have_two_lanes) {
    if (IsSkipped()) return;
    const auto compiler = Nvrtc::open();
    ASSERT_TRUE(compiler) << to_text(compiler.error());
    for (const TensorKernel& row : tensor_kernels()) {
        if (row.operand == "OPERAND_FP64") continue;
        const bool seen = row.define == "TCGEN05_FP16" || row.define == "TCGEN05_INT8" ||
                          row.define == "MMA_FP16_M16N8K16" || row.define == "MMA_FP16_ACC16_M16N8K16";
        if (!seen) continue;
        const auto made =
            (*compiler)->compile(tensor_source(row), row.path == MatrixPath::tensor_memory ? "sm_100a" : "sm_89");
        ASSERT_TRUE(made) << to_text(made.error());
        const std::string& ptx = made->image;  // by nvrtc_as_ptx
        ASSERT_GE(count_of(ptx, "mma"), 1) << row.define;
        EXPECT_EQ(count_of(ptx, "add.f64") + count_of(ptx, "add.rn.f64"), 0) << row.define;
        EXPECT_LE(count_of(ptx, "cvt.rn.f64") + count_of(ptx, "cvt.f64"), 1) << row.define;
    }
}

TEST_F(PtxKernels, move_256_bits_at_a_time_from_sm_100_on_and_128_before) {
    if (IsSkipped()) return;
    for (const ProbeAction action : {ProbeAction::load, ProbeAction::copy}) {
        const Probe probe{.action = action, .sharing = WorkingSetSharing::split};
        const std::string wide = ptx_of(100, probe, 300'000), narrow = ptx_of(90, probe, 300'000);
        EXPECT_GE(count_of(wide, ".v8.u32"), 4) << name(action);
        EXPECT_EQ(count_of(narrow, ".v8.u32"), 0) << name(action);
        EXPECT_GE(count_of(narrow, ".v4.u32"), 4) << name(action);
    }
}

TEST_F(PtxKernels, latency_is_that_of_the_level_and_of_nothing_else) {
    if (IsSkipped()) return;
    set("PTX_CC", 80);
    set("PTX_L1", 192 * 1024);
    const auto device = open();
    ASSERT_NE(device, nullptr);
    const std::vector<std::pair<Level, double>> truth{
        {Level::shared, 23}, {Level::l1, 33}, {Level::l2, 210}, {Level::dram, 500}};
    for (const auto& [level, cycles] : truth) {
        const double set = level == Level::dram ? 8e6 : level == Level::l2 ? 1e6 : 40'000;
        const auto sample = run(*device, {.action = ProbeAction::chase, .level = level, .units = 1}, set, 512);
        ASSERT_TRUE(sample) << to_text(sample.error());
        ASSERT_FALSE(sample->fault) << *sample->fault;
        ASSERT_TRUE(sample->clock);
        EXPECT_NEAR(sample->time.value() / sample->accesses * 4e6 / cycles, 1, 0.05) << name(level);
    }
}

}  // namespace
}  // namespace gambrel::measure_detail
