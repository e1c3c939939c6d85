// How far are the times of cuDNN 7's calls by transforms and by an explicit matrix from real GPUs? Bounds are the
// errors of today, a little rounded up, and may only tighten. Groups in turn are among the rows.
#include <gtest/gtest.h>

#include "validate/measured.hpp"

namespace gambrel {
namespace {

using namespace test;

class TransformAccuracy : public MeasuredData {
protected:
    struct Bound {
        const char* gpu;
        double percent;  // mean absolute
    };
    static void expect_errors(const char* algorithm, double min_time, const std::vector<Bound>& bounds) {
        const Rows rows{"conv_time_cudnn_fp32.csv.gz", min_time};
        for (const Bound& bound : bounds) {
            const ErrorSummary s =
                summary(judged(rows), ValidatedQuantity::time, EstimateSource::gambrel,
                        [&](const ValidationRow& row) { return row.algorithm == algorithm && row.gpu == bound.gpu; });
            EXPECT_GT(s.rows, 50U) << algorithm << ' ' << bound.gpu;
            EXPECT_LE(100 * s.mean, bound.percent) << algorithm << ' ' << bound.gpu << ", " << s.rows << " rows";
        }
    }
};

// With whole tiles loaded and stored: 17.0 on V100 and 16.3 % on TITAN V. Without 16 images at least, and 5 x 5 filters
// as implicit GEMMs: 29, 30, 23, 25 and 30 %.
TEST_F(TransformAccuracy, of_the_time_of_winograd_in_separate_kernels) {
    expect_errors("WINOGRAD_NONFUSED", 20e-6,
                  {{"v100-sxm2-16gb", 15.3}, {"titan-v", 13}, {"t4", 14.4}, {"m60", 15.5}, {"k80", 18.5}});
}

// Without what passes the lines of shared memory on T4 and without spilled sums on GRID K520: 22 and 85 %.
TEST_F(TransformAccuracy, of_the_time_of_fused_winograd) {
    expect_errors(
        "WINOGRAD", 20e-6,
        {{"v100-sxm2-16gb", 4.3}, {"titan-v", 7.0}, {"t4", 11}, {"m60", 12.8}, {"k80", 9.4}, {"grid-k520", 15.2}});
}

// With as much work for a filter as for a tile: 18.9, 16.3, 15.6, 17.9, 20.9 and 27.0 %. At half of the DRAM bandwidth,
// and without what a CTA takes alone on Kepler and Maxwell: 18, 21, 19, 25, 33 and 28 %.
TEST_F(TransformAccuracy, of_the_time_of_tiles_by_fourier) {
    expect_errors(
        "FFT_TILING", 20e-6,
        {{"v100-sxm2-16gb", 13.3}, {"titan-v", 12.1}, {"t4", 16.1}, {"m60", 16.6}, {"k80", 21.4}, {"grid-k520", 24.7}});
}

// At 0.7 of the DRAM bandwidth whatever the length of a row, and as many passes for 64 points as for
// 32: 18.7, 28.8, 20.4, 24.2, 19.5 and 19.3 %.
TEST_F(TransformAccuracy, of_the_time_of_whole_images_by_fourier) {
    expect_errors(
        "FFT", 20e-6,
        {{"v100-sxm2-16gb", 17.5}, {"titan-v", 24.6}, {"t4", 15.5}, {"m60", 20.9}, {"k80", 17.5}, {"grid-k520", 18.4}});
}

// With a wait for every channel whatever the filter, and no scattered stores on K80: 17, 18, 18, 21, 29 and 17 %.
TEST_F(TransformAccuracy, of_the_time_of_calls_by_gemm) {
    expect_errors(
        "GEMM", 100e-6,
        {{"v100-sxm2-16gb", 12.9}, {"titan-v", 15.2}, {"t4", 13.9}, {"m60", 14.1}, {"k80", 18.3}, {"grid-k520", 12.9}});
}

}  // namespace
}  // namespace gambrel
