// Which measured ceilings become roofs, and what does the machine file say of them?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "measure/characterize.hpp"
#include "measure/roofs.hpp"
#include "measure/runner.hpp"

namespace gambrel::measure_detail {
namespace {

MeasuredCeiling load_of(Level level, double rate) {
    MeasuredCeiling c;
    c.kind = CeilingKind::bandwidth;
    c.action = ProbeAction::load;
    c.title = std::string(name(level)) + " load";
    c.level = level;
    c.units = 2;
    c.value = c.samples = statistics(std::vector<double>(6, rate));
    return c;
}

TEST(LevelOrder, an_inner_level_far_below_an_outer_one_failed_and_is_not_drawn) {
    Measurement m;
    m.device.units = 2;
    m.ceilings = {load_of(Level::l1, 64e9), load_of(Level::l2, 203e9), load_of(Level::dram, 30e9)};
    check_level_order(m.ceilings);
    choose_roofs(m);
    ASSERT_TRUE(m.ceilings[0].fault);
    EXPECT_EQ(*m.ceilings[0].fault, "disturbed: 64 GB/s is below the 203 GB/s of L2 load, whose bytes pass through it");
    EXPECT_FALSE(m.ceilings[0].primary);
    EXPECT_FALSE(measured_machine(m).at(Level::l1).measured);
    EXPECT_TRUE(m.ceilings[1].primary);
    EXPECT_TRUE(m.ceilings[2].primary);
}

TEST(LevelOrder, an_inner_level_a_little_below_takes_the_rate_that_passed_through_it) {
    std::vector<MeasuredCeiling> all{load_of(Level::l1, 98e9), load_of(Level::l2, 100e9), load_of(Level::l3, 101e9)};
    check_level_order(all);
    for (const MeasuredCeiling& c : all) {
        EXPECT_FALSE(c.fault) << c.title;
        EXPECT_EQ(c.value.median, 101e9) << c.title;
    }
    EXPECT_THAT(all[0].notes, testing::Contains("the rate of L2 load, whose bytes pass through it"));
}

MeasuredCeiling copy_of_memory(double rate) {
    MeasuredCeiling c = load_of(Level::dram, rate);
    c.action = ProbeAction::copy, c.title = "DRAM copy";
    return c;
}

TEST(DramRoof, is_the_copy_where_it_moves_more_than_the_loads) {
    Measurement m;
    m.device.units = 2;
    m.ceilings = {load_of(Level::l3, 200e9), load_of(Level::dram, 36e9), copy_of_memory(53e9)};
    choose_roofs(m);
    EXPECT_FALSE(m.ceilings[1].primary);
    EXPECT_TRUE(m.ceilings[2].primary);
    ASSERT_TRUE(measured_machine(m).at(Level::dram).measured);
    EXPECT_EQ(measured_machine(m).at(Level::dram).measured->ceiling.value.value(), 53e9);
}

TEST(DramRoof, is_not_a_copy_that_beats_a_cache) {
    Measurement m;
    m.device.units = 2;
    m.ceilings = {load_of(Level::l3, 50e9), load_of(Level::dram, 36e9), copy_of_memory(53e9)};
    choose_roofs(m);
    EXPECT_TRUE(m.ceilings[1].primary);
    EXPECT_FALSE(m.ceilings[2].primary);
}

MeasuredCeiling fma_on(int units, double rate) {
    MeasuredCeiling c;
    c.action = ProbeAction::fma;
    c.title = units == 1 ? "FP64 FMA, one core" : "FP64 FMA";
    c.pipe = Pipe::fp64;
    c.units = units;
    c.value = c.samples = statistics(std::vector<double>(6, rate));
    return c;
}

TEST(UnitOrder, all_cores_slower_than_one_of_them_failed_and_are_not_drawn) {
    Measurement m;
    m.device.units = 2;
    m.ceilings = {fma_on(2, 56e6), fma_on(1, 57.5e9)};
    check_unit_order(m.ceilings);
    choose_roofs(m);
    ASSERT_TRUE(m.ceilings[0].fault);
    EXPECT_EQ(*m.ceilings[0].fault, "disturbed: 56 MFLOP/s on 2 units is below the 57.5 GFLOP/s of FP64 FMA, one core");
    EXPECT_FALSE(m.ceilings[0].primary);
    EXPECT_FALSE(m.ceilings[1].fault) << "what one core gave stands";
}

TEST(UnitOrder, all_cores_at_least_as_fast_as_one_are_left_alone) {
    std::vector<MeasuredCeiling> all{fma_on(2, 57.5e9), fma_on(1, 57.5e9)};
    check_unit_order(all);
    EXPECT_FALSE(all[0].fault || all[0].disturbed);
    all[0] = fma_on(2, 56.5e9);  // within what noise takes: marked, and no fault
    check_unit_order(all);
    EXPECT_TRUE(all[0].disturbed);
    EXPECT_FALSE(all[0].fault);
}

TEST(MeasuredHost, rates_are_not_carried_to_a_scalar_clock) {
    Measurement m;
    m.device.units = 2;
    m.device.name = "a host";
    Machine theory;
    theory.name = theory.id = "host";
    theory.clocks.boost = Sourced<Frequency>{Frequency{3.47e9}, Origin::measured, "a chain of additions"};
    m.device.theoretical = theory;
    MeasuredCeiling c;
    c.title = "FP32 FMA";
    c.pipe = Pipe::fp32;
    c.units = 2;
    c.primary = true;
    c.clock = Frequency{2.77e9};
    c.value = c.samples = statistics(std::vector<double>(6, 324e9));
    m.ceilings = {c};
    const Machine made = measured_machine(m);
    const auto drawn = compute_ceiling(made, Pipe::fp32, made.clocks.boost->value, Roofs::measured);
    ASSERT_TRUE(drawn);
    EXPECT_DOUBLE_EQ(drawn->value.value(), 324e9);
}

TEST(Partial, an_interrupted_measurement_marks_its_machine_and_the_mark_survives_a_file) {
    Measurement m;
    m.device.name = "a host";
    m.took = Seconds{2.5};
    EXPECT_EQ(measured_machine(m).partial, "");
    m.interrupted = true;
    Machine made = measured_machine(m);
    made.at(Level::dram).capacity = Sourced<Bytes>{Bytes{1e9}, Origin::assumed, "test"};
    const auto again = parse_machine(to_json(made), "m.json");
    ASSERT_TRUE(again) << to_text(again.error());
    EXPECT_THAT(again->partial, testing::HasSubstr("interrupted after 2.5 s"));
}

}  // namespace
}  // namespace gambrel::measure_detail
