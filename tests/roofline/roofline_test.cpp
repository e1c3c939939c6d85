// The verdict, on a toy machine of 100 GFLOP/s and 10 GB/s.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "roofline/toy.hpp"

namespace gambrel {
namespace {

using test::launch;
using test::measured;
using test::toy_machine;

const LevelVerdict& level(const Roofline& r, Level l) {
    for (const auto& v : r.levels)
        if (v.level == l) return v;
    throw std::runtime_error("no verdict");
}

TEST(Roofline, a_kernel_left_of_the_ridge_is_bound_by_memory) {
    // 1e9 FLOP and 1e9 B in 0.2 s: DRAM alone needs 0.1 s.
    const auto r = roofline(toy_machine(), launch("k", 0.2, 1e9, 1e9));
    EXPECT_EQ(to_text(r.bound), "DRAM");
    EXPECT_DOUBLE_EQ(r.shortest.value(), 0.1);
    EXPECT_DOUBLE_EQ(*r.of_roof, 0.5);
    EXPECT_DOUBLE_EQ(r.headroom->value(), 0.1);
    EXPECT_EQ(r.achieved, FlopRate{5e9});
    EXPECT_EQ(level(r, Level::dram).intensity, Intensity{1});
    EXPECT_EQ(level(r, Level::dram).roof, FlopRate{10e9});
    EXPECT_DOUBLE_EQ(level(r, Level::dram).of_ceiling, 0.5);
    EXPECT_EQ(level(r, Level::dram).achieved, Bandwidth{5e9});
    EXPECT_EQ(r.compute_roof, FlopRate{100e9});
}

TEST(Roofline, a_kernel_right_of_the_ridge_is_bound_by_its_pipe) {
    // 100 FLOP/B: 1e9 FLOP need 10 ms, 1e7 B need 1 ms.
    const auto r = roofline(toy_machine(), launch("k", 0.02, 1e9, 1e7));
    EXPECT_EQ(to_text(r.bound), "fp32");
    EXPECT_DOUBLE_EQ(r.shortest.value(), 0.01);
    EXPECT_DOUBLE_EQ(*r.of_roof, 0.5);
    EXPECT_EQ(level(r, Level::dram).roof, FlopRate{100e9});  // flat, not 1 TFLOP/s
    EXPECT_DOUBLE_EQ(r.pipes.at(0).of_ceiling, 0.5);
}

TEST(Roofline, the_ridge_is_at_ten_flop_per_byte) {
    const auto at = roofline(toy_machine(), launch("k", 0.01, 1e9, 1e8));
    EXPECT_DOUBLE_EQ(*at.of_roof, 1);
    EXPECT_EQ(at.findings.size(), 0U);
    EXPECT_DOUBLE_EQ(level(at, Level::dram).roof->value(), 100e9);
    EXPECT_EQ(to_text(roofline(toy_machine(), launch("k", 0.01, 1e9, 1.001e8)).bound), "DRAM");
    EXPECT_EQ(to_text(roofline(toy_machine(), launch("k", 0.01, 1e9, 0.999e8)).bound), "fp32");
}

TEST(Roofline, the_level_that_needs_longest_binds) {
    Kernel k = launch("k", 1, 1e9, 1e8);          // DRAM 10 ms
    k.bytes[Level::l1] = measured(Bytes{1e9});    // 10 ms at 100 GB/s
    k.bytes[Level::l2] = measured(Bytes{1.5e9});  // 30 ms at 50 GB/s
    const auto r = roofline(toy_machine(), k);
    EXPECT_EQ(to_text(r.nearest), "L2");
    EXPECT_DOUBLE_EQ(r.shortest.value(), 0.03);
    ASSERT_EQ(r.levels.size(), 3U);
    EXPECT_EQ(level(r, Level::l1).ceiling, Bandwidth{100e9});
    k.bytes[Level::l1] = measured(Bytes{4e9});
    EXPECT_EQ(to_text(roofline(toy_machine(), k).nearest), "L1");
}

TEST(Roofline, a_kernel_without_flop_has_a_memory_bound_and_a_percentage) {
    const auto r = roofline(toy_machine(), launch("memset", 0.2, 0, 1e9));
    EXPECT_EQ(to_text(r.bound), "DRAM");
    EXPECT_DOUBLE_EQ(*r.of_roof, 0.5);
    EXPECT_FALSE(level(r, Level::dram).roof);
    EXPECT_FALSE(r.compute_roof);
    EXPECT_TRUE(r.pipes.empty());
}

TEST(Roofline, nothing_known_is_no_verdict) {
    const auto r = roofline(toy_machine(), launch("k", 1));
    EXPECT_EQ(to_text(r.bound), "");
    EXPECT_FALSE(r.of_roof);
    EXPECT_FALSE(r.headroom);
    Kernel timeless = launch("k", 1, 1e9, 1e9);
    timeless.time.reset();
    const auto t = roofline(toy_machine(), timeless);
    EXPECT_EQ(to_text(t.bound), "DRAM");
    EXPECT_FALSE(t.of_roof);
    EXPECT_DOUBLE_EQ(t.shortest.value(), 0.1);
}

TEST(Roofline, half_the_clock_halves_compute_and_on_chip_roofs_and_not_dram) {
    Kernel k = launch("k", 1, 1e9, 1e9);
    k.bytes[Level::l1] = k.bytes[Level::l2] = measured(Bytes{1e9});
    k.clock = measured(Frequency{0.5e9});
    const auto r = roofline(toy_machine(), k);
    EXPECT_EQ(r.compute_roof, FlopRate{50e9});
    EXPECT_EQ(level(r, Level::l1).ceiling, Bandwidth{50e9});
    EXPECT_EQ(level(r, Level::l2).ceiling, Bandwidth{25e9});
    EXPECT_EQ(level(r, Level::dram).ceiling, Bandwidth{10e9});
    EXPECT_EQ(r.clock, Frequency{0.5e9});
    RooflineOptions at_two;
    at_two.clock = Frequency{2e9};
    EXPECT_EQ(roofline(toy_machine(), k, at_two).compute_roof, FlopRate{200e9});
}

TEST(Roofline, pipes_run_beside_each_other_and_the_longest_is_the_compute_roof) {
    Kernel k = launch("k", 1, 1e9, 0);                 // 10 ms of FP32
    k.work[Pipe::tensor_fp16] = measured(Flops{9e9});  // 9 ms of tensor
    const auto r = roofline(toy_machine(), k);
    EXPECT_EQ(to_text(r.bound), "fp32");
    EXPECT_DOUBLE_EQ(r.compute_roof->value(), 10e9 / 0.01);
    EXPECT_EQ(r.achieved, FlopRate{10e9});
}

TEST(Roofline, sparse_work_is_judged_by_the_sparse_rate_in_its_share) {
    Kernel k = launch("k", 1);
    k.work[Pipe::tensor_fp16] = measured(Flops{1e12});
    EXPECT_EQ(roofline(toy_machine(), k).pipes.at(0).ceiling, FlopRate{1e12});
    k.sparse_work = measured(Flops{1e12});
    EXPECT_DOUBLE_EQ(roofline(toy_machine(), k).pipes.at(0).ceiling.value(), 2e12);
    k.sparse_work = measured(Flops{0.5e12});  // half takes 0.5 s, half 0.25 s
    EXPECT_DOUBLE_EQ(roofline(toy_machine(), k).pipes.at(0).shortest.value(), 0.75);
}

TEST(Roofline, peaks_that_the_profiler_saw_win_unless_a_clock_or_measured_roofs_are_asked_for) {
    Kernel k = launch("k", 1, 1e9, 1e9);
    k.pipe_peaks = {{Pipe::fp32, measured(FlopRate{80e9})}};
    k.level_peaks = {{Level::dram, measured(Bandwidth{8e9})}};
    EXPECT_EQ(roofline(toy_machine(), k).compute_roof, FlopRate{80e9});
    EXPECT_EQ(level(roofline(toy_machine(), k), Level::dram).ceiling, Bandwidth{8e9});
    RooflineOptions clock, roofs, off;
    clock.clock = Frequency{1e9};
    roofs.roofs = Roofs::measured;
    off.use_reported_peaks = false;
    for (const auto& options : {clock, roofs, off}) {
        EXPECT_EQ(roofline(toy_machine(), k, options).compute_roof, FlopRate{100e9});
        EXPECT_EQ(level(roofline(toy_machine(), k, options), Level::dram).ceiling, Bandwidth{10e9});
    }
    k.pipe_peaks[0].peak.value = FlopRate{0};  // a peak of zero is none
    EXPECT_EQ(roofline(toy_machine(), k).compute_roof, FlopRate{100e9});
}

TEST(Roofline, measured_roofs_are_used_on_request) {
    Machine m = toy_machine();
    m.at(Level::dram).measured = AtClock<Bandwidth>{{Bandwidth{9e9}, Origin::measured, "bench"}, {}};
    RooflineOptions options;
    options.roofs = Roofs::measured;
    const auto r = roofline(m, launch("k", 1, 1e9, 9e9), options);
    EXPECT_EQ(level(r, Level::dram).ceiling, Bandwidth{9e9});
    EXPECT_EQ(level(r, Level::dram).ceiling_origin, Origin::measured);
    EXPECT_EQ(level(roofline(m, launch("k", 1, 1e9, 9e9)), Level::dram).ceiling, Bandwidth{10e9});
}

TEST(Roofline, a_factor_of_two_in_work_or_bytes_is_seen) {
    // 1e9 FMA are 2e9 FLOP; counted once they would pass for half the machine. A copy of 1e9 B reads and writes.
    Machine m = toy_machine();
    const auto fma = roofline(m, launch("fma", 0.02, 2e9, 1));
    EXPECT_DOUBLE_EQ(*fma.of_roof, 1);
    const auto copy = roofline(m, launch("copy", 0.2, 0, 2e9));
    EXPECT_DOUBLE_EQ(*copy.of_roof, 1);
    EXPECT_EQ(fma.findings.size() + copy.findings.size(), 0U);
    EXPECT_EQ(roofline(m, launch("fma twice", 0.02, 4e9, 1)).findings.size(), 1U);
    EXPECT_EQ(roofline(m, launch("copy twice", 0.2, 0, 4e9)).findings.size(), 1U);
}

TEST(Roofline, work_and_bytes_without_a_ceiling_are_said_to_be_so) {
    Kernel k = launch("k", 1, 1e9, 1e9);
    k.work[Pipe::fp64] = measured(Flops{1});
    k.bytes[Level::l3] = measured(Bytes{1});
    const auto r = roofline(toy_machine(), k);
    EXPECT_THAT(r.findings, testing::Contains(testing::HasSubstr("FP64 work has no ceiling")));
    EXPECT_THAT(r.findings, testing::Contains(testing::HasSubstr("L3 bytes have no ceiling")));
}

TEST(Roofline, ceilings_at_boost_say_so_where_the_kernel_has_no_clock) {
    Kernel k = launch("k", 0.2, 1e9, 1e9);
    k.clock.reset();
    EXPECT_EQ(roofline(toy_machine(), k).clock, toy_machine().clocks.boost->value);
}

TEST(Roofline, a_kernel_of_unknown_work_is_judged_by_its_bytes_and_says_so) {
    Kernel k = launch("k", 0.2, 1e9, 1e9);
    EXPECT_TRUE(roofline(toy_machine(), k).findings.empty());
    k.has_uncounted_work = true;
    EXPECT_THAT(roofline(toy_machine(), k).findings, testing::Contains(testing::HasSubstr("by its bytes alone")));
}

}  // namespace
}  // namespace gambrel
