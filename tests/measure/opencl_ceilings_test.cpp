// Does a whole measurement run on a real OpenCL device (PoCL on this CPU), and does every kernel in it prove its
// result? No speed is judged here, because other programs run on the same machine: bench/opencl_bench compares the
// rates with those of the host.
#include <algorithm>

#include <gtest/gtest.h>

#include <gambrel/measure.hpp>

#include "measure/device.hpp"

namespace gambrel::measure_detail {
namespace {

TEST(OpenclCeilings, the_whole_sweep_of_a_gpu_runs_end_to_end) {
    if (auto opened = open_device("opencl:0"); !opened)
        GTEST_SKIP() << "needs an OpenCL device: " << to_text(opened.error());
    MeasureOptions options;
    options.quick = true;
    options.budget = Seconds(1);
    const auto measured = measure("opencl:0", options);
    ASSERT_TRUE(measured) << to_text(measured.error());
    EXPECT_EQ(measured->sweeps.size(), 3U) << "own, whole, split";
    for (const MeasuredSweep& sweep : measured->sweeps) {
        EXPECT_FALSE(sweep.points.empty()) << sweep.title;
        EXPECT_TRUE(sweep.faults.empty()) << sweep.title << ": " << sweep.faults.front();
    }
    std::vector<std::string> proved;
    for (const MeasuredCeiling& ceiling : measured->ceilings) {
        if (ceiling.value.count > 0) proved.push_back(ceiling.title);
        // Too few samples in a short budget is not a fault of the kernels; a wrong result is.
        const std::string fault = ceiling.fault.value_or("");
        EXPECT_EQ(fault.find("expected"), std::string::npos) << ceiling.title << ": " << fault;
    }
    for (const char* title : {"launch overhead", "FP64 FMA", "FP32 FMA", "INT32 FMA", "FP32 add", "DRAM store",
                              "DRAM copy", "DRAM triad", "host to device", "device to host"})
        EXPECT_NE(std::find(proved.begin(), proved.end(), title), proved.end()) << title;
}

}  // namespace
}  // namespace gambrel::measure_detail
