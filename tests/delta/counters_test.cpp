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
    const Traffic wide = predicted(layer_of(square(8, 16, 128, 256, 1)), "a100-sxm4-80gb").traffic;
    EXPECT_EQ(wide.left_in_l2, half);
}

// conv_traffic_a100 has kernels that read 33.6 MB once and write as much: 16.8 and 17.3 MB of it were not written back.
// What is read takes a place in its own half, and half of it another one: 40 MiB are shared as 1 to 1.5.
TEST(Counters, of_a100_do_not_see_what_is_left_beside_what_the_kernel_has_read) {
    const Traffic even = predicted(layer_of(square(64, 32, 64, 32, 1)), "a100-sxm4-80gb").traffic;
    const Bytes all{40.0 * 1024 * 1024};
    EXPECT_NEAR(even.dram.a / even.dram.c, 1, 1e-9);
    EXPECT_NEAR(even.left_in_l2 / (all / 2.5), 1, 0.01);
    // Beside twice the input there are 10.5 MB; 11.2 to 11.5 were measured of 4 x 32 x 256 x 256 with 16 filters.
    const Traffic half = predicted(layer_of(square(4, 32, 256, 16, 1)), "a100-sxm4-80gb").traffic;
    EXPECT_NEAR(half.left_in_l2 / (all / 4), 1, 0.01);
}

// A tensor that is written in place has no place beside what was read of it.
TEST(Counters, of_a100_leave_half_of_l2_after_a_tensor_was_written_in_place) {
    Layer relu = layer_of(square(1, 1, 1, 1, 1));
    Streaming s;
    s.read[0] = s.written = 1e8;
    relu.op = s;
    relu.hints.overwrites = true;
    EXPECT_EQ(predicted(relu, "a100-sxm4-80gb").traffic.left_in_l2, Bytes{20.0 * 1024 * 1024});
}

// conv_traffic_a100: rows of 25 columns, every other of which is read, are 100 of 200 bytes and come as 160 in units of
// 64: 3.09 MB of 2 x 64 x 300 x 25, where the rows that are used have 1.92. Rows of 256 bytes come alone.
TEST(Counters, of_a100_see_the_rest_of_64_bytes_around_rows_that_a_stride_skips) {
    Convolution v = square(2, 64, 300, 128, 1, 0, 2);
    v.w = 25;
    const Traffic narrow = predicted(layer_of(v), "a100-sxm4-80gb").traffic;
    EXPECT_NEAR(narrow.dram.a.value() / 3.09e6, 1, 0.02);
    EXPECT_NEAR(narrow.beside.value(), 0.6 * 2 * 64 * 150 * 100, 1);
    v.w = 64;
    const Traffic wide = predicted(layer_of(v), "a100-sxm4-80gb").traffic;
    EXPECT_EQ(wide.beside, Bytes{});
    v.w = 25;
    EXPECT_EQ(predicted(layer_of(v), "v100-sxm2-16gb").traffic.beside, Bytes{});
}

// conv_traffic_a100, two channels and two filters: images of 33.6 MB are read twice, of 8.4 MB once.
TEST(Counters, of_direct_kernels_see_an_image_again_for_each_filter_unless_l2_has_kept_it) {
    const auto reads = [](std::int64_t side) {
        Layer layer = layer_of(square(64, 2, side, 2, 1));
        layer.hints.kernel =
            "void cudnn::cnn::conv2d_grouped_direct_kernel<(bool)0, (bool)1, (bool)0, (bool)0, (bool)0, (bool)0, "
            "(int)2, "
            "(int)1, int, float, float, float, float, float, float>(cudnnTensorStruct)";
        const Traffic t = predicted(layer, "a100-sxm4-80gb").traffic;
        return t.dram.a / compulsory_bytes(layer).input;
    };
    EXPECT_NEAR(reads(1024), 1, 1e-9);
    EXPECT_NEAR(reads(2048), 2, 1e-9);
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
