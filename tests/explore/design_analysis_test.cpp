// Is a design on the Roofline what the exploration computed, on a machine whose roofs are the scaled ones?
#include <gtest/gtest.h>

#include "explore/exploration_report.hpp"

#include "explore/toy.hpp"

namespace gambrel {
namespace {

const Machine& v100() { return *find_in_catalogue("v100"); }

double roof(const Machine& m, Level level) { return memory_ceiling(m, level)->value.value(); }
double peak(const Machine& m, Pipe pipe) { return compute_ceiling(m, pipe)->value.value(); }

TEST(DesignMachine, of_factors_one_is_the_machine_itself) {
    EXPECT_EQ(to_json(design_machine(v100(), {})), to_json(v100()));
}

TEST(DesignMachine, each_factor_moves_its_own_roofs) {
    const Machine dram = design_machine(v100(), test::only(Resource::dram_bandwidth, 2));
    EXPECT_DOUBLE_EQ(roof(dram, Level::dram), 2 * roof(v100(), Level::dram));
    EXPECT_DOUBLE_EQ(roof(dram, Level::l2), roof(v100(), Level::l2));
    const Machine l2 = design_machine(v100(), test::only(Resource::l2_bandwidth, 3));
    EXPECT_DOUBLE_EQ(roof(l2, Level::l2), 3 * roof(v100(), Level::l2));
    EXPECT_DOUBLE_EQ(peak(l2, Pipe::fp32), peak(v100(), Pipe::fp32));
    const Machine sms = design_machine(v100(), test::only(Resource::sms, 1.5));
    EXPECT_DOUBLE_EQ(peak(sms, Pipe::fp32), 1.5 * peak(v100(), Pipe::fp32));
    EXPECT_DOUBLE_EQ(roof(sms, Level::l1), 1.5 * roof(v100(), Level::l1));
    EXPECT_DOUBLE_EQ(roof(sms, Level::dram), roof(v100(), Level::dram));
    const Machine macs = design_machine(v100(), test::only(Resource::macs, 2));
    EXPECT_DOUBLE_EQ(peak(macs, Pipe::tensor_fp16), 2 * peak(v100(), Pipe::tensor_fp16));
    const Machine clock = design_machine(v100(), test::only(Resource::clock, 1.2));
    EXPECT_NEAR(peak(clock, Pipe::fp32) / peak(v100(), Pipe::fp32), 1.2, 1e-9);
    EXPECT_NEAR(roof(clock, Level::l2) / roof(v100(), Level::l2), 1.2, 1e-9);
    EXPECT_DOUBLE_EQ(roof(clock, Level::dram), roof(v100(), Level::dram));
}

TEST(DesignMachine, measured_roofs_move_with_the_theoretical_ones) {
    const Machine all = design_machine(v100(), test::only(Resource::dram_bandwidth, 2));
    const auto before = memory_ceiling(v100(), Level::dram, {}, Roofs::measured);
    const auto after = memory_ceiling(all, Level::dram, {}, Roofs::measured);
    ASSERT_TRUE(before && after);
    EXPECT_DOUBLE_EQ(after->value.value(), 2 * before->value.value());
}

TEST(DesignMachine, every_scaled_number_is_labelled_assumed) {
    const Machine m = design_machine(v100(), test::only(Resource::dram_bandwidth, 2));
    EXPECT_EQ(m.find(Level::dram)->bandwidth->origin, Origin::assumed);
    EXPECT_NE(v100().find(Level::dram)->bandwidth->origin, Origin::assumed);
}

class Explored : public testing::Test {
protected:
    Explored() {
        Factors f;
        f[Resource::dram_bandwidth] = 2, f[Resource::l2_capacity] = 4;
        const ProposedDesign more[] = {{"more memory", "", f},
                                       {"a little more", "", test::only(Resource::dram_bandwidth, 1.1)}};
        Workload work = test::workload("alexnet", 8);
        work.add(*builtin_network("vgg16", {1, 128}), 2);
        c_ = exploration_report(DesignEvaluator(v100(), *model_inputs(v100()), work), default_costs(), more);
    }
    ExplorationReport c_;
};

TEST_F(Explored, the_analysis_of_a_design_has_its_time_and_bytes) {
    for (const EvaluatedDesign& d : c_.designs) {
        const Analysis a = design_analysis(c_, d);
        ASSERT_EQ(a.rows.size(), c_.workload.items.size());
        EXPECT_NEAR(a.total.time->value.value(), d.timing.time, 1e-9 * d.timing.time);
        double dram = 0;
        for (std::size_t i = 0; i < a.rows.size(); ++i)
            dram += c_.workload.items[i].weight * d.timing.layers[i].dram_bytes;
        EXPECT_NEAR(a.total.bytes[Level::dram]->value.value(), dram, 1e-9 * dram);
        EXPECT_EQ(a.rows[0].kernel.time->origin, Origin::modelled);
    }
}

// 3x3 layers run by Winograd's algorithm, whose kernels multiply less than a plain sum. With the FLOP of the sum they
// stood at 1.1 to 1.8 of the roof.
TEST(DesignAnalysis, has_the_flop_that_kernels_do) {
    Network vgg = *builtin_network("vgg16", {8, 128});
    take_fastest_algorithms(vgg.layers);
    Workload work;
    work.add(vgg, 1);
    const ExplorationReport c =
        exploration_report(DesignEvaluator(v100(), *model_inputs(v100()), work), default_costs(), {});
    const Analysis a = design_analysis(c, c.designs.front());
    Flops plain;
    for (const auto& item : c.workload.items) plain += item.weight * flop(item.layer);
    EXPECT_LT(flop(a.total)->value, 0.8 * plain);
    for (const auto& row : a.rows) EXPECT_LE(row.verdict.of_roof.value_or(0), 1.02) << row.kernel.name.str();
}

TEST_F(Explored, points_move_because_traffic_is_computed_again) {
    const Analysis a = design_analysis(c_, c_.designs[0]), b = design_analysis(c_, c_.designs[1]);
    EXPECT_LT(b.total.bytes[Level::dram]->value.value(), a.total.bytes[Level::dram]->value.value());
}

TEST_F(Explored, recommends_the_fastest_of_the_proposed_designs) {
    ASSERT_NE(recommended_design(c_), nullptr);
    EXPECT_EQ(recommended_design(c_)->name, "more memory");
    c_.designs.resize(1);
    EXPECT_EQ(recommended_design(c_), nullptr);
}

TEST_F(Explored, networks_elasticities_lie_between_those_of_their_layers_and_around_the_whole) {
    for (const Sensitivity& s : c_.sensitivities) {
        if (s.resource == Resource::sms) continue;  // SMs are whole: its factor is not quite a tenth
        const auto networks = network_elasticities(c_, s);
        ASSERT_EQ(networks.size(), 2U);
        EXPECT_LE(std::min(networks[0], networks[1]), s.elasticity + 1e-9) << name(s.resource);
        EXPECT_GE(std::max(networks[0], networks[1]), s.elasticity - 1e-9) << name(s.resource);
    }
}

}  // namespace
}  // namespace gambrel
