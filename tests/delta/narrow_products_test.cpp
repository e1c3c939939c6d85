// Products of numbers of eight and of four bits, and what a board's power leaves of their clock: each mechanism by
// itself. The measurements are public ones of others (docs/model/tensor-cores.md).
#include <cmath>

#include <gtest/gtest.h>
#include <gambrel/delta.hpp>

namespace gambrel {
namespace {

struct Narrow {
    std::int64_t m, n, k;
    Precision precision = Precision::bf16;
    InputScales scales = InputScales::none;
};

Prediction on(const char* name, const Narrow& product) {
    const Machine& machine = *find_in_catalogue(name);
    const ModelInputs inputs = *model_inputs(machine);
    Layer layer;
    layer.op = Gemm{.m = product.m, .n = product.n, .k = product.k};
    layer.precision = product.precision;
    layer.hints.quantizes_input = product.scales;
    layer.hints.timing = Timing::graph;
    const Mapping mapping = mapping_for(layer, machine, inputs.limits);
    return predict(layer, mapping, occupancy(inputs.limits, mapping), inputs);
}

double petaflops(const char* name, std::int64_t side, Precision precision) {
    const Prediction p = on(name, {side, side, side, precision});
    return 2.0 * std::pow(static_cast<double>(side), 3) / p.time.value() / 1e15;
}

// What converting the input takes: it is charged before the kernel, as its start is.
double quantization(const char* name, Narrow product) {
    const double with = on(name, product).terms[Term::launch].value();
    product.scales = InputScales::none;
    return with - on(name, product).terms[Term::launch].value();
}

TEST(NarrowProducts, below_the_lowest_voltage_power_falls_with_the_clock_alone) {
    const Seconds busy{1};
    EXPECT_DOUBLE_EQ(powered_clock(busy, Seconds{0.5}, 0.75), 1);
    EXPECT_DOUBLE_EQ(powered_clock(busy, Seconds{1.5625}, 0.75), 0.8);
    EXPECT_DOUBLE_EQ(powered_clock(busy, Seconds{1 / (0.75 * 0.75)}, 0.75), 0.75);  // both laws meet
    EXPECT_DOUBLE_EQ(powered_clock(busy, Seconds{4}, 0.75), 0.25 / 0.75);
    EXPECT_DOUBLE_EQ(powered_clock(busy, Seconds{4}, 0), 0.5);
}

// BF16 squares of 4096, 8192 and 10240 on L4, whose 72 W leave it half of its clock: 55, 59 and 57 TFLOP/s. Those of
// 2048 are over before the voltage has fallen and reach 71.
TEST(NarrowProducts, of_l4_are_slower_than_the_square_root_of_its_power_says) {
    for (const auto& [side, measured] : {std::pair{4096, 0.0549}, {8192, 0.0594}, {10240, 0.0569}})
        EXPECT_NEAR(petaflops("l4", side, Precision::bf16) / measured, 1, 0.1) << side;
    EXPECT_NEAR(petaflops("l4", 2048, Precision::bf16) / 0.0709, 1, 0.15);
}

// The same chip at 600 W reaches 551 to 619 TFLOP/s in FP8 and 400 to 417 in BF16, of a peak twice as high.
TEST(NarrowProducts, of_eight_bits_take_more_than_half_of_the_energy_where_warps_load_operands) {
    const double narrow = petaflops("rtx-pro-6000-blackwell", 8192, Precision::fp8),
                 wide = petaflops("rtx-pro-6000-blackwell", 8192, Precision::bf16);
    EXPECT_NEAR(narrow, 0.619, 0.09);
    EXPECT_LT(narrow / wide, 1.75);
}

// B200 reaches 4.46, 5.50 and 5.37 PFLOP/s in NVFP4 with squares of 4096, 6144 and 8192; it could multiply 9.5.
TEST(NarrowProducts, of_four_bits_are_limited_by_power) {
    for (const auto& [side, measured] : {std::pair{4096, 4.46}, {6144, 5.50}, {8192, 5.37}})
        EXPECT_NEAR(petaflops("b200", side, Precision::fp4) / measured, 1, 0.1) << side;
}

// vLLM's kernel takes 8.7 us for 8,192 rows of 2,048 and 5.5 for half of them: a start, and 2.56 bytes a number.
TEST(NarrowProducts, of_four_bits_are_quantized_in_one_pass) {
    EXPECT_NEAR(quantization("b200", {8192, 8192, 2048, Precision::fp4, InputScales::blocks}), 8.7e-6, 0.9e-6);
    EXPECT_NEAR(quantization("b200", {4096, 8192, 2048, Precision::fp4, InputScales::blocks}), 5.5e-6, 0.9e-6);
}

}  // namespace
}  // namespace gambrel
