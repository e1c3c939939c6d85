// Does every CUDA kernel compute what its proof expects? Each is compiled by NVRTC and executed by a model of the PTX
// instruction set, through the real driver calls and the real probe.
#include <iostream>
#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "measure/gpu/tensor_kernels.hpp"
#include "measure/runner.hpp"
#include "ptx_gpu.hpp"

namespace gambrel::measure_detail {
namespace {

constexpr int kArchitectures[] = {70, 75, 80, 86, 89, 90, 100, 103, 120};

class PtxKernels : public PtxGpu {
protected:
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
    set("PTX_CC", cc);
    set("PTX_SMS", 1);
    const auto device = open();
    ASSERT_NE(device, nullptr);
    int executed = 0;
    for (const TensorKernel& row : tensor_kernels()) {
        if (cc < row.first_cc || cc > row.last_cc) continue;
        const Probe probe{.action = ProbeAction::mma, .pipe = row.pipe, .matrix = row.path};
        const auto sample = run(*device, probe, 0, 1);
        ASSERT_TRUE(sample) << title(probe) << ": " << to_text(sample.error());
        EXPECT_FALSE(sample->fault) << title(probe) << ": " << *sample->fault;
        EXPECT_DOUBLE_EQ(sample->flop, flop_per_trip(row) * row.groups_per_unit) << title(probe);
        ++executed;
    }
    std::cout << fmt::format("compute capability {}.{}: {} Tensor rows executed\n", cc / 10, cc % 10, executed);
    EXPECT_GE(executed, 2);
}

TEST_P(PtxArchitecture, every_other_kernel_proves_its_result) {
    if (IsSkipped()) return;
    set("PTX_CC", GetParam());
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
