// The Roofline that validate fits, and the halves that --hold-out compares, on rows whose truth is known.
#include <cmath>

#include <gtest/gtest.h>
#include <gambrel/validate.hpp>

namespace gambrel {
namespace {

constexpr auto kTime = static_cast<std::size_t>(ValidatedQuantity::time);
constexpr auto kOurs = static_cast<std::size_t>(EstimateSource::gambrel);

// Times that follow a Roofline exactly; our prediction is a tenth too long.
std::vector<ValidationRow> rows_of(const FittedRoofline& truth, const std::string& gpu) {
    std::vector<ValidationRow> rows;
    for (int i = 0; i < 200; ++i) {
        ValidationRow row;
        row.gpu = gpu;
        row.op = "gemm";
        row.precision = "bf16";
        row.shape = static_cast<std::uint64_t>(i) << 32;
        row.roof_compute = 1e-6 * std::pow(1.05, i);
        row.roof_memory = 1e-4 * std::pow(0.97, i);
        row.measured[kTime] = truth.time(row);
        row.predicted[kOurs][kTime] = 1.1 * row.measured[kTime];
        row.time_low = 0.95 * row.predicted[kOurs][kTime];
        row.time_high = 1.2 * row.predicted[kOurs][kTime];
        rows.push_back(row);
    }
    return rows;
}

std::vector<const ValidationRow*> pointers(const std::vector<ValidationRow>& rows) {
    std::vector<const ValidationRow*> out;
    for (const ValidationRow& row : rows) out.push_back(&row);
    return out;
}

TEST(FittedRoofline, finds_the_constants_that_made_the_times) {
    const FittedRoofline truth{5e-6, 0.7, 0.85};
    const auto rows = rows_of(truth, "a");
    const auto fitted = fitted_roofline(pointers(rows));
    ASSERT_TRUE(fitted);
    EXPECT_NEAR(fitted->start, truth.start, 0.05 * truth.start);
    EXPECT_NEAR(fitted->compute, truth.compute, 0.02);
    EXPECT_NEAR(fitted->memory, truth.memory, 0.02);
}

TEST(FittedRoofline, is_not_fitted_on_a_handful_of_rows) {
    auto rows = rows_of({5e-6, 0.7, 0.85}, "a");
    rows.resize(9);
    EXPECT_FALSE(fitted_roofline(pointers(rows)));
}

TEST(HoldOut, reports_both_halves_of_the_shapes_and_each_gpu) {
    Validation v;
    v.rows = rows_of({5e-6, 0.7, 0.85}, "a");
    for (ValidationRow& row : rows_of({5e-6, 0.35, 0.85}, "b")) v.rows.push_back(row);
    const auto lines = held_out_errors(v);
    ASSERT_EQ(lines.size(), 6U);  // two halves of two GPUs, and each GPU by the other's Roofline
    for (const HeldOutErrors& line : lines) {
        EXPECT_NEAR(line.gambrel, 0.1, 1e-9);
        EXPECT_EQ(line.inside, 0);  // 1 / 1.1 is below 0.95
        if (line.split == "shape") {
            EXPECT_EQ(line.rows, 100U);
            EXPECT_LT(line.roofline, 0.02) << line.gpu << ' ' << line.side;
        } else {
            EXPECT_EQ(line.rows, 200U);
            EXPECT_GT(line.roofline, 0.2) << line.gpu << ": carried over from a GPU that reaches twice the share";
        }
    }
}

TEST(HoldOut, counts_rows_inside_the_interval) {
    Validation v;
    v.rows = rows_of({5e-6, 0.7, 0.85}, "a");
    for (ValidationRow& row : v.rows)
        row.time_low = 0.9 * row.measured[kTime], row.time_high = 1.1 * row.measured[kTime];
    for (const HeldOutErrors& line : held_out_errors(v)) EXPECT_EQ(line.inside, 1);
}

}  // namespace
}  // namespace gambrel
