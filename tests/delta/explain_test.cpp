// Every line of an explanation is recomputed from its own operands, and the last one is the predicted time.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <gambrel/delta.hpp>

#include "mapping/sample.hpp"

namespace gambrel {
namespace {

using namespace test;

double base(const ExplainedLine::Value& value) {
    return std::visit(
        [](auto v) {
            if constexpr (std::is_same_v<decltype(v), double>)
                return v;
            else
                return v.value();
        },
        value);
}

double recomputed(const ExplainedLine& line) {
    double result = line.combine == ExplainedLine::Combine::product ? 1 : 0;
    for (const ExplainedLine::Operand& o : line.operands) {
        const double v = base(o.value);
        if (line.combine == ExplainedLine::Combine::product) result = o.divides ? result / v : result * v;
        if (line.combine == ExplainedLine::Combine::sum) result += v;
        if (line.combine == ExplainedLine::Combine::maximum) result = std::max(result, v);
    }
    return result;
}

void expect_true_lines(const Layer& layer, const Machine& gpu) {
    const ModelInputs in = *model_inputs(gpu);
    const Prediction p = predict(layer, gpu, in);
    const auto lines = explain(layer, p, in);
    ASSERT_FALSE(lines.empty());
    for (const ExplainedLine& line : lines) {
        if (line.combine == ExplainedLine::Combine::given) continue;
        ASSERT_NEAR(recomputed(line), base(line.result), 1e-9 * std::abs(base(line.result)) + 1e-18)
            << line.name << " of " << layer.name << " on " << gpu.id;
    }
    ASSERT_EQ(lines.back().name, "time");
    ASSERT_NEAR(base(lines.back().result) / p.time.value(), 1, 1e-9) << layer.name << " on " << gpu.id;
}

TEST(Explanations, are_true_line_by_line_and_end_with_the_time) {
    for (const char* id : {"k80", "t4", "v100-sxm2-16gb", "a100-sxm4-80gb", "h100-sxm"})
        for (const Precision precision : {Precision::fp32, Precision::fp16})
            for (const Layer& layer : in_precision(all_layers(), precision))
                ASSERT_NO_FATAL_FAILURE(expect_true_lines(layer, machine(id)));
}

TEST(Explanations, say_what_the_board_can_feed) {
    const Layer layer = layer_of(Gemm{.m = 4096, .n = 4096, .k = 4096});
    const ModelInputs in = *model_inputs(machine("t4"));
    const auto lines = explain(layer, predict(layer, machine("t4"), in), in);
    const auto seconds_of = [&](const char* name) {
        const auto found = std::find_if(lines.begin(), lines.end(), [&](const auto& l) { return l.name == name; });
        return found == lines.end() ? 0 : base(found->result);
    };
    EXPECT_GT(seconds_of("fed"), 0.03);
    EXPECT_NEAR(seconds_of("busy") / seconds_of("fed"), calibration().power_share, 1e-9);
}

TEST(Explanations, of_operands_that_come_sector_by_sector_are_true) {
    Layer layer = layer_of(Gemm{.m = 2000, .n = 4000, .k = 3000, .b_transposed = true});
    layer.hints.kernel = "maxwell_sgemm_64x64_tn";
    for (const char* id : {"p4", "p100-pcie-16gb"}) ASSERT_NO_FATAL_FAILURE(expect_true_lines(layer, machine(id)));
}

TEST(Explanations, of_groups_in_turn_and_timed_calls_are_true) {
    Convolution v = square(64, 128, 28, 128, 3, 1);
    v.groups = 4;
    Layer layer = layer_of(v);
    layer.hints.algorithm = "IMPLICIT_PRECOMP_GEMM";
    ASSERT_NO_FATAL_FAILURE(expect_true_lines(layer, machine("v100-sxm2-16gb")));
    for (const char* algorithm : {"GEMM", "WINOGRAD", "WINOGRAD_NONFUSED", "FFT"}) {
        layer.hints.algorithm = algorithm;
        ASSERT_NO_FATAL_FAILURE(expect_true_lines(layer, machine("v100-sxm2-16gb")));
        Layer whole = layer_of(square(8, 128, 28, 128, 3, 1));
        whole.hints.algorithm = algorithm;
        for (const char* id : {"v100-sxm2-16gb", "t4", "a100-sxm4-80gb"})
            ASSERT_NO_FATAL_FAILURE(expect_true_lines(whole, machine(id)));
    }
    layer = convolution_layer();
    layer.hints.kernels = 2;
    ASSERT_NO_FATAL_FAILURE(expect_true_lines(layer, machine("v100-sxm2-16gb")));
}

}  // namespace
}  // namespace gambrel
