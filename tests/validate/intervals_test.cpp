// The intervals that predictions carry, learned again from the rows: data/model/intervals.json stays true.
#include <algorithm>
#include <array>
#include <cmath>

#include "validate/measured.hpp"

namespace gambrel {
namespace {

using namespace test;

// Rows long enough that the timer and the host do not count.
constexpr std::array<Rows, 6> kLearnedFrom = {{
    {"conv_time_cudnn_fp32.csv.gz", 100e-6, "IMPLICIT_PRECOMP_GEMM"},
    {"conv_time_tiles_fp32.csv.gz", 200e-6},
    {"gemm_time_tiles_fp32.csv.gz", 200e-6},
    {"conv_time_cudnn_fp16tc.csv.gz", 100e-6, "IMPLICIT_PRECOMP_GEMM", Precision::fp16},
    {"conv_traffic_v100_deepcam.csv", 0, "tensor core"},
    {"gemm_time_bf16.csv.gz", 0, "", Precision::bf16},
}};

struct Weighted {
    double ratio, weight;
};

// ValidatedQuantity over predicted of a regime; the rows of a file together weigh 1, so that no long one drowns the
// others.
std::vector<Weighted> ratios(Regime regime) {
    std::vector<Weighted> all;
    for (const Rows& file : kLearnedFrom) {
        std::vector<double> own;
        for (const ValidationRow& row : judged(file)) {
            const double measured = row.measured[static_cast<std::size_t>(ValidatedQuantity::time)],
                         predicted = row.predicted[static_cast<std::size_t>(EstimateSource::gambrel)]
                                                  [static_cast<std::size_t>(ValidatedQuantity::time)];
            if (row.regime == name(regime) && measured > 0) own.push_back(measured / predicted);
        }
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
        const TimeInterval table = time_intervals(architectures().front())[i];
        EXPECT_NEAR(table.low / percentile(all, 0.1), 1, 0.02) << name(regime);
        EXPECT_NEAR(table.high / percentile(all, 0.9), 1, 0.02) << name(regime);
    }
}

TEST_F(Intervals, of_streaming_layers_rest_on_no_rows) { EXPECT_TRUE(ratios(Regime::streaming).empty()); }

}  // namespace
}  // namespace gambrel
