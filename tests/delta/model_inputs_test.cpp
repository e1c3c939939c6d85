// Missing numbers: refused with all of them named, or assumed and listed; and what two stages have in common with one.
#include <algorithm>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gambrel/delta.hpp>

#include "mapping/sample.hpp"

namespace gambrel {
namespace {

using namespace test;
using testing::HasSubstr;

std::string errors_of(const Machine& m) {
    const auto inputs = model_inputs(m);
    return inputs ? "" : to_text(inputs.error());
}

TEST(ModelInputs, name_every_missing_number_that_nothing_can_be_assumed_for) {
    Machine m = machine("v100-sxm2-16gb");
    m.sm.sms.reset();
    m.clocks = {};
    m.at(Level::dram) = MemoryLevel{};
    m.at(Level::l2).capacity.reset();
    for (Arithmetic& a : m.pipes) a = {};
    const std::string errors = errors_of(m);
    for (const char* missing : {"number of SMs", "clock", "DRAM bandwidth", "L2 capacity", "no pipe has a rate"})
        EXPECT_THAT(errors, HasSubstr(missing));
}

TEST(ModelInputs, do_not_need_a_clock_in_the_file_if_one_is_given) {
    Machine m = machine("v100-sxm2-16gb");
    m.clocks = {};
    EXPECT_THAT(errors_of(m), HasSubstr("clock"));
    EXPECT_TRUE(model_inputs(m, Frequency{1e9}));
}

TEST(ModelInputs, refuse_a_machine_without_a_compute_capability) {
    Machine cpu = machine("v100-sxm2-16gb");
    cpu.compute_capability.reset();
    EXPECT_THAT(errors_of(cpu), HasSubstr("compute_capability"));
}

TEST(ModelInputs, list_what_they_assume_with_value_and_reason) {
    Machine m = machine("a100-sxm4-80gb");
    m.at(Level::l2).latency = Sourced<Cycles>{Cycles{200}, Origin::measured, "test"};
    const std::size_t before = assumptions(m).size();
    m.at(Level::l2).latency.reset();
    m.sm.max_warps.reset();
    const auto listed = assumptions(m);
    ASSERT_EQ(listed.size(), before + 2);
    const auto find = [&](const char* quantity) {
        return *std::find_if(listed.begin(), listed.end(), [&](const Assumption& a) { return a.quantity == quantity; });
    };
    EXPECT_EQ(find("L2 latency").value, "220 cycles");
    EXPECT_EQ(find("warps of an SM").value, "64");
    EXPECT_THAT(find("warps of an SM").why, HasSubstr("Ampere"));
    EXPECT_EQ(model_inputs(m)->l2_latency, Cycles{220});
}

TEST(ModelInputs, keep_the_whole_l2_apart_from_what_one_sm_can_use) {
    const auto a100 = model_inputs(machine("a100-sxm4-80gb"));
    EXPECT_EQ(a100->l2_capacity, Bytes{40.0 * 1024 * 1024});
    EXPECT_EQ(a100->usable_l2(), Bytes{20.0 * 1024 * 1024});
}

TEST(ModelInputs, of_a_gpu_with_a_measured_peak_are_judged_by_the_same_peak) {
    Machine m = machine("v100-sxm2-16gb");
    m.pipes[Pipe::fp32].measured =
        AtClock<FlopRate>{{FlopRate{10e12}, Origin::measured, "test"}, m.clocks.boost->value};
    const auto in = model_inputs(m);
    EXPECT_NEAR((in->flop_per_cycle[Pipe::fp32] * in->sms * in->clock).value(), 10e12, 1);
}

TEST(TwoStages, give_the_same_prediction_as_one) {
    const Machine& gpu = machine("h100-sxm");
    const ModelInputs in = *model_inputs(gpu);
    for (const Layer& layer : in_precision(all_layers(), Precision::fp16)) {
        const Mapping m = mapping_for(layer, gpu);
        const Prediction one = predict(layer, gpu, in),
                         two = predict(prepare(layer, m), occupancy(sm_limits(gpu), m), in);
        ASSERT_EQ(one.time, two.time) << layer.name;
        ASSERT_EQ(one.traffic.dram.total(), two.traffic.dram.total()) << layer.name;
    }
}

TEST(Exposed, times_sum_up_to_the_time) {
    for (const char* id : {"k80", "v100-sxm2-16gb", "h100-sxm"})
        for (const Layer& layer : all_layers()) {
            const Prediction p = predict(layer, machine(id), *model_inputs(machine(id)));
            Seconds sum;
            for (const Seconds s : p.exposed) sum += s;
            ASSERT_NEAR(sum / p.time, 1, 1e-12) << layer.name;
        }
}

TEST(Constants, are_all_in_the_table_of_the_document_as_in_the_data) {
    std::ifstream file(std::string(GAMBREL_SOURCE_DIR) + "/docs/model/constants.md");
    std::ostringstream text;
    text << file.rdbuf();
    for (const FittedConstant& c : fitted_constants()) {
        EXPECT_THAT(text.str(),
                    HasSubstr("| `" + c.name + "` | " + c.value + " | " + c.mechanism + " | " + c.rows + " |"));
        EXPECT_FALSE(c.mechanism.empty() || c.rows.empty()) << c.name;
    }
}

}  // namespace
}  // namespace gambrel
