// What is the host's of a measured time: launches of groups that run in turn, and calls that take longer row by row.
#include <set>

#include <gtest/gtest.h>

#include "validate/measured.hpp"

namespace gambrel {
namespace {

using namespace test;

class HostTime : public MeasuredData {
protected:
    static Validation with_drift(const char* file) {
        const auto table = load_layer_table(kMeasuredFolder / file, {Precision::fp32});
        EXPECT_TRUE(table) << file;
        ValidationOptions options;
        options.host_drift = true;
        options.min_time = 200e-6;
        return *validate(*table, options);
    }
    // In per cent, mean absolute; of the rows in `lines` if there are any.
    static double error(const Validation& v, const char* gpu, const std::set<std::size_t>& lines = {}) {
        const auto chosen = [&](const ValidationRow& row) {
            return row.gpu == gpu && (lines.empty() || lines.contains(row.line));
        };
        return 100 * summary(v.rows, ValidatedQuantity::time, EstimateSource::gambrel, chosen).mean;
    }
};

// Without the drift 18, 13, 15 and 11 %.
TEST_F(HostTime, of_convolutions_grows_along_the_table) {
    const Validation v = with_drift("conv_time_tiles_fp32.csv.gz");
    EXPECT_EQ(v.drifts.size(), 4U);
    for (const FoundDrift& found : v.drifts) {
        EXPECT_EQ(found.op, "convolution");
        EXPECT_GT(found.drift.last - found.drift.first, Seconds{200e-6}) << found.gpu;
    }
    EXPECT_LT(error(v, "Tesla P100-PCIE-16GB"), 5.2);
    EXPECT_LT(error(v, "Tesla P4"), 5.2);
    EXPECT_LT(error(v, "Tesla T4"), 9.3);
    EXPECT_LT(error(v, "Tesla V100-PCIE-32GB"), 4.4);
}

// Their rows stand in no order, so that a line along them would explain nothing.
TEST_F(HostTime, of_products_does_not_grow) { EXPECT_TRUE(with_drift("gemm_time_tiles_fp32.csv.gz").drifts.empty()); }

// Steps of half the length spend twice the share on the offsets of taps. With one factor for all tiles 8.2, 6.7 and
// 9.2 %.
TEST_F(HostTime, leaves_little_of_narrow_tiles) {
    constexpr const char* kFile = "conv_time_tiles_fp32.csv.gz";
    const Validation v = with_drift(kFile);
    const auto table = load_layer_table(kMeasuredFolder / kFile, {Precision::fp32});
    std::set<std::size_t> narrow;
    for (const LayerRow& row : table->rows)
        if (!row.layers.empty() && holds(row.layers.front().hints.kernel, "scudnn_128x32_relu_small"))
            narrow.insert(row.line);
    EXPECT_GE(narrow.size(), 900U);
    EXPECT_LT(error(v, "Tesla P100-PCIE-16GB", narrow), 7.2);
    EXPECT_LT(error(v, "Tesla P4", narrow), 5.3);
    EXPECT_LT(error(v, "Tesla V100-PCIE-32GB", narrow), 7.4);
}

// Layers of 32 groups and more by two and three kernels a group, in which nothing but launches takes time. The machine
// files' launches are those of their shortest tenth.
TEST_F(HostTime, of_launches_is_that_of_each_machine) {
    const auto& rows = judged({"conv_time_cudnn_fp32.csv.gz", 20e-6});
    for (const auto& [gpu, bound] : {std::pair{"titan-v", 12.0}, {"v100-sxm2-16gb", 8.9}, {"grid-k520", 12.0}}) {
        const auto chosen = [gpu](const ValidationRow& row) {
            return row.gpu == gpu && row.regime == "groups in turn" && row.bound == "launch" &&
                   (row.algorithm == "GEMM" || row.algorithm == "IMPLICIT_PRECOMP_GEMM");
        };
        const ErrorSummary s = summary(rows, ValidatedQuantity::time, EstimateSource::gambrel, chosen);
        EXPECT_GE(s.rows, 50U) << gpu;
        EXPECT_LT(100 * s.mean, bound) << gpu;
    }
}

}  // namespace
}  // namespace gambrel
