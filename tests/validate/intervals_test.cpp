// The intervals that predictions carry: learned again from half of the shapes, and judged on the other half.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>

#include <fmt/format.h>

#include "validate/measured.hpp"

namespace gambrel {
namespace {

using namespace test;

// Shorter rows are the host's time and the timer's.
constexpr double kShortest = 20e-6;
constexpr std::array<Rows, 13> kTables = {{
    {"conv_time_cudnn_fp32.csv.gz", kShortest},
    {"conv_time_tiles_fp32.csv.gz", kShortest},
    {"conv_time_cudnn_fp16tc.csv.gz", kShortest, "", Precision::fp16},
    {"conv_time_cudnn8_a100.csv.gz", kShortest},
    {"conv_traffic_a100.csv.gz", kShortest},
    {"conv_traffic_v100_deepcam.csv", kShortest},
    {"gemm_time_tiles_fp32.csv.gz", kShortest},
    {"gemm_traffic_a100.csv.gz", kShortest},
    {"gemm_time_bf16.csv.gz", kShortest, "", Precision::bf16},
    {"gemm_time_lowp.csv.gz", kShortest, "", Precision::bf16},
    {"attention_time.csv.gz", kShortest, "", Precision::bf16},
    {"moe_time.csv.gz", kShortest, "", Precision::bf16},
    {"vector_op_time.csv.gz", kShortest, "", Precision::fp32, false},
}};

// Fewer rows say too little of a tenth of them.
constexpr std::size_t kLeastRows = 60;
// Of the rows of one GPU and operator in a regime, on each side of the interval.
constexpr double kMostOutside = 0.15;

struct Row {
    double ratio;  // measured over predicted
    bool inside, fitted;
    std::size_t regime;
    std::string gpu, architecture, op;
};

std::size_t regime_from(const std::string& text) {
    for (std::size_t i = 0; i < kRegimes; ++i)
        if (name(static_cast<Regime>(i)) == text) return i;
    ADD_FAILURE() << text;
    return 0;
}

const std::vector<Row>& rows() {
    static std::vector<Row> all;
    if (!all.empty()) return all;
    for (const Rows& file : kTables)
        for (const ValidationRow& row : judged(file)) {
            const double measured = measured_time(row), predicted = predicted_time(row);
            if (measured <= 0 || predicted <= 0) continue;
            const Machine& machine = *find_in_catalogue(row.gpu);
            all.push_back({measured / predicted, measured >= row.time_low && measured <= row.time_high,
                           is_fitted_on(row.shape), regime_from(row.regime), machine.id, architecture_of(machine).id,
                           row.op});
        }
    return all;
}

// Of all architectures where none is named; nothing where there are too few rows. Each GPU and operator weighs the
// same, however many rows it has, so that an interval is not that of the largest table. Groups of fewer than kLeastRows
// count by their rows.
std::optional<TimeInterval> learned(std::size_t regime, const std::string& architecture = {}) {
    std::vector<const Row*> chosen;
    std::map<std::pair<std::string, std::string>, std::size_t> sizes;
    for (const Row& row : rows())
        if (row.fitted && row.regime == regime && (architecture.empty() || row.architecture == architecture)) {
            chosen.push_back(&row);
            ++sizes[{row.gpu, row.op}];
        }
    if (chosen.size() < kLeastRows) return std::nullopt;
    std::sort(chosen.begin(), chosen.end(), [](const Row* x, const Row* y) { return x->ratio < y->ratio; });
    std::vector<double> up_to;  // sum of the weights, row by row
    double sum = 0;
    for (const Row* row : chosen)
        up_to.push_back(sum += 1 / static_cast<double>(std::max(kLeastRows, sizes[{row->gpu, row->op}])));
    const auto at = [&](double share) {
        const auto place = std::lower_bound(up_to.begin(), up_to.end(), share * sum) - up_to.begin();
        return chosen[static_cast<std::size_t>(place)]->ratio;
    };
    // Where nine of ten rows lie on one side, the interval still has the prediction itself.
    TimeInterval interval{std::min(1.0, at(0.1)), std::max(1.0, at(0.9))};
    // The tenth of a mixture can be a third of one of its parts.
    std::map<std::pair<std::string, std::string>, std::vector<double>> parts;
    for (const Row* row : chosen) parts[{row->gpu, row->op}].push_back(row->ratio);
    for (const auto& [which, ratios] : parts) {
        if (ratios.size() < kLeastRows) continue;
        const auto share = [&ratios = ratios](double x) {
            return ratios[static_cast<std::size_t>(x * static_cast<double>(ratios.size()))];
        };
        interval.low = std::min(interval.low, share(kMostOutside));
        interval.high = std::max(interval.high, share(1 - kMostOutside));
    }
    return interval;
}

std::string text_of(const TimeInterval& i) { return fmt::format("\"low\": {:.3f}, \"high\": {:.3f}", i.low, i.high); }

// data/model/intervals.json from the rows, to the file that GAMBREL_LEARN_INTERVALS names: `make intervals`.
void write(const char* path) {
    std::string text =
        "{\n  \"schema\": 1,\n  \"note\": \"How far measured times lie from predicted ones: the 10th and 90th "
        "percentile "
        "of measured over predicted in each regime, and on each architecture that has enough rows of it. Learned from "
        "half of the shapes by `make intervals`; tests/validate/intervals_test.cpp judges them on the other half.\",\n"
        "  \"intervals\": {\n";
    for (std::size_t i = 0; i < kRegimes; ++i) {
        const auto all = learned(i);
        ASSERT_TRUE(all) << name(static_cast<Regime>(i));
        text += fmt::format("    \"{}\": {{{}", name(static_cast<Regime>(i)), text_of(*all));
        std::map<std::string, TimeInterval> own;
        for (const Architecture& a : architectures())
            if (const auto found = learned(i, a.id)) own.emplace(a.id, *found);
        std::string inner;
        for (const auto& [id, interval] : own)
            inner += fmt::format("{}\n        \"{}\": {{{}}}", inner.empty() ? "" : ",", id, text_of(interval));
        if (!inner.empty()) text += ", \"by_architecture\": {" + inner + "}";
        text += i + 1 < kRegimes ? "},\n" : "}\n";
    }
    std::ofstream(path) << text << "  }\n}\n";
}

class Intervals : public MeasuredData {};

TEST_F(Intervals, are_the_tenth_and_ninetieth_percentile_of_the_fitted_half) {
    if (const char* path = std::getenv("GAMBREL_LEARN_INTERVALS")) {
        write(path);
        GTEST_SKIP() << "written to " << path;
    }
    for (const Architecture& a : architectures())
        for (std::size_t i = 0; i < kRegimes; ++i) {
            auto own = learned(i, a.id);
            if (!own) own = learned(i);
            ASSERT_TRUE(own);
            EXPECT_NEAR(time_intervals(a)[i].low / own->low, 1, 0.02) << a.id << ", " << name(static_cast<Regime>(i));
            EXPECT_NEAR(time_intervals(a)[i].high / own->high, 1, 0.02) << a.id << ", " << name(static_cast<Regime>(i));
        }
}

// Shapes that no interval was learned from.
TEST_F(Intervals, hold_four_of_five_rows_that_were_kept_out_on_every_gpu_and_of_every_operator) {
    std::map<std::string, std::pair<double, double>> inside;  // by GPU and operator: rows inside, rows
    for (const Row& row : rows()) {
        if (row.fitted) continue;
        auto& [in, of] = inside[row.gpu + ", " + row.op];
        in += row.inside ? 1 : 0;
        of += 1;
    }
    double sum = 0, groups = 0;
    for (const auto& [which, share] : inside) {
        if (share.second < kLeastRows) continue;
        groups += 1;
        sum += share.first / share.second;
        EXPECT_GE(share.first / share.second, 0.74) << which;
    }
    EXPECT_GT(groups, 25);
    EXPECT_NEAR(sum / groups, 0.8, 0.03);
}

}  // namespace
}  // namespace gambrel
