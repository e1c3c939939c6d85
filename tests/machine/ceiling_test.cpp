// Ceilings of a machine at a clock: right on numbers one can check in the head.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gambrel/machine.hpp>

namespace gambrel {
namespace {

template <class Q>
Sourced<Q> known(Q value) {
    return {value, Origin::datasheet, "test"};
}

Machine machine() {  // 10 SMs at 1 GHz
    Machine m;
    m.clocks.boost = known(Frequency{1e9});
    m.sm.sms = known(10.0);
    m.pipes[Pipe::fp32].dense = known(FlopPerCycle{100});
    m.pipes[Pipe::bf16].dense = known(FlopPerCycle{0});
    m.pipes[Pipe::tensor_fp16].dense = known(FlopPerCycle{1000});
    m.pipes[Pipe::tensor_fp16].sparse = known(FlopPerCycle{2000});
    m.at(Level::l1).per_sm = true;
    m.at(Level::l1).width = known(BytesPerCycle{128});
    m.at(Level::l2).width = known(BytesPerCycle{512});
    m.at(Level::dram).bandwidth = known(Bandwidth{100e9});
    return m;
}
const Frequency kHalf{0.5e9};

TEST(Ceiling, rate_times_sms_times_clock) {
    EXPECT_EQ(compute_ceiling(machine(), Pipe::fp32)->value, FlopRate{1e12});
    EXPECT_EQ(memory_ceiling(machine(), Level::l1)->value, Bandwidth{1280e9});
    EXPECT_EQ(memory_ceiling(machine(), Level::l2)->value, Bandwidth{512e9});
    EXPECT_THAT(compute_ceiling(machine(), Pipe::fp32)->cite, testing::HasSubstr("10 SMs x 100 FLOP/cycle x 1 GHz"));
}

TEST(Ceiling, half_the_clock_halves_what_is_clocked_by_the_sms_and_not_dram) {
    EXPECT_EQ(compute_ceiling(machine(), Pipe::fp32, kHalf)->value, FlopRate{0.5e12});
    EXPECT_EQ(memory_ceiling(machine(), Level::l1, kHalf)->value, Bandwidth{640e9});
    EXPECT_EQ(memory_ceiling(machine(), Level::l2, kHalf)->value, Bandwidth{256e9});
    EXPECT_EQ(memory_ceiling(machine(), Level::dram, kHalf)->value, Bandwidth{100e9});
}

TEST(Ceiling, sparse_is_its_own_rate) {
    EXPECT_EQ(compute_ceiling(machine(), Pipe::tensor_fp16)->value, FlopRate{10e12});
    EXPECT_EQ(compute_ceiling(machine(), Pipe::tensor_fp16, {}, Roofs::theoretical, true)->value, FlopRate{20e12});
    EXPECT_FALSE(compute_ceiling(machine(), Pipe::fp32, {}, Roofs::theoretical, true));
}

TEST(Ceiling, a_pipe_that_is_not_there_has_none_whatever_is_stated) {
    Machine m = machine();
    m.pipes[Pipe::bf16].stated = AtClock<FlopRate>{known(FlopRate{1e12}), {}};
    EXPECT_FALSE(compute_ceiling(m, Pipe::bf16));
    EXPECT_FALSE(compute_ceiling(m, Pipe::fp64));
    EXPECT_FALSE(memory_ceiling(m, Level::l3));
}

TEST(Ceiling, a_stated_peak_holds_at_boost_unless_it_says_another_clock_and_is_carried) {
    Machine m = machine();
    m.pipes[Pipe::fp64].stated = AtClock<FlopRate>{known(FlopRate{2e12}), {}};
    EXPECT_EQ(compute_ceiling(m, Pipe::fp64)->value, FlopRate{2e12});
    EXPECT_EQ(compute_ceiling(m, Pipe::fp64, kHalf)->value, FlopRate{1e12});
    m.pipes[Pipe::fp64].stated->clock = Frequency{2e9};
    EXPECT_EQ(compute_ceiling(m, Pipe::fp64)->value, FlopRate{1e12});
    EXPECT_EQ(compute_ceiling(m, Pipe::fp64)->origin, Origin::derived);
}

TEST(Ceiling, measured_roofs_are_taken_only_when_asked_for_or_alone) {
    Machine m = machine();
    m.pipes[Pipe::fp32].measured = AtClock<FlopRate>{{FlopRate{0.9e12}, Origin::measured, "bench"}, Frequency{1e9}};
    m.at(Level::dram).measured = AtClock<Bandwidth>{{Bandwidth{90e9}, Origin::measured, "bench"}, Frequency{1e9}};
    EXPECT_EQ(compute_ceiling(m, Pipe::fp32)->value, FlopRate{1e12});
    EXPECT_EQ(compute_ceiling(m, Pipe::fp32, {}, Roofs::measured)->value, FlopRate{0.9e12});
    EXPECT_EQ(compute_ceiling(m, Pipe::fp32, {}, Roofs::measured)->origin, Origin::measured);
    EXPECT_EQ(compute_ceiling(m, Pipe::fp32, kHalf, Roofs::measured)->value, FlopRate{0.45e12});
    EXPECT_EQ(memory_ceiling(m, Level::dram, kHalf, Roofs::measured)->value, Bandwidth{90e9});
    EXPECT_EQ(memory_ceiling(m, Level::l2, {}, Roofs::measured)->value,
              Bandwidth{512e9});  // theoretical where nothing was measured
    m.at(Level::dram).bandwidth.reset();
    EXPECT_EQ(memory_ceiling(m, Level::dram)->value, Bandwidth{90e9});
}

// A100's counter of L2 adds lookups between its halves, so that it can pass what a benchmark measured, up to the width.
TEST(Ceiling, of_a_counter_that_adds_lookups_is_what_the_slices_can_look_up) {
    const Machine& a100 = *find_in_catalogue("a100-sxm4-40gb");
    ASSERT_TRUE(a100.find(Level::l2)->measured);
    const auto counted = counter_ceiling(a100, Level::l2, {}, Roofs::measured);
    EXPECT_EQ(counted->value, memory_ceiling(a100, Level::l2)->value);
    EXPECT_GT(counted->value, memory_ceiling(a100, Level::l2, {}, Roofs::measured)->value);
    EXPECT_THAT(counted->cite, testing::HasSubstr("lookups between the halves"));
    const auto dram = counter_ceiling(a100, Level::dram, {}, Roofs::measured);
    EXPECT_EQ(dram->value, memory_ceiling(a100, Level::dram, {}, Roofs::measured)->value);
    const Machine& v100 = *find_in_catalogue("v100-sxm2-16gb");
    ASSERT_TRUE(v100.find(Level::l2)->measured);
    EXPECT_EQ(counter_ceiling(v100, Level::l2, {}, Roofs::measured)->value,
              memory_ceiling(v100, Level::l2, {}, Roofs::measured)->value);
}

TEST(Ceiling, without_any_clock_a_clocked_ceiling_is_unknown) {
    Machine m = machine();
    m.clocks.boost.reset();
    EXPECT_FALSE(compute_ceiling(m, Pipe::fp32));
    EXPECT_FALSE(memory_ceiling(m, Level::l1));
    EXPECT_TRUE(compute_ceiling(m, Pipe::fp32, kHalf));
    EXPECT_TRUE(memory_ceiling(m, Level::dram));
}

}  // namespace
}  // namespace gambrel
