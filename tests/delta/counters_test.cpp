// What a profiler's counters of one kernel see: lookups in the other half of L2, and not what the kernel leaves there.
#include <gtest/gtest.h>
#include <gambrel/delta.hpp>

#include "mapping/sample.hpp"

namespace gambrel {
namespace {

using namespace test;

Prediction predicted(const Layer& layer, const char* gpu) {
    const Mapping m = mapping_for(layer, machine(gpu));
    return predict(layer, m, occupancy(machine(gpu), m), *model_inputs(machine(gpu)));
}

TEST(Counters, of_v100_see_what_its_levels_move) {
    const Traffic t = predicted(layer_of(square(32, 256, 28, 256, 3, 1)), "v100-sxm2-16gb").traffic;
    EXPECT_EQ(t.counted_l2(), t.l2.total());
    EXPECT_EQ(t.counted_dram(), t.dram.total());
}

TEST(Counters, of_a100_count_what_comes_from_dram_twice_and_shared_operands_in_both_halves) {
    // One column of CTAs: the input is read once. 16 columns of an input that no L2 holds: each reads it again.
    const Traffic once = predicted(layer_of(square(128, 64, 128, 64, 1)), "a100-sxm4-80gb").traffic;
    EXPECT_NEAR(once.l2_crossing.a / once.dram.a, 1, 0.05);
    // A filter that all CTAs share crosses once for each half, however often it is asked for.
    EXPECT_NEAR(once.l2_crossing.b / once.dram.b, 2, 1e-6);
    EXPECT_NEAR(once.l2_crossing.c / once.l2.c, 1, 1e-6);
}

TEST(Counters, of_a100_do_not_see_the_output_that_is_still_in_l2) {
    const Bytes half{20.0 * 1024 * 1024};
    const Traffic small = predicted(layer_of(square(8, 64, 56, 64, 1)), "a100-sxm4-80gb").traffic;
    EXPECT_LT(small.dram.c, half);
    EXPECT_EQ(small.left_in_l2, small.dram.c);
    const Traffic large = predicted(layer_of(square(128, 64, 128, 64, 1)), "a100-sxm4-80gb").traffic;
    EXPECT_EQ(large.left_in_l2, half);
}

TEST(Counters, a_write_over_what_was_read_crosses_half_as_often_as_a_fresh_one) {
    Layer product = layer_of(Gemm{.m = 4096, .n = 1024, .k = 1024, .b_transposed = true});
    product.hints.kernel = "ampere_sgemm_128x64_tn";
    const Traffic fresh = predicted(product, "a100-sxm4-80gb").traffic;
    product.hints.overwrites = true;
    const Traffic again = predicted(product, "a100-sxm4-80gb").traffic;
    const Bytes once{4096.0 * 1024 * 4};
    EXPECT_EQ(again.l1.c, fresh.l1.c + once);
    EXPECT_EQ(again.dram.c, fresh.dram.c + once);
    EXPECT_EQ(fresh.l2_crossing.c, once);
    EXPECT_EQ(again.l2_crossing.c, once * 1.5);  // read: 1, written: 0.5
}

// 86 of 256 elements begin inside a sector: with every 8 of them one more comes.
TEST(Counters, parts_of_a_split_that_begin_inside_a_sector_take_one_more_with_every_run) {
    Layer product = layer_of(Gemm{.m = 3072, .n = 1024, .k = 256, .b_transposed = true});
    product.hints.kernel = "ampere_sgemm_128x64_tn";
    const Traffic whole = predicted(product, "a100-sxm4-80gb").traffic;
    product.hints.fma = 3072.0 * 1024 * (3 * 88 + 2);
    const Traffic split = predicted(product, "a100-sxm4-80gb").traffic;
    EXPECT_NEAR(split.l1.a / whole.l1.a, 5.0 / 3, 1e-9);
    EXPECT_NEAR(split.l1.c / whole.l1.c, 5, 1e-9);  // written three times, read twice
}

}  // namespace
}  // namespace gambrel
