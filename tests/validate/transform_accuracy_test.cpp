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
// as implicit GEMMs: 29, 30, 23, 25 and 30 %. With tiles of 128 x 128 and transforms of no
// instructions: 15.0, 12.7, 14.0, 15.1, 17.9 and 33.2 %.
TEST_F(TransformAccuracy, of_the_time_of_winograd_in_separate_kernels) {
    expect_errors(
        "WINOGRAD_NONFUSED", 20e-6,
        {{"v100-sxm2-16gb", 8.7}, {"titan-v", 7.9}, {"t4", 6.2}, {"m60", 6.7}, {"k80", 12.0}, {"grid-k520", 17.6}});
}

// Without what passes the lines of shared memory on T4 and without spilled sums on GRID K520: 22 and 85 %.
TEST_F(TransformAccuracy, of_the_time_of_fused_winograd) {
    expect_errors(
        "WINOGRAD", 20e-6,
        {{"v100-sxm2-16gb", 4.3}, {"titan-v", 7.0}, {"t4", 11}, {"m60", 9.0}, {"k80", 9.4}, {"grid-k520", 13.8}});
}

// With as much work for a filter as for a tile: 18.9, 16.3, 15.6, 17.9, 20.9 and 27.0 %. With CTA tiles that tiles of
// images taken in turn share, seven launches for each, and tiles of 32 images on K80: 13.0, 11.8, 15.6, 16.2, 21.3 and
// 22.7 %; with launches for filters that pass while tiles run 14.0, 11.8, 14.1, 16.4, 9.2 and 21.3 %. With tiles of
// real products of up to 64 x 64 whatever the kernel: 13.1, 12.6, 14.0, 15.9, 9.2 and 21.0 %.
TEST_F(TransformAccuracy, of_the_time_of_tiles_by_fourier) {
    expect_errors(
        "FFT_TILING", 20e-6,
        {{"v100-sxm2-16gb", 10.6}, {"titan-v", 10.2}, {"t4", 11.0}, {"m60", 8.4}, {"k80", 8.7}, {"grid-k520", 10.5}});
}

// With transposed spectra everywhere and tiles of 32 images for up to 32: 17.3, 24.4, 15.3, 20.7, 17.3 and 18.2 %.
TEST_F(TransformAccuracy, of_the_time_of_whole_images_by_fourier) {
    expect_errors(
        "FFT", 20e-6,
        {{"v100-sxm2-16gb", 12.4}, {"titan-v", 14.5}, {"t4", 10.5}, {"m60", 11.3}, {"k80", 12.3}, {"grid-k520", 8.5}});
}

// With a wait of DRAM for every channel whatever the filter, and no scattered stores on K80: 17, 18, 18, 21, 29 and 17
// %. With no wait for rows of several taps M60 and GRID K520 are 13.6 and 10.5 %.
TEST_F(TransformAccuracy, of_the_time_of_calls_by_gemm) {
    expect_errors(
        "GEMM", 100e-6,
        {{"v100-sxm2-16gb", 11.1}, {"titan-v", 12.0}, {"t4", 10.9}, {"m60", 11.1}, {"k80", 8.7}, {"grid-k520", 8.5}});
}

}  // namespace
}  // namespace gambrel
