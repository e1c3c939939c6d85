// What must hold whatever the constants of the model are.
#include <gtest/gtest.h>

#include <cmath>

#include <gambrel/explore.hpp>

#include "explore/toy.hpp"

namespace {

using namespace gambrel;
using namespace gambrel::test;

// Every term whose time can fall when only this resource grows and the mapping stays.
std::vector<Term> terms_of(Resource r) {
    switch (r) {
        case Resource::macs:
            return {Term::compute, Term::issue, Term::latency};
        case Resource::shared_bandwidth:
            return {Term::shared};
        case Resource::l1_bandwidth:
            return {Term::l1};
        case Resource::l2_bandwidth:
            return {Term::l2};
        case Resource::dram_bandwidth:
        case Resource::l2_capacity:
            return {Term::dram};
        case Resource::clock:
            return {Term::compute, Term::issue, Term::latency, Term::shared, Term::l1, Term::l2};
        default:
            return {Term::compute, Term::issue, Term::latency, Term::shared, Term::l1, Term::l2, Term::dram};
    }
}

double share_of(const LayerTime& layer, Resource r) {
    double sum = 0;
    for (const Term t : terms_of(r)) sum += layer.exposed[static_cast<std::size_t>(t)];
    return sum / layer.time;
}

TEST(Explore, scaling_nothing_gives_exactly_one) {
    for (const auto& network : builtin_networks())
        for (const Tiles tiles : {Tiles::rule, Tiles::fastest}) {
            const DesignEvaluator e(titan(), *model_inputs(titan()), workload(network.name), tiles);
            EXPECT_EQ(e.evaluate({}).time / time_of(e, {}), 1.0) << network.name;
            EXPECT_TRUE(std::isfinite(time_of(e, {}))) << network.name;
        }
}

TEST(Explore, the_fast_path_gives_what_predict_gives_to_the_last_bit) {
    for (const char* gpu : {"titan-xp", "v100-sxm2-16gb", "a100-sxm4-40gb", "h100-sxm"}) {
        const Machine& machine = *find_in_catalogue(gpu);
        const ModelInputs h = *model_inputs(machine);
        for (const auto& network : builtin_networks()) {
            Workload w;
            w.add(training(*builtin_network(network.name, {16, 128})));
            const DesignEvaluator e(machine, h, w, Tiles::rule);
            const WorkloadTime a = e.evaluate({});
            double total = 0;
            for (std::size_t i = 0; i < w.items.size(); ++i) {
                const Prediction p = predict(w.items[i].layer, machine, h);
                EXPECT_EQ(a.layers[i].time, p.time.value())
                    << gpu << " " << network.name << " " << w.items[i].layer.name;
                EXPECT_EQ(a.layers[i].dram_bytes, p.traffic.dram.total().value()) << w.items[i].layer.name;
                total += w.items[i].weight * p.time.value();
            }
            EXPECT_EQ(time_of(e, {}), total) << gpu << " " << network.name;
        }
    }
}

// The search begins with what was fastest before, which must not show in any result.
TEST(Explore, a_design_takes_the_same_time_whatever_was_evaluated_before_it) {
    for (const char* gpu : {"titan-xp", "h100-sxm"}) {
        const Machine& machine = *find_in_catalogue(gpu);
        const ModelInputs h = *model_inputs(machine);
        for (const char* network : {"resnet50", "bert-base"}) {
            const DesignEvaluator e(machine, h, workload(network), Tiles::fastest);
            const auto space =
                *parse_space("sms=1:2,macs=1:4,l2.capacity=1:4,registers=1:4,shared=1:4,clock=0.8:1.5", machine, h);
            auto used = e.scratch();
            for (std::uint64_t i = 0; i < 300; ++i) {
                const Factors design = space.at(i * 7'919 % space.size());
                EXPECT_EQ(e.time(design, used), time_of(e, design)) << gpu << " " << network << " " << i;
            }
        }
    }
}

TEST(Explore, exposed_times_are_not_negative_and_sum_up_to_the_time) {
    for (const auto& network : builtin_networks()) {
        const DesignEvaluator e(titan(), *model_inputs(titan()), workload(network.name));
        for (const LayerTime& layer : e.evaluate({}).layers) {
            double sum = 0;
            for (const double part : layer.exposed) {
                EXPECT_GE(part, -1e-15) << network.name;
                sum += part;
            }
            EXPECT_NEAR(sum / layer.time, 1, 1e-12) << network.name;
        }
    }
}

// 1200 CTAs of 128x64 are ten whole waves of four an SM: no last wave that waits for latency.
Workload whole_waves() {
    Layer layer{"whole", Convolution{.n = 1200, .c = 256, .h = 16, .w = 8, .k = 64}};
    Network network;
    network.name = "whole waves";
    network.layers = {layer};
    Workload w;
    w.add(network);
    return w;
}

// All rates times k, or the clock and the memory with it: k times as fast where nothing waits for a latency or launch.
TEST(Explore, scaling_everything_by_k_gives_k_without_latency_and_launch) {
    ModelInputs h = *model_inputs(titan());
    h.launch = {};
    h.l1_latency = h.l2_latency = h.dram_latency = {};
    const DesignEvaluator e(titan(), h, whole_waves(), Tiles::rule);
    const double start = time_of(e, {});
    for (const double k : {1.25, 1.5, 1.8}) {  // beyond that a warp's own pace binds, which is a latency
        Factors rates, clocks;
        for (const Resource r : {Resource::macs, Resource::shared_bandwidth, Resource::l1_bandwidth,
                                 Resource::l2_bandwidth, Resource::dram_bandwidth})
            rates[r] = k;
        clocks[Resource::clock] = clocks[Resource::dram_bandwidth] = k;
        EXPECT_NE(e.evaluate(rates).layers[0].bound, Term::latency);
        EXPECT_NEAR(start / time_of(e, rates), k, 1e-9 * k);
        EXPECT_NEAR(start / time_of(e, clocks), k, 1e-9 * k);
    }
}

// With the mapping held, a resource gives at most what its bottleneck takes: 1 / (1 - share).
struct Run {
    const char* gpu;
    Precision precision;
};
class Amdahl : public testing::TestWithParam<Run> {
protected:
    [[nodiscard]] static DesignEvaluator evaluator(std::string_view network) {
        const Machine& machine = *find_in_catalogue(GetParam().gpu);
        Workload w;
        w.add(with_precision(*builtin_network(network, {32, 128}), GetParam().precision), 1);
        return {machine, *model_inputs(machine), w, Tiles::rule};
    }
};
// Copies through registers, and asynchronous ones to Tensor Cores, whose prologue overlaps in another way.
INSTANTIATE_TEST_SUITE_P(Gpus, Amdahl,
                         testing::Values(Run{"titan-xp", Precision::fp32}, Run{"v100-sxm2-16gb", Precision::fp16},
                                         Run{"a100-sxm4-40gb", Precision::fp16},
                                         Run{"h100-sxm5-80gb", Precision::bf16}),
                         [](const auto& run) {
                             return std::string(run.param.gpu).substr(0, 4) == "tita"
                                        ? "titan"
                                        : std::string(run.param.gpu).substr(0, 4);
                         });

TEST_P(Amdahl, one_resource_alone_gives_at_most_the_share_of_its_bottleneck) {
    for (const auto& network : builtin_networks())
        for (const Resource r : all_resources()) {
            const DesignEvaluator e = evaluator(network.name);
            const WorkloadTime start = e.evaluate({});
            for (const double k : {1.1, 2.0, 4.0, 16.0}) {
                const WorkloadTime changed = e.evaluate(only(r, k));
                for (std::size_t i = 0; i < start.layers.size(); ++i) {
                    const double least = start.layers[i].time * (1 - share_of(start.layers[i], r));
                    EXPECT_GE(changed.layers[i].time, least * (1 - 1e-9))
                        << network.name << " " << e.workload().items[i].layer.name << " " << name(r) << " x" << k
                        << " bound by " << name(start.layers[i].bound);
                }
            }
        }
}

// Rates divide their own term: the time falls to no less than 1 - share + share / k.
TEST_P(Amdahl, a_bandwidth_gives_at_most_amdahls_speed_up) {
    for (const auto& network : builtin_networks())
        for (const Resource r :
             {Resource::shared_bandwidth, Resource::l1_bandwidth, Resource::l2_bandwidth, Resource::dram_bandwidth}) {
            const DesignEvaluator e = evaluator(network.name);
            const WorkloadTime start = e.evaluate({});
            for (const double k : {1.1, 2.0, 8.0}) {
                const WorkloadTime changed = e.evaluate(only(r, k));
                for (std::size_t i = 0; i < start.layers.size(); ++i) {
                    const double s = share_of(start.layers[i], r);
                    EXPECT_GE(changed.layers[i].time, start.layers[i].time * (1 - s + s / k) * (1 - 1e-9))
                        << network.name << " " << e.workload().items[i].layer.name << " " << name(r) << " x" << k;
                }
            }
        }
}

TEST(Explore, more_of_a_rate_is_never_slower) {
    for (const auto& network : builtin_networks()) {
        const DesignEvaluator e(titan(), *model_inputs(titan()), workload(network.name));
        for (const Resource r : {Resource::macs, Resource::clock, Resource::shared_bandwidth, Resource::l1_bandwidth,
                                 Resource::l2_bandwidth, Resource::dram_bandwidth}) {
            double before = time_of(e, {});
            for (const double k : {1.2, 1.5, 2.0, 4.0}) {
                const double after = time_of(e, only(r, k));
                EXPECT_LE(after, before * (1 + 1e-12)) << network.name << " " << name(r) << " x" << k;
                before = after;
            }
        }
    }
}

TEST(Explore, a_higher_clock_is_the_machine_at_that_clock) {
    // Whose L2 is known by its width. One that was measured as a rate, at no known clock, stays where it is for
    // `model_inputs`, but is scaled here: L2 runs with the SMs.
    const ModelInputs start = *model_inputs(titan(), Frequency{1e9});
    const ModelInputs a = scaled(start, only(Resource::clock, 1.25)), b = *model_inputs(titan(), Frequency{1.25e9});
    EXPECT_EQ(a.clock, b.clock);
    EXPECT_NEAR(a.l2_bandwidth / b.l2_bandwidth, 1, 1e-12);
    EXPECT_NEAR(a.l1_width / b.l1_width, 1, 1e-12);
    EXPECT_NEAR(a.dram_bandwidth / b.dram_bandwidth, 1, 1e-12);
}

TEST(Explore, factors_between_two_machines_lead_from_one_to_the_other) {
    const Machine &p100 = *find_in_catalogue("p100-pcie-16gb"), &v100 = *find_in_catalogue("v100-pcie-32gb");
    const ModelInputs a = *model_inputs(p100), b = *model_inputs(v100);
    const ModelInputs there = scaled(a, factors_between(p100, a, v100, b));
    EXPECT_EQ(there.sms, b.sms);
    EXPECT_NEAR(there.clock / b.clock, 1, 1e-12);
    EXPECT_NEAR(there.schedulers / b.schedulers, 1, 1e-12);
    EXPECT_NEAR(there.flop_per_cycle[Pipe::fp32] / b.flop_per_cycle[Pipe::fp32], 1, 1e-12);
    EXPECT_NEAR(there.shared_width / b.shared_width, 1, 1e-12);
    EXPECT_NEAR(there.l1_width / b.l1_width, 1, 1e-12);
    EXPECT_NEAR(there.l2_bandwidth / b.l2_bandwidth, 1, 1e-12);
    EXPECT_NEAR(there.l2_capacity / b.l2_capacity, 1, 1e-12);
    EXPECT_NEAR(there.dram_bandwidth / b.dram_bandwidth, 1, 1e-12);
}

TEST(Explore, a_larger_tile_is_taken_where_registers_and_shared_memory_allow_it) {
    const DesignEvaluator e(titan(), *model_inputs(titan()), workload("resnet152", 256, true));
    const auto largest = [&](const Factors& f) {
        int area = 0;
        for (const LayerTime& l : e.evaluate(f).layers) area = std::max(area, l.tile.m * l.tile.n);
        return area;
    };
    const Factors hungry = only(Resource::macs, 8);
    Factors roomy = hungry;
    roomy[Resource::registers] = roomy[Resource::shared] = 4;
    EXPECT_GT(largest(roomy), largest(hungry));
    EXPECT_LT(time_of(e, roomy), time_of(e, hungry));
}

TEST(Explore, a_larger_l2_moves_fewer_bytes_from_dram) {
    const DesignEvaluator e(titan(), *model_inputs(titan()), workload("resnet50", 16, true), Tiles::rule);
    const auto bytes = [&](const Factors& f) {
        double sum = 0;
        for (const LayerTime& l : e.evaluate(f).layers) sum += l.dram_bytes;
        return sum;
    };
    EXPECT_LT(bytes(only(Resource::l2_capacity, 16)), 0.95 * bytes({}));
}

TEST(Explore, a_design_with_too_few_registers_for_any_tile_takes_forever_and_is_not_found) {
    const DesignEvaluator e(titan(), *model_inputs(titan()), workload("vgg16", 8));
    EXPECT_TRUE(std::isinf(time_of(e, only(Resource::registers, 0.01))));
}

}  // namespace
