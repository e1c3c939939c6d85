// A library's search times every algorithm of a layer and takes the fastest. Does the model find the same one, and how
// far is its time from the fastest call?
#include <algorithm>
#include <cmath>
#include <map>

#include "validate/measured.hpp"

namespace gambrel {
namespace {

using namespace test;

// Those of by_library_algorithms.
bool is_candidate(const ValidationRow& row) { return !holds(row.algorithm, "FFT") && row.algorithm != "GEMM"; }
// No choice is offered for groups.
bool has_groups(const ValidationRow* row) {
    return row->regime == name(Regime::groups_in_turn) || row->regime == name(Regime::direct);
}

struct Choices {
    double shapes = 0, right = 0, loss = 0, error = 0, implicit_error = 0;
};

Choices choices(const char* file, const std::string& gpu) {
    std::map<std::uint64_t, std::vector<const ValidationRow*>> by_shape;
    for (const ValidationRow& row : judged({file, 0}))
        if (row.gpu == gpu && is_candidate(row)) by_shape[row.shape].push_back(&row);
    Choices all;
    for (const auto& [shape, rows] : by_shape) {
        const auto less = [](double (*by)(const ValidationRow&)) {
            return [by](const ValidationRow* a, const ValidationRow* b) { return by(*a) < by(*b); };
        };
        const ValidationRow& fastest = **std::min_element(rows.begin(), rows.end(), less(measured_time));
        const ValidationRow& found = **std::min_element(rows.begin(), rows.end(), less(predicted_time));
        const auto implicit = std::find_if(rows.begin(), rows.end(), [](const ValidationRow* row) {
            return row->algorithm == "IMPLICIT_PRECOMP_GEMM";
        });
        if (std::any_of(rows.begin(), rows.end(), has_groups)) continue;
        if (rows.size() < 2 || implicit == rows.end() || measured_time(fastest) < 20e-6) continue;
        all.shapes += 1;
        all.right += found.algorithm == fastest.algorithm ? 1 : 0;
        all.loss += measured_time(found) / measured_time(fastest) - 1;
        all.error += std::abs(predicted_time(found) / measured_time(fastest) - 1);
        all.implicit_error += std::abs(predicted_time(**implicit) / measured_time(fastest) - 1);
    }
    return all;
}

struct Expected {
    const char *file, *gpu;
    double right, loss, error;  // the least share that is right; the most, on average
};

class AlgorithmChoice : public MeasuredData {};

TEST_F(AlgorithmChoice, is_that_of_the_fastest_call) {
    for (const Expected& e : {Expected{"conv_time_cudnn_fp32.csv.gz", "v100-sxm2-16gb", 0.87, 0.04, 0.055},
                              Expected{"conv_time_cudnn_fp32.csv.gz", "t4", 0.95, 0.01, 0.061},
                              Expected{"conv_time_cudnn_fp32.csv.gz", "titan-v", 0.89, 0.02, 0.053},
                              Expected{"conv_time_cudnn_fp32.csv.gz", "m60", 0.91, 0.013, 0.065},
                              Expected{"conv_time_cudnn8_a100.csv.gz", "a100-sxm4-80gb", 0.74, 0.09, 0.18}}) {
        const Choices all = choices(e.file, e.gpu);
        ASSERT_GT(all.shapes, 30) << e.gpu;
        EXPECT_GE(all.right / all.shapes, e.right) << e.gpu;
        EXPECT_LE(all.loss / all.shapes, e.loss) << e.gpu;
        EXPECT_LE(all.error / all.shapes, e.error) << e.gpu;
        EXPECT_LT(all.error, 0.6 * all.implicit_error) << e.gpu;
    }
}

}  // namespace
}  // namespace gambrel
