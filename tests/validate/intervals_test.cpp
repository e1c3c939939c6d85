// The intervals that predictions carry, learned again from the rows: data/model/intervals.json stays true.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "validate/measured.hpp"

namespace gambrel {
namespace {

using namespace test;

// Rows long enough that the timer and the host do not count.
constexpr std::array<Rows, 7> kLearnedFrom = {{
    {"conv_time_cudnn_fp32.csv.gz", 100e-6, "IMPLICIT_PRECOMP_GEMM"},
    {"conv_time_tiles_fp32.csv.gz", 200e-6},
    {"gemm_time_tiles_fp32.csv.gz", 200e-6},
    {"conv_time_cudnn_fp16tc.csv.gz", 100e-6, "IMPLICIT_PRECOMP_GEMM", Precision::fp16},
    {"conv_traffic_v100_deepcam.csv", 0, "tensor core"},
    {"gemm_time_bf16.csv.gz", 20e-6, "", Precision::bf16},
    {"gemm_time_lowp.csv.gz", 20e-6, "", Precision::bf16},
}};

constexpr std::size_t kLeastRows = 60;

struct Weighted {
    double ratio, weight;
};

// ValidatedQuantity over predicted of a regime; the rows of a file together weigh 1, so that no long one drowns the
// others.
std::vector<Weighted> ratios(Regime regime, const std::string& architecture = {}) {
    std::vector<Weighted> all;
    for (const Rows& file : kLearnedFrom) {
        std::vector<double> own;
        for (const ValidationRow& row : judged(file)) {
            const double measured = row.measured[static_cast<std::size_t>(ValidatedQuantity::time)],
                         predicted = row.predicted[static_cast<std::size_t>(EstimateSource::gambrel)]
                                                  [static_cast<std::size_t>(ValidatedQuantity::time)];
            if (row.regime != name(regime) || measured <= 0) continue;
            if (!architecture.empty() && architecture_of(*find_in_catalogue(row.gpu)).id != architecture) continue;
            // Of products on Tensor Cores half of the shapes is kept out, to be judged by what the others taught.
            if (regime == Regime::tensor_gemm && (!is_fitted_on(row.shape) || row.precision == "fp8")) continue;
            own.push_back(measured / predicted);
        }
        // A file that has next to no rows of a regime says nothing of it: FP16 convolutions of three channels, which
        // run without Tensor Cores.
        if (own.size() < kLeastRows) continue;
        for (const double ratio : own) all.push_back({ratio, 1.0 / static_cast<double>(own.size())});
    }
    std::sort(all.begin(), all.end(), [](const Weighted& a, const Weighted& b) { return a.ratio < b.ratio; });
    return all;
}

double percentile(const std::vector<Weighted>& sorted, double share) {
    double total = 0, sum = 0;
    for (const Weighted& each : sorted) total += each.weight;
    for (const Weighted& each : sorted)
        if ((sum += each.weight) >= share * total) return each.ratio;
    return sorted.back().ratio;
}

class Intervals : public MeasuredData {};

TEST_F(Intervals, hold_four_of_five_measured_rows_of_each_regime) {
    for (std::size_t i = 0; i < kRegimes; ++i) {
        const auto regime = static_cast<Regime>(i);
        if (regime == Regime::streaming || regime >= Regime::attention) continue;  // no rows here
        const std::vector<Weighted> all = ratios(regime);
        ASSERT_GT(all.size(), 1000U) << name(regime);
        const TimeInterval table = time_intervals(architecture_of(*find_in_catalogue("v100")))[i];
        EXPECT_NEAR(table.low / percentile(all, 0.1), 1, 0.02) << name(regime);
        EXPECT_NEAR(table.high / percentile(all, 0.9), 1, 0.02) << name(regime);
    }
}

TEST_F(Intervals, of_products_on_tensor_cores_are_learned_by_architecture) {
    for (const char* gpu : {"a100-sxm4-80gb", "a40", "rtx-4090", "h100-sxm", "b200"}) {
        const Machine& machine = *find_in_catalogue(gpu);
        const std::vector<Weighted> all = ratios(Regime::tensor_gemm, architecture_of(machine).id);
        ASSERT_GT(all.size(), 200U) << gpu;
        const TimeInterval table =
            time_intervals(architecture_of(machine))[static_cast<std::size_t>(Regime::tensor_gemm)];
        EXPECT_NEAR(table.low / percentile(all, 0.1), 1, 0.02) << gpu;
        EXPECT_NEAR(table.high / percentile(all, 0.9), 1, 0.02) << gpu;
    }
}

// Shapes that no constant and no interval was fitted on.
TEST_F(Intervals, hold_four_of_five_products_that_were_kept_out) {
    std::map<std::string, std::pair<double, double>> inside;  // by GPU: rows inside, rows
    for (const Rows& file : {kLearnedFrom[5], kLearnedFrom[6]})
        for (const ValidationRow& row : judged(file)) {
            if (row.regime != name(Regime::tensor_gemm) || is_fitted_on(row.shape) || row.precision == "fp8") continue;
            const double measured = row.measured[static_cast<std::size_t>(ValidatedQuantity::time)];
            auto& [in, of] = inside[find_in_catalogue(row.gpu)->id];
            in += measured >= row.time_low && measured <= row.time_high ? 1 : 0;
            of += 1;
        }
    EXPECT_EQ(inside.size(), 5U);
    for (const auto& [gpu, share] : inside) EXPECT_NEAR(share.first / share.second, 0.8, 0.035) << gpu;
}

TEST_F(Intervals, of_streaming_layers_rest_on_no_rows) { EXPECT_TRUE(ratios(Regime::streaming).empty()); }

}  // namespace
}  // namespace gambrel
