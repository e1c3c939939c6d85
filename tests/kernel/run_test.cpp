// Does a run find its machines, and say so where it does not?
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gambrel/kernel.hpp>

namespace gambrel {
namespace {

gambrel::Run run_on(const std::string& device) {
    Machine described;
    described.name = device;
    return {"run", {Kernel{}}, {described}};
}

TEST(Runs, a_device_that_the_catalogue_knows_gets_its_numbers_and_theoretical_roofs) {
    gambrel::Run run = run_on("Tesla V100-SXM2-16GB");
    resolve_machines(run);
    EXPECT_EQ(run.machines[0].id, "v100-sxm2-16gb");
    EXPECT_TRUE(run.notes.empty());
    EXPECT_EQ(default_roofs(run), Roofs::theoretical);
    run.roofs = Roofs::measured;
    EXPECT_EQ(default_roofs(run), Roofs::measured);
}

TEST(Runs, a_device_that_nobody_knows_is_noted) {
    gambrel::Run run = run_on("Some GPU");
    resolve_machines(run);
    ASSERT_EQ(run.notes.size(), 1U);
    EXPECT_NE(run.notes[0].what.find("--machine"), std::string::npos);
}

// A report of one GPU that is judged as another gives percentages of roofs that it never had.
TEST(Runs, a_choice_that_contradicts_the_file_is_noted) {
    gambrel::Run run = run_on("Tesla V100-SXM2-16GB"), same = run, unnamed = run_on("unnamed GPU");
    const Machine *v100 = find_in_catalogue("v100-sxm2-16gb"), *h100 = find_in_catalogue("h100-sxm");
    resolve_machines(run, h100);
    ASSERT_EQ(run.notes.size(), 1U);
    EXPECT_NE(run.notes[0].what.find(h100->name), std::string::npos);
    EXPECT_EQ(run.machines[0].id, h100->id);
    resolve_machines(same, v100);
    EXPECT_TRUE(same.notes.empty());
    resolve_machines(unnamed, h100);
    EXPECT_TRUE(unnamed.notes.empty());
}

TEST(Runs, a_machine_file_with_measured_ceilings_is_judged_by_them) {
    gambrel::Run run = run_on("x");
    Machine measured = *find_in_catalogue("v100-sxm2-16gb");
    measured.made_from = MachineSource::measurement;
    ASSERT_TRUE(measured.find(Level::dram)->measured);
    resolve_machines(run, &measured);
    EXPECT_EQ(default_roofs(run), Roofs::measured);
}

}  // namespace
}  // namespace gambrel
