// How far is the model from real GPUs? Bounds are the errors of today, a little rounded up, and may only tighten; where
// issue 5 states a floor and it is reached, the bound is below it.
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "validate/measured.hpp"

namespace gambrel {
namespace {

using namespace test;
using Choice = std::function<bool(const ValidationRow&)>;

class Accuracy : public MeasuredData {
protected:
    // In per cent, mean absolute.
    static void expect_error(const Rows& rows, ValidatedQuantity quantity, double bound, std::size_t count,
                             const Choice& chosen = {}) {
        const ErrorSummary s = summary(judged(rows), quantity, EstimateSource::gambrel, chosen);
        EXPECT_GE(s.rows, count) << rows.file << ' ' << name(quantity);
        EXPECT_LE(100 * s.mean, bound) << rows.file << ' ' << name(quantity) << ", " << s.rows << " rows";
    }
    static void expect_traffic(const Choice& chosen, std::size_t count, double l1, double l2, double dram) {
        const Rows rows{"conv_traffic_v100_deepcam.csv"};
        expect_error(rows, ValidatedQuantity::l1, l1, count, chosen);
        expect_error(rows, ValidatedQuantity::l2, l2, count, chosen);
        expect_error(rows, ValidatedQuantity::dram, dram, count, chosen);
    }
};

Choice rows_of(const char* precision, const char* pass, const char* with, const char* without = "\n") {
    return [=](const ValidationRow& r) {
        return r.precision == precision && r.pass == pass && holds(r.algorithm, with) && !holds(r.algorithm, without);
    };
}
Choice on(const char* gpu) {
    return [=](const ValidationRow& r) { return r.gpu == gpu; };
}

TEST_F(Accuracy, of_the_bytes_of_fp32_forward_implicit_gemms_on_v100) {  // floors 4, 6, 10
    expect_traffic(rows_of("fp32", "fwd", "", "WINOGRAD"), 15, 1.9, 3.3, 5.8);
}

TEST_F(Accuracy, of_the_bytes_of_fp32_input_gradients_on_v100) {  // floors 8, 10, 15
    expect_traffic(rows_of("fp32", "dgrad", "", "WINOGRAD"), 13, 3.7, 2.6, 7.3);
}

TEST_F(Accuracy, of_the_bytes_of_fp32_filter_gradients_on_v100) {  // floors 8, 10, 15: DRAM misses
    expect_traffic(rows_of("fp32", "wgrad", ""), 16, 1.9, 4.0, 17.8);
    // By wgrad_alg1, whose CTAs drift apart more than the model knows; without them DRAM is in.
    expect_traffic(rows_of("fp32", "wgrad", "", "alg1"), 13, 1.6, 3.8, 13.9);
}

TEST_F(Accuracy, of_the_bytes_of_tensor_core_convolutions_on_v100) {  // floors 12, 12, 15
    expect_traffic(rows_of("fp16", "fwd", "tensor core"), 24, 3.0, 6.0, 5.2);
    expect_traffic(rows_of("fp16", "dgrad", "tensor core"), 26, 1.0, 5.0, 6.6);
    expect_traffic(rows_of("fp16", "wgrad", "tensor core"), 24, 0.3, 1.1, 9.8);
}

TEST_F(Accuracy, of_the_bytes_of_all_fp16_convolutions_on_v100) {
    expect_traffic(rows_of("fp16", "fwd", ""), 32, 3.0, 11.0, 9.0);
    expect_traffic(rows_of("fp16", "dgrad", ""), 28, 10.5, 6.6, 9.4);
    expect_traffic(rows_of("fp16", "wgrad", ""), 30, 1.3, 11.9, 19.2);  // alg1 again
}

TEST_F(Accuracy, of_the_time_of_cudnns_implicit_precomp_gemm) {  // floors 8, 8, 10, 10, 15, 15
    const Rows rows{"conv_time_cudnn_fp32.csv.gz", 100e-6, "IMPLICIT_PRECOMP_GEMM"};
    expect_error(rows, ValidatedQuantity::time, 6.5, 1259, on("v100-sxm2-16gb"));
    expect_error(rows, ValidatedQuantity::time, 6.4, 552, on("titan-v"));
    expect_error(rows, ValidatedQuantity::time, 7.1, 933, on("t4"));
    expect_error(rows, ValidatedQuantity::time, 7.2, 1318, on("m60"));
    expect_error(rows, ValidatedQuantity::time, 10.9, 1299, on("k80"));       // with one wait in all waves 15.2
    expect_error(rows, ValidatedQuantity::time, 7.7, 1184, on("grid-k520"));  // by tiles with offsets 14.5
}

// With DRAM's latency in every step, all schedulers for two warps and 18 us a call: 12.0, 11.8, 26.4 and 22.5 %. With
// stores that are hidden and the loads of stride 1 for all depthwise layers: 10.1, 9.2, 12.2, 12.9, 17.7 and 8.9 %.
TEST_F(Accuracy, of_the_time_of_cudnns_implicit_gemm) {
    const Rows rows{"conv_time_cudnn_fp32.csv.gz", 100e-6};
    const auto on_gpu = [](const char* gpu) -> Choice {
        return [gpu](const ValidationRow& row) { return row.algorithm == "IMPLICIT_GEMM" && row.gpu == gpu; };
    };
    expect_error(rows, ValidatedQuantity::time, 7.7, 800, on_gpu("v100-sxm2-16gb"));
    expect_error(rows, ValidatedQuantity::time, 7.8, 300, on_gpu("titan-v"));
    expect_error(rows, ValidatedQuantity::time, 8.5, 600, on_gpu("t4"));
    expect_error(rows, ValidatedQuantity::time, 9.2, 400, on_gpu("m60"));    // in wide tiles, one wait a step: 16.7
    expect_error(rows, ValidatedQuantity::time, 11.3, 1100, on_gpu("k80"));  // in wide tiles for few CTAs: 13.4
    expect_error(rows, ValidatedQuantity::time, 6.7, 1200, on_gpu("grid-k520"));  // with other CTAs in the wait: 14.7
}

// Kepler's engines run both algorithms, so that shapes of one group have one time and one prediction.
TEST_F(Accuracy, of_both_implicit_algorithms_is_the_same_on_kepler) {
    std::map<std::pair<std::string, std::uint64_t>, std::map<std::string, const ValidationRow*>> shapes;
    for (const ValidationRow& row : judged({"conv_time_cudnn_fp32.csv.gz", 20e-6}))
        if (row.gpu == "k80" || row.gpu == "grid-k520") shapes[{row.gpu, row.shape}].emplace(row.algorithm, &row);
    constexpr auto kTime = static_cast<std::size_t>(ValidatedQuantity::time);
    constexpr auto kOurs = static_cast<std::size_t>(EstimateSource::gambrel);
    std::size_t same = 0, measured = 0;
    for (const auto& [shape, rows] : shapes) {
        const auto plain = rows.find("IMPLICIT_GEMM"), offsets = rows.find("IMPLICIT_PRECOMP_GEMM");
        if (plain == rows.end() || offsets == rows.end()) continue;
        const ValidationRow &a = *plain->second, &b = *offsets->second;
        if (std::abs(a.predicted[kOurs][kTime] / b.predicted[kOurs][kTime] - 1) > 1e-9) continue;
        ++same;
        measured += std::abs(a.measured[kTime] / b.measured[kTime] - 1) < 0.02;
    }
    EXPECT_GE(same, 1400U);
    EXPECT_GE(static_cast<double>(measured), 0.99 * static_cast<double>(same));
}

// With as many passes as A100's counters show and tiles of 32 images for up to 32: 39, 33, 28 and 28 %.
TEST_F(Accuracy, of_the_time_of_calls_by_fft_of_cudnn_7) {  // floor 20
    const Rows rows{"conv_time_cudnn_fp32.csv.gz", 20e-6};
    const auto on_gpu = [](const char* gpu) -> Choice {
        return [gpu](const ValidationRow& row) { return row.algorithm == "FFT" && row.gpu == gpu; };
    };
    expect_error(rows, ValidatedQuantity::time, 12.4, 1200, on_gpu("v100-sxm2-16gb"));
    expect_error(rows, ValidatedQuantity::time, 18.8, 300, on_gpu("titan-v"));
    expect_error(rows, ValidatedQuantity::time, 12.7, 280, on_gpu("t4"));
    expect_error(rows, ValidatedQuantity::time, 11.5, 250, on_gpu("m60"));
    expect_error(rows, ValidatedQuantity::time, 13.6, 250, on_gpu("k80"));
    expect_error(rows, ValidatedQuantity::time, 9.6, 250, on_gpu("grid-k520"));
}

// With the tiles that the engines have in FP32: 25.5, 23.2 and 21.5 %; without the lines of scattered loads 14.3, 17.5
// and 16.5.
TEST_F(Accuracy, of_the_time_of_all_fp16_calls_of_cudnn_7) {  // floor 20
    const Rows rows{"conv_time_cudnn_fp16tc.csv.gz", 20e-6, "", Precision::fp16};
    expect_error(rows, ValidatedQuantity::time, 7.4, 1760, on("t4"));
    expect_error(rows, ValidatedQuantity::time, 18.4, 1342, on("titan-v"));
    expect_error(rows, ValidatedQuantity::time, 15.8, 2242, on("v100-sxm2-16gb"));
}

TEST_F(Accuracy, of_the_time_of_convolutions_with_known_tiles) {  // floor 15
    const Rows rows{"conv_time_tiles_fp32.csv.gz", 200e-6};
    expect_error(rows, ValidatedQuantity::time, 14.3, 4909);
    expect_error(rows, ValidatedQuantity::time, 18.5, 842, on("Tesla P100-PCIE-16GB"));
    expect_error(rows, ValidatedQuantity::time, 13.6, 1866, on("Tesla P4"));
    expect_error(rows, ValidatedQuantity::time, 15.3, 1197, on("Tesla T4"));
    expect_error(rows, ValidatedQuantity::time, 11.2, 1004, on("Tesla V100-PCIE-32GB"));
}

TEST_F(Accuracy, of_the_time_of_gemms_with_known_tiles) {  // floor 15
    const Rows rows{"gemm_time_tiles_fp32.csv.gz", 200e-6};
    expect_error(rows, ValidatedQuantity::time, 7.35, 16329);
    expect_error(rows, ValidatedQuantity::time, 4.05, 2836, on("NVIDIA A100-PCIE-40GB"));
    expect_error(rows, ValidatedQuantity::time, 5.1, 3414, on("Tesla P100-PCIE-16GB"));
    expect_error(rows, ValidatedQuantity::time, 8.95, 3847, on("Tesla P4"));
    expect_error(rows, ValidatedQuantity::time, 11.9, 3479, on("Tesla T4"));
    expect_error(rows, ValidatedQuantity::time, 5.65, 2753, on("Tesla V100-PCIE-32GB"));
}

constexpr Rows kBf16{"gemm_time_bf16.csv.gz", 20e-6, "", Precision::bf16};
constexpr Rows kNarrow{"gemm_time_lowp.csv.gz", 20e-6, "", Precision::bf16};

TEST_F(Accuracy, of_the_time_of_bf16_gemms_with_unknown_tiles) {  // floor 7
    expect_error(kBf16, ValidatedQuantity::time, 6.6, 8625, on("a100_sxm"));
    expect_error(kBf16, ValidatedQuantity::time, 5.4, 4878, on("b200_sxm"));
    expect_error(kBf16, ValidatedQuantity::time, 4.4, 6497, on("h100_sxm"));
}

TEST_F(Accuracy, of_the_time_of_fp16_and_bf16_gemms_by_other_tools) {
    const auto wide = [](const char* gpu) {
        return [=](const ValidationRow& row) { return holds(row.gpu, gpu) && row.precision != "fp8"; };
    };
    expect_error(kNarrow, ValidatedQuantity::time, 6.5, 5777, wide("a100-sxm4-80gb"));
    expect_error(kNarrow, ValidatedQuantity::time, 7.2, 3466, wide("a40"));
    expect_error(kNarrow, ValidatedQuantity::time, 6.65, 1070, wide("h100-sxm"));
    expect_error(kNarrow, ValidatedQuantity::time, 3.3, 648, wide("rtx-4090"));
}

// Of products with one scale alone 8.9 %: with one tile for all and no kernel's walk 14.6 %.
TEST_F(Accuracy, of_the_time_of_fp8_gemms_on_h100) {  // floor 10
    const auto narrow = [](const ValidationRow& row) { return row.precision == "fp8"; };
    expect_error(kNarrow, ValidatedQuantity::time, 9.2, 2504, narrow);
}

// Three constants for each GPU, fitted on these very rows, against none for a GPU.
TEST_F(Accuracy, of_gemms_on_tensor_cores_beats_a_roofline_fitted_on_the_same_rows) {
    const auto compare = [](const Rows& rows, const char* gpu) {
        const auto wide = [=](const ValidationRow& row) { return holds(row.gpu, gpu) && row.precision != "fp8"; };
        const auto error = [&](EstimateSource source) {
            return summary(judged(rows), ValidatedQuantity::time, source, wide).mean;
        };
        EXPECT_LT(error(EstimateSource::gambrel), error(EstimateSource::roofline)) << rows.file << ' ' << gpu;
        EXPECT_GT(error(EstimateSource::roofline), 0) << gpu;
    };
    for (const char* gpu : {"a100_sxm", "b200_sxm", "h100_sxm"}) compare(kBf16, gpu);
    for (const char* gpu : {"a100-sxm4-80gb", "a40", "h100-sxm", "rtx-4090"}) compare(kNarrow, gpu);
    compare({"other_gpus/gemm_time_lowp.csv.gz", 20e-6, "", Precision::bf16}, "rtx-a6000");
}

// Without a clock that falls under power: -12 % (H100), -11 to -25 % (B200).
TEST_F(Accuracy, of_long_gemms_is_not_biased_by_the_clock) {
    for (const char* gpu : {"h100_sxm", "b200_sxm"}) {
        const auto is_long = [=](const ValidationRow& row) {
            return holds(row.gpu, gpu) && row.measured[static_cast<std::size_t>(ValidatedQuantity::time)] > 3e-3;
        };
        const ErrorSummary s = summary(judged(kBf16), ValidatedQuantity::time, EstimateSource::gambrel, is_long);
        EXPECT_GT(s.rows, 140U) << gpu;
        EXPECT_LT(std::abs(s.bias), 0.08) << gpu;
    }
}

// Predicted 1.25 (H100) and 1.43 (B200) times too slow before tiles had an overhead and copies overlapped.
TEST_F(Accuracy, of_short_reductions_is_not_biased) {
    for (const char* gpu : {"h100_sxm", "b200_sxm"}) {
        const auto is_short = [=](const ValidationRow& row) {  // the name ends with K
            return holds(row.gpu, gpu) && std::stoi(row.name.substr(row.name.rfind('x') + 1)) <= 128;
        };
        const ErrorSummary s = summary(judged(kBf16), ValidatedQuantity::time, EstimateSource::gambrel, is_short);
        EXPECT_GT(s.rows, 100U) << gpu;
        EXPECT_LT(std::abs(s.bias), 0.08) << gpu;
    }
}

// Without zeros in the steps of a tap, channels left to the engines and tiles of 128 x 128 at least: 25 %; T4 at its
// sustained clock 32 %, the others at boost 20.8 and 18.1 %.
TEST_F(Accuracy, of_the_time_of_tensor_core_convolutions_by_cudnn_7) {  // floor 20
    const Rows rows{"conv_time_cudnn_fp16tc.csv.gz", 100e-6, "IMPLICIT_PRECOMP_GEMM", Precision::fp16};
    expect_error(rows, ValidatedQuantity::time, 13.3, 677, on("v100-sxm2-16gb"));
    expect_error(rows, ValidatedQuantity::time, 8.2, 786, on("t4"));
    expect_error(rows, ValidatedQuantity::time, 13.9, 308, on("titan-v"));
}

// TensorRT's engines of ResNet-18. As convolutions of Volta, which run in waves of copies through registers and at a
// clock that does not fall, they were 23, 26 and 32 % off; without the kernel of TF32 read from its name 348 %.
TEST_F(Accuracy, of_the_time_of_tensor_core_convolutions_on_a100) {
    const Rows rows{"network_op_time.csv.gz", 20e-6, "", Precision::fp32, false};
    const auto in = [](const char* precision) {
        return [=](const ValidationRow& r) { return r.op == "convolution" && r.precision == precision; };
    };
    expect_error(rows, ValidatedQuantity::time, 8.2, 17, in("fp16"));
    expect_error(rows, ValidatedQuantity::time, 11, 18, in("tf32"));
    expect_error(rows, ValidatedQuantity::time, 12, 47, in("int8"));
}

// As implicit GEMMs without a matrix to write: 38 %.
TEST_F(Accuracy, of_the_time_of_calls_by_gemm_of_cudnn_7) {
    const Choice by_gemm = [](const ValidationRow& row) { return row.algorithm == "GEMM"; };
    expect_error({"conv_time_cudnn_fp32.csv.gz", 100e-6}, ValidatedQuantity::time, 16.9, 3500, by_gemm);
}

// Without the engines' loads the times of DeepCAM's filter gradients are 27 % off in FP32, those of all rows 13.3 %;
// without the lines of scattered loads 18.7 and 9.1.
TEST_F(Accuracy, of_the_time_of_deepcams_convolutions_on_v100) {
    const Rows rows{"conv_traffic_v100_deepcam.csv"};
    expect_error(rows, ValidatedQuantity::time, 9.1, 136);
    expect_error(rows, ValidatedQuantity::time, 9.9, 16, rows_of("fp32", "wgrad", ""));
    expect_error(rows, ValidatedQuantity::time, 9.8, 24, rows_of("fp16", "wgrad", "tensor core"));
}

// Read as convolutions alone, at boost clock: 54, 42, 62 and 54 %.
TEST_F(Accuracy, of_whole_calls_of_frameworks_on_v100) {
    const Rows rows{"conv_traffic_v100_isolated.csv"};
    expect_error(rows, ValidatedQuantity::l1, 36.5, 84);
    expect_error(rows, ValidatedQuantity::l2, 26.0, 84);
    expect_error(rows, ValidatedQuantity::dram, 20.5, 84);
    expect_error(rows, ValidatedQuantity::time, 19.0, 84);
}

TEST_F(Accuracy, is_better_than_the_papers_at_dram_and_in_time) {
    const auto traffic = judged({"conv_traffic_v100_deepcam.csv"});
    EXPECT_LT(summary(traffic, ValidatedQuantity::dram, EstimateSource::gambrel).mean,
              0.5 * summary(traffic, ValidatedQuantity::dram, EstimateSource::paper).mean);
    const auto times = judged({"conv_time_cudnn_fp32.csv.gz", 100e-6, "IMPLICIT_PRECOMP_GEMM"});
    EXPECT_LT(summary(times, ValidatedQuantity::time, EstimateSource::gambrel).mean,
              0.5 * summary(times, ValidatedQuantity::time, EstimateSource::paper).mean);
}

}  // namespace
}  // namespace gambrel
