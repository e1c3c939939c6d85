// How far from hardware? Counters of cuDNN kernels on V100 (shared data); the bounds may only tighten. In-sample: the
// drift's constants and the load shapes of Mapping were found on this table (docs/simulator.md). Long rows are left out
// for time, and with them some that are worse: 3x3 dgrad at L2, wgrad_alg1, dgrad_engine and splitK at DRAM.
#include <gambrel/simulate.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

namespace gambrel {
namespace {

struct Errors3 {
    double l1 = 0, l2 = 0, dram = 0;
    int rows = 0;
};

// Rows of one kind whose measured L1 bytes are at most `most`: the long ones take minutes.
Errors3 mean_errors(const std::string& precision, const std::vector<Pass>& passes, const std::string& kernel,
                    double most) {
    const std::string path = std::string(GAMBREL_SHARED_DATA) + "/measured/conv_traffic_v100_deepcam.csv";
    const auto table = load_layer_table(path);
    if (!table) return {};
    std::map<std::string, std::size_t> column;
    for (std::size_t i = 0; i < table->columns.size(); ++i) column[table->columns[i]] = i;
    const Machine& machine = *find_in_catalogue("v100-sxm2-16gb");
    Errors3 sum;
    for (const LayerRow& row : table->rows) {
        const auto cell = [&](const char* name) { return row.cells[column.at(name)]; };
        const auto number = [&](const char* name) { return std::stod(cell(name)); };
        if (row.layers.empty() || cell("precision") != precision || cell("amp") == "O1") continue;
        if (cell("kernel").find(kernel) == std::string::npos || number("l1_bytes") > most) continue;
        if (cell("algorithm") == "WINOGRAD") continue;
        const Layer& layer = row.layers.front();
        if (std::find(passes.begin(), passes.end(), layer.pass) == passes.end()) continue;
        const auto simulation = simulate(layer, machine, mapping_for(layer, machine));
        EXPECT_TRUE(simulation.has_value());
        if (!simulation) continue;
        const SimulatedTraffic total = simulation->total();
        sum.l1 += std::abs(total.l1().value() / number("l1_bytes") - 1);
        sum.l2 += std::abs(total.l2().value() / number("l2_bytes") - 1);
        sum.dram += std::abs(total.dram().value() / number("dram_bytes") - 1);
        ++sum.rows;
    }
    if (sum.rows > 0) {
        sum.l1 /= sum.rows;
        sum.l2 /= sum.rows;
        sum.dram /= sum.rows;
    }
    return sum;
}

class Accuracy : public testing::Test {
protected:
    void SetUp() override {
        if (!std::filesystem::exists(std::string(GAMBREL_SHARED_DATA) + "/measured/conv_traffic_v100_deepcam.csv"))
            GTEST_SKIP() << "shared data not found at " << GAMBREL_SHARED_DATA;
    }
    static void expect_below(const Errors3& errors, double l1, double l2, double dram, int rows) {
        EXPECT_GE(errors.rows, rows);
        EXPECT_LE(errors.l1, l1);
        EXPECT_LE(errors.l2, l2);
        EXPECT_LE(errors.dram, dram);
        testing::Test::RecordProperty("l1", std::to_string(errors.l1));
        testing::Test::RecordProperty("l2", std::to_string(errors.l2));
        testing::Test::RecordProperty("dram", std::to_string(errors.dram));
    }
};

TEST_F(Accuracy, Fp32ForwardIsNearTheCounters) {
    expect_below(mean_errors("fp32", {Pass::fwd}, "scudnn", 1e9), 0.03, 0.05, 0.10, 9);
}
TEST_F(Accuracy, Fp32DgradIsNearTheCounters) {
    expect_below(mean_errors("fp32", {Pass::dgrad}, "scudnn", 1e9), 0.06, 0.08, 0.15, 6);
}
TEST_F(Accuracy, Fp32WgradIsNearTheCounters) {
    expect_below(mean_errors("fp32", {Pass::wgrad}, "alg0_engine<float, 128", 1.2e9), 0.06, 0.08, 0.15, 4);
}
TEST_F(Accuracy, Fp16TensorCoreIsNearTheCounters) {
    expect_below(mean_errors("fp16_mixed", {Pass::fwd, Pass::dgrad}, "s884", 3e8), 0.10, 0.10, 0.15, 14);
    expect_below(mean_errors("fp16_mixed", {Pass::wgrad}, "hmma", 3e8), 0.10, 0.10, 0.15, 6);
}

}  // namespace
}  // namespace gambrel
