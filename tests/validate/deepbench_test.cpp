// DeepBench (conv_time_deepbench) lets cuDNN choose the algorithm of each pass and times many calls in a row. How far
// are predictions by the fastest algorithm from its times? Bounds are the errors of today and may only tighten.
#include <gtest/gtest.h>

#include "validate/measured.hpp"

namespace gambrel {
namespace {

using namespace test;

class DeepBench : public MeasuredData {
protected:
    static double percent(const char* gpu, const char* pass, bool tensor_cores) {
        const Rows rows{"conv_time_deepbench.csv.gz", 20e-6, "", Precision::fp32, false};
        const ErrorSummary s =
            summary(judged(rows), ValidatedQuantity::time, EstimateSource::gambrel, [&](const ValidationRow& row) {
                const bool by_matrix = row.regime == name(Regime::tensor_core);
                return row.gpu == gpu && row.pass == pass && by_matrix == tensor_cores &&
                       row.precision == (tensor_cores ? "fp16" : "fp32");
            });
        EXPECT_GT(s.rows, 50U) << gpu << ' ' << pass;
        return 100 * s.mean;
    }
};

struct PassBounds {
    const char* gpu;
    double fwd, dgrad, wgrad;  // mean absolute, in per cent
};

// As implicit GEMMs gradients were 54 and 47 (V100), 35 and 49 (T4), 65 and 42 (P100), 86 and 41 (GTX 1080 Ti) and 44
// and 26 % (TITAN X). Gradients of images with one or three channels, which P100 and GTX 1080 Ti have too, are far off.
TEST_F(DeepBench, of_fp32_is_as_fast_as_the_fastest_algorithm) {
    for (const PassBounds& b : {PassBounds{"V100", 16.3, 19.6, 21.3}, PassBounds{"T4", 12.9, 20.8, 15.7},
                                PassBounds{"P100", 20.7, 44.2, 25.7}, PassBounds{"1080Ti", 17.4, 48.9, 22.1},
                                PassBounds{"TitanX", 14.8, 23.4, 27.1}}) {
        EXPECT_LT(percent(b.gpu, "fwd", false), b.fwd) << b.gpu;
        EXPECT_LT(percent(b.gpu, "dgrad", false), b.dgrad) << b.gpu;
        EXPECT_LT(percent(b.gpu, "wgrad", false), b.wgrad) << b.gpu;
    }
}

// At the base clock 121, 90 and 82 %. V100's rows are of cuDNN 7.0 to 7.6, and those of the older ones up to 70 times
// slower than of 7.6.
TEST_F(DeepBench, of_t4s_tensor_cores_is_not_at_the_base_clock) {
    EXPECT_LT(percent("T4", "fwd", true), 27.1);
    EXPECT_LT(percent("T4", "dgrad", true), 31.3);
    EXPECT_LT(percent("T4", "wgrad", true), 39.4);
}

}  // namespace
}  // namespace gambrel
