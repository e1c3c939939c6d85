// What does the table of a measurement say of probes that the device does not have?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <gambrel/report.hpp>

namespace gambrel {
namespace {

TEST(MeasurementText, probes_that_differ_only_in_type_and_instruction_share_a_sentence) {
    Measurement m;
    m.device.kind = DeviceKind::opencl;
    m.device.name = "a device";
    for (const char* subject : {"Tensor FP16", "Tensor BF16", "Tensor FP8"})
        for (const char* way : {"mma", "wgmma", "tcgen05"})
            m.skipped.push_back({std::string(subject) + ", " + way, "CUDA alone has them", subject, way});
    m.skipped.push_back({"Tensor FP4, tcgen05", "CUDA alone has them", "Tensor FP4", "tcgen05"});
    for (const char* subject : {"FP32", "Tensor FP16"})
        for (const char* n : {"1024", "2048"})
            m.skipped.push_back(
                {std::string(subject) + " GEMM by library, n = " + n, "no matrix library", subject, "GEMM by library"});
    m.skipped.push_back({"BF16 FMA", "no matrix library", "", ""});
    TextStyle style;
    style.width = 250;
    const std::string text = measurement_text(m, style);
    EXPECT_THAT(text,
                testing::HasSubstr("Not measured, CUDA alone has them: mma, wgmma, tcgen05 of Tensor FP16, Tensor "
                                   "BF16, Tensor FP8; tcgen05 of Tensor FP4.\n"));
    EXPECT_THAT(
        text, testing::HasSubstr("Not measured, no matrix library: BF16 FMA; GEMM by library of FP32, Tensor FP16.\n"));
}

TEST(MeasurementText, fewer_than_six_samples_have_no_interval) {
    Measurement m;
    MeasuredCeiling c;
    c.title = "FP32 FMA";
    TextStyle style;
    style.width = 250;
    for (const auto& [samples, shown] : {std::pair{std::vector<double>(1, 1e11), false},
                                         {std::vector<double>(5, 1e11), false},
                                         {std::vector<double>(6, 1e11), true}}) {
        c.value = statistics(samples);
        m.ceilings = {c};
        EXPECT_EQ(measurement_text(m, style).find("+0.0 +0.0 %") != std::string::npos, shown) << samples.size();
    }
}

}  // namespace
}  // namespace gambrel
