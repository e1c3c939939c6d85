// Is all planned that a device may have, and under the right name?
#include <algorithm>

#include <gtest/gtest.h>

#include "measure/plan.hpp"

namespace gambrel::measure_detail {
namespace {

DeviceInfo gpu(ComputeCapability cc) {
    DeviceInfo info;
    info.kind = DeviceKind::cuda;
    info.units = 100;
    info.levels = {{Level::l1, Bytes{128 * 1024.0}, 1}, {Level::l2, Bytes{40e6}, 100}, {Level::dram, Bytes{40e9}, 100}};
    Machine m;
    m.clocks.boost = Sourced<Frequency>{Frequency{1e9}, Origin::datasheet, ""};
    m.sm.sms = Sourced<double>{100, Origin::datasheet, ""};
    info.theoretical = m;
    info.compute_capability = cc;
    return info;
}

std::vector<int> products(const Plan& plan, Pipe pipe) {
    std::vector<int> extents;
    for (const CeilingStep& step : plan.last)
        if (step.probe.action == ProbeAction::gemm && step.probe.pipe == pipe) extents.push_back(step.probe.extent);
    return extents;
}

TEST(Plan, asks_the_library_for_products_of_every_type_over_a_sweep_of_sizes) {
    const Plan plan = plan_for(gpu({7, 0}), false);
    for (const Pipe pipe : {Pipe::fp64, Pipe::fp32, Pipe::tensor_tf32, Pipe::tensor_fp16, Pipe::tensor_bf16,
                            Pipe::tensor_fp8, Pipe::tensor_int8})
        EXPECT_GE(products(plan, pipe).size(), 3U) << title(pipe);
    EXPECT_EQ(products(plan_for(gpu({7, 0}), true), Pipe::tensor_fp8), std::vector<int>{4096});
}

TEST(Plan, calls_the_librarys_fp64_by_the_unit_that_does_it) {
    // Boards that are not in the catalogue (H100 NVL, A800) do DGEMM on Tensor Cores too.
    DeviceInfo unknown = gpu({9, 0});
    unknown.theoretical.reset();
    const Plan plan = plan_for(unknown, false);
    EXPECT_FALSE(products(plan, Pipe::tensor_fp64).empty());
    EXPECT_TRUE(products(plan, Pipe::fp64).empty())
        << "it would pass for a ceiling of the ordinary pipe, twice too high";
}

TEST(Plan, runs_what_could_lose_the_context_after_all_else) {
    const Plan plan = plan_for(gpu({9, 0}), true);
    const auto risky = [](const CeilingStep& step) {
        return step.probe.action == ProbeAction::gemm || step.probe.matrix == MatrixPath::warpgroup ||
               step.probe.matrix == MatrixPath::tensor_memory;
    };
    EXPECT_TRUE(std::none_of(plan.first.begin(), plan.first.end(), risky));
    const auto first = std::find_if(plan.last.begin(), plan.last.end(), risky);
    ASSERT_NE(first, plan.last.end());
    EXPECT_TRUE(std::all_of(first, plan.last.end(), risky));
}

TEST(Plan, loads_past_the_l1_have_no_l1_window) {
    const DeviceInfo info = gpu({8, 0});
    for (const WorkingSetSharing sharing : {WorkingSetSharing::whole, WorkingSetSharing::split})
        for (const LevelWindow& window : level_windows(info, sharing, info.units)) EXPECT_NE(window.level, Level::l1);
    EXPECT_EQ(level_windows(info, WorkingSetSharing::own, info.units).front().level, Level::l1);
}

}  // namespace
}  // namespace gambrel::measure_detail
