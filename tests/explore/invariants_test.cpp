// What must hold whatever the constants of the model are.
#include <gtest/gtest.h>

#include <cmath>

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

double share_of(const LayerAnswer& layer, Resource r) {
    double sum = 0;
    for (const Term t : terms_of(r)) sum += layer.exposed[static_cast<std::size_t>(t)];
    return sum / layer.time;
}

TEST(Explore, ScalingNothingGivesExactlyOne) {
    for (const auto& network : builtin_networks())
        for (const Tiles tiles : {Tiles::rule, Tiles::fastest}) {
            const Evaluator e(titan(), hardware(titan()), workload(network.name), tiles);
            EXPECT_EQ(e.answer({}).time / time_of(e, {}), 1.0) << network.name;
            EXPECT_TRUE(std::isfinite(time_of(e, {}))) << network.name;
        }
}

TEST(Explore, TheFastPathGivesWhatPredictGivesToTheLastBit) {
    for (const char* gpu : {"titan-xp", "v100-sxm2-16gb", "a100-sxm4-40gb", "h100-sxm"}) {
        const Machine& machine = *find_in_catalogue(gpu);
        const Hardware h = hardware(machine);
        for (const auto& network : builtin_networks()) {
            Workload w;
            w.add(training(*builtin_network(network.name, {16, 128})));
            const Evaluator e(machine, h, w, Tiles::rule);
            const Answer a = e.answer({});
            double total = 0;
            for (std::size_t i = 0; i < w.items.size(); ++i) {
                const Prediction p = predict(w.items[i].layer, machine, h);
                EXPECT_EQ(a.layers[i].time, p.time) << gpu << " " << network.name << " " << w.items[i].layer.name;
                EXPECT_EQ(a.layers[i].dram_bytes, p.traffic.dram.total()) << w.items[i].layer.name;
                total += w.items[i].weight * p.time;
            }
            EXPECT_EQ(time_of(e, {}), total) << gpu << " " << network.name;
        }
    }
}

TEST(Explore, ExposedTimesAreNotNegativeAndSumUpToTheTime) {
    for (const auto& network : builtin_networks()) {
        const Evaluator e(titan(), hardware(titan()), workload(network.name));
        for (const LayerAnswer& layer : e.answer({}).layers) {
            double sum = 0;
            for (const double part : layer.exposed) {
                EXPECT_GE(part, -1e-15) << network.name;
                sum += part;
            }
            EXPECT_NEAR(sum / layer.time, 1, 1e-12) << network.name;
        }
    }
}

// All rates times k, or the clock and the memory with it: k times as fast where nothing waits for a latency or launch.
TEST(Explore, ScalingEverythingByKGivesKWithoutLatencyAndLaunch) {
    Hardware h = hardware(titan());
    h.launch = h.l1_latency = h.l2_latency = h.dram_latency = 0;
    const Evaluator e(titan(), h, workload("vgg16", 64, true), Tiles::rule);
    for (const double k : {1.5, 2.0, 3.0}) {
        Factors rates, clocks;
        for (const Resource r : {Resource::macs, Resource::shared_bandwidth, Resource::l1_bandwidth,
                                 Resource::l2_bandwidth, Resource::dram_bandwidth})
            rates[r] = k;
        clocks[Resource::clock] = clocks[Resource::dram_bandwidth] = k;
        const Answer start = e.answer({}), faster = e.answer(rates), clocked = e.answer(clocks);
        std::size_t judged = 0;
        for (std::size_t i = 0; i < start.layers.size(); ++i) {
            EXPECT_NEAR(start.layers[i].time / clocked.layers[i].time, k, 1e-9 * k) << i;
            if (start.layers[i].bound == Term::latency || faster.layers[i].bound == Term::latency) continue;
            if (faster.layers[i].exposed[static_cast<std::size_t>(Term::latency)] > 0) continue;
            EXPECT_NEAR(start.layers[i].time / faster.layers[i].time, k, 1e-9 * k) << i;
            ++judged;
        }
        EXPECT_GE(judged, 5u);
    }
}

// With the mapping held, a resource gives at most what its bottleneck takes: 1 / (1 - share).
TEST(Explore, OneResourceAloneGivesAtMostTheShareOfItsBottleneck) {
    for (const auto& network : builtin_networks())
        for (const Resource r : all_resources()) {
            const Evaluator e(titan(), hardware(titan()), workload(network.name), Tiles::rule);
            const Answer start = e.answer({});
            for (const double k : {1.1, 2.0, 4.0, 16.0}) {
                const Answer changed = e.answer(only(r, k));
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
TEST(Explore, ABandwidthGivesAtMostAmdahlsSpeedUp) {
    for (const auto& network : builtin_networks())
        for (const Resource r :
             {Resource::shared_bandwidth, Resource::l1_bandwidth, Resource::l2_bandwidth, Resource::dram_bandwidth}) {
            const Evaluator e(titan(), hardware(titan()), workload(network.name), Tiles::rule);
            const Answer start = e.answer({});
            for (const double k : {1.1, 2.0, 8.0}) {
                const Answer changed = e.answer(only(r, k));
                for (std::size_t i = 0; i < start.layers.size(); ++i) {
                    const double s = share_of(start.layers[i], r);
                    EXPECT_GE(changed.layers[i].time, start.layers[i].time * (1 - s + s / k) * (1 - 1e-9))
                        << network.name << " " << e.workload().items[i].layer.name << " " << name(r) << " x" << k;
                }
            }
        }
}

TEST(Explore, MoreOfARateIsNeverSlower) {
    for (const auto& network : builtin_networks()) {
        const Evaluator e(titan(), hardware(titan()), workload(network.name));
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

TEST(Explore, ScaledNumbersAreThoseOfTheScaledMachine) {
    Factors f;
    double k = 1.5;
    for (const Resource r : all_resources()) f[r] = k += 0.25;
    for (const Machine& machine : catalogue()) {
        const Hardware a = scaled(hardware(machine), f), b = hardware(scaled(machine, f));
        EXPECT_EQ(a.sms, b.sms) << machine.id;
        EXPECT_NEAR(a.clock / b.clock, 1, 1e-12) << machine.id;
        EXPECT_NEAR(a.flop_per_cycle[Pipe::fp32] / b.flop_per_cycle[Pipe::fp32], 1, 1e-12) << machine.id;
        EXPECT_NEAR(a.l1_width / b.l1_width, 1, 1e-9) << machine.id;
        EXPECT_NEAR(a.shared_width / b.shared_width, 1, 1e-9) << machine.id;
        EXPECT_NEAR(a.l2_bandwidth / b.l2_bandwidth, 1, 1e-9) << machine.id;
        EXPECT_NEAR(a.dram_bandwidth / b.dram_bandwidth, 1, 1e-9) << machine.id;
        EXPECT_NEAR(a.l2_capacity / b.l2_capacity, 1, 1e-12) << machine.id;
        EXPECT_EQ(a.schedulers, b.schedulers) << machine.id;
    }
}

TEST(Explore, ALargerTileIsTakenWhereRegistersAndSharedMemoryAllowIt) {
    const Evaluator e(titan(), hardware(titan()), workload("resnet152", 256, true));
    const auto largest = [&](const Factors& f) {
        int area = 0;
        for (const LayerAnswer& l : e.answer(f).layers) area = std::max(area, l.tile.m * l.tile.n);
        return area;
    };
    Factors roomy = only(Resource::registers, 2);
    roomy[Resource::shared] = 2;
    roomy[Resource::macs] = 4;
    roomy[Resource::sms] = 1;
    EXPECT_LT(largest({}), 256 * 256);
    EXPECT_EQ(largest(roomy), 256 * 256);
}

TEST(Explore, ALargerL2MovesFewerBytesFromDram) {
    const Evaluator e(titan(), hardware(titan()), workload("resnet50", 64), Tiles::rule);
    const auto bytes = [&](const Factors& f) {
        double sum = 0;
        for (const LayerAnswer& l : e.answer(f).layers) sum += l.dram_bytes;
        return sum;
    };
    EXPECT_LT(bytes(only(Resource::l2_capacity, 16)), 0.95 * bytes({}));
}

TEST(Explore, ADesignWithTooFewRegistersForAnyTileTakesForeverAndIsNotFound) {
    const Evaluator e(titan(), hardware(titan()), workload("vgg16", 8));
    EXPECT_TRUE(std::isinf(time_of(e, only(Resource::registers, 0.01))));
}

}  // namespace
