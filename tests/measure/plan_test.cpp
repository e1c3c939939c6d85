// Is all planned that a device may have, and under the right name?
#include <algorithm>

#include <gtest/gtest.h>

#include "measure/plan.hpp"

namespace gambrel::measure_detail {
namespace {

DeviceInfo gpu(std::optional<FlopPerCycle> tensor_fp64) {
    DeviceInfo info;
    info.kind = "cuda";
    info.units = 100;
    info.levels = {{Level::l1, Bytes{128 * 1024.0}, 1}, {Level::l2, Bytes{40e6}, 100}, {Level::dram, Bytes{40e9}, 100}};
    Machine m;
    m.clocks.boost = Sourced<Frequency>{Frequency{1e9}, Origin::datasheet, ""};
    m.sm.sms = Sourced<double>{100, Origin::datasheet, ""};
    if (tensor_fp64) m.pipes[Pipe::tensor_fp64].dense = Sourced<FlopPerCycle>{*tensor_fp64, Origin::datasheet, ""};
    info.theoretical = m;
    return info;
}

std::vector<int> products(const Plan& plan, Pipe pipe) {
    std::vector<int> extents;
    for (const CeilingStep& step : plan.first)
        if (step.probe.action == Action::gemm && step.probe.pipe == pipe) extents.push_back(step.probe.extent);
    return extents;
}

TEST(Plan, asks_the_library_for_products_of_every_type_over_a_sweep_of_sizes) {
    const Plan plan = plan_for(gpu({}), false);
    for (const Pipe pipe : {Pipe::fp64, Pipe::fp32, Pipe::tensor_tf32, Pipe::tensor_fp16, Pipe::tensor_bf16,
                            Pipe::tensor_fp8, Pipe::tensor_int8})
        EXPECT_GE(products(plan, pipe).size(), 3U) << title(pipe);
    EXPECT_EQ(products(plan_for(gpu({}), true), Pipe::tensor_fp8), std::vector<int>{4096});
}

TEST(Plan, calls_the_librarys_fp64_by_the_unit_that_does_it) {
    const Plan plan = plan_for(gpu(FlopPerCycle{128}), false);
    EXPECT_FALSE(products(plan, Pipe::tensor_fp64).empty());
    EXPECT_TRUE(products(plan, Pipe::fp64).empty())
        << "it would pass for a ceiling of the ordinary pipe, twice too high";
}

}  // namespace
}  // namespace gambrel::measure_detail
