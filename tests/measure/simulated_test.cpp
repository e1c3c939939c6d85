// Can the whole chain be trusted? On devices whose truth is known: every ceiling near it, every level found, none made
// up.
#include <cmath>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "measure/characterize.hpp"
#include "measure/plan.hpp"
#include "measure/simulated/simulated.hpp"

namespace gambrel::measure_detail {
namespace {

// One or two of each generation, with and without data-centre memory.
constexpr const char* kTen[] = {"p100-sxm2-16gb", "v100-sxm2-16gb", "t4",  "a100-sxm4-80gb", "a40", "rtx-3090", "l40",
                                "rtx-4090",       "h100-sxm",       "b200"};

std::optional<double> truth_of(const Machine& m, const MeasuredCeiling& c) {
    Probe probe;
    probe.action = c.action;
    if (c.pipe) probe.pipe = *c.pipe;
    probe.level = c.level;
    if (probe.action == ProbeAction::mma || probe.action == ProbeAction::gemm || probe.action == ProbeAction::empty)
        return std::nullopt;  // judged by the primary of the pipe
    return simulated_truth(m, probe);
}

Measurement measured(const Machine& m, double noise, std::uint64_t seed) {
    const auto device = simulated_device(m, {noise, seed, Seconds{5e-6}});
    return characterize(*device, {});
}

const MeasuredCeiling* primary(const Measurement& m, Level level) {
    for (const auto& c : m.ceilings)
        if (c.primary && c.level == level) return &c;
    return nullptr;
}

void expect_near_truth(const Machine& m, const Measurement& found) {
    std::size_t compared = 0;
    for (const MeasuredCeiling& c : found.ceilings) {
        ASSERT_FALSE(c.fault) << m.id << ": " << c.title << ": " << *c.fault;
        const auto truth = truth_of(m, c);
        if (!truth) continue;
        ++compared;
        // Samples of stores are longer, so that what stays in L2 does not count: there are fewer of them.
        const double tolerance = c.title.find("store") == std::string::npos ? 0.02 : 0.03;
        EXPECT_NEAR(c.value.median / *truth, 1, tolerance) << m.id << ": " << c.title;
    }
    EXPECT_GE(compared, 10U) << m.id;
    for (const Pipe p : all_pipes()) {
        const auto roof = compute_ceiling(m, p, {}, Roofs::measured);
        const auto it = std::find_if(found.ceilings.begin(), found.ceilings.end(),
                                     [&](const auto& c) { return c.primary && c.pipe == p; });
        ASSERT_EQ(it != found.ceilings.end(), roof.has_value()) << m.id << ": " << name(p);
        if (roof) {
            EXPECT_NEAR(it->value.median / roof->value.value(), 1, 0.02) << m.id << ": " << name(p);
        }
    }
}

void expect_its_levels(const Machine& m, const Measurement& found) {
    for (const Level level : {Level::l1, Level::l2, Level::dram}) {
        const bool there = memory_ceiling(m, level, {}, Roofs::measured).has_value();
        EXPECT_EQ(primary(found, level) != nullptr, there) << m.id << ": " << name(level);
    }
    for (const MeasuredSweep& sweep : found.sweeps) {
        std::set<Level> seen;
        for (const Plateau& p : sweep.plateaus) {
            ASSERT_TRUE(p.level) << m.id << ": " << sweep.title << ": a plateau from " << p.from.value() << " to "
                                 << p.to.value() << " that no level explains";
            EXPECT_TRUE(seen.insert(*p.level).second);
        }
    }
}

class TenGpus : public testing::TestWithParam<const char*> {};

TEST_P(TenGpus, with_three_percent_noise_give_their_ceilings_and_levels_over_a_hundred_seeds) {
    const Machine* m = find_in_catalogue(GetParam());
    ASSERT_NE(m, nullptr) << GetParam();
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        SCOPED_TRACE(seed);
        const Measurement found = measured(*m, 0.03, seed);
        expect_near_truth(*m, found);
        expect_its_levels(*m, found);
        if (HasFailure()) return;
    }
}
INSTANTIATE_TEST_SUITE_P(Simulated, TenGpus, testing::ValuesIn(kTen));

TEST(Simulated, the_same_seed_gives_the_same_numbers_and_another_does_not) {
    const Machine& m = *find_in_catalogue("v100");
    const auto a = measured(m, 0.03, 7), b = measured(m, 0.03, 7), c = measured(m, 0.03, 8);
    ASSERT_EQ(a.ceilings.size(), b.ceilings.size());
    for (std::size_t i = 0; i < a.ceilings.size(); ++i)
        EXPECT_EQ(a.ceilings[i].value.median, b.ceilings[i].value.median);
    EXPECT_NE(a.ceilings.front().value.median, c.ceilings.front().value.median);
}

TEST(Simulated, the_measured_machine_can_be_saved_read_and_says_that_it_was_simulated) {
    const Measurement found = measured(*find_in_catalogue("v100"), 0.01, 1);
    const auto again = parse_machine(to_json(measured_machine(found)), "saved");
    ASSERT_TRUE(again) << to_text(again.error());
    const auto dram = memory_ceiling(*again, Level::dram, {}, Roofs::measured);
    ASSERT_TRUE(dram);
    EXPECT_EQ(dram->origin, Origin::simulated);
    EXPECT_NEAR(dram->value.value(), 828.758e9, 828.758e9 * 0.01);
    EXPECT_THAT(dram->cite, testing::HasSubstr("seed 1"));
}

// A device that lies in one way at a time.
class Faulty final : public Device {
public:
    Faulty(std::unique_ptr<Device> inner, ProbeAction action, std::string fault)
        : inner_(std::move(inner)), action_(action), fault_(std::move(fault)) {}
    [[nodiscard]] const DeviceInfo& info() const override { return inner_->info(); }
    [[nodiscard]] Seconds now() const override { return inner_->now(); }
    Result<Preparation> prepare(const Probe& probe, Bytes largest) override {
        auto p = inner_->prepare(probe, largest);
        if (p && p->probe && probe.action == action_)
            p->probe = std::make_unique<FaultyProbe>(std::move(p->probe), fault_);
        return p;
    }

private:
    class FaultyProbe final : public PreparedProbe {
    public:
        FaultyProbe(std::unique_ptr<PreparedProbe> inner, std::string fault)
            : inner_(std::move(inner)), fault_(std::move(fault)) {}
        Result<Sample> run(Bytes set, std::int64_t repetitions) override {
            auto sample = inner_->run(set, repetitions);
            if (sample && ++runs_ > 12) sample->fault = fault_;
            return sample;
        }

    private:
        std::unique_ptr<PreparedProbe> inner_;
        std::string fault_;
        int runs_ = 0;
    };
    std::unique_ptr<Device> inner_;
    ProbeAction action_;
    std::string fault_;
};

TEST(Proof, a_wrong_result_fails_its_ceiling_and_no_other_and_leaves_the_machine_without_it) {
    const Machine& m = *find_in_catalogue("v100");
    Faulty device(simulated_device(m, {0.03, 1, Seconds{5e-6}}), ProbeAction::fma, "sum is 3, expected 4");
    const Measurement found = characterize(device, {});
    for (const auto& c : found.ceilings)
        if (c.action == ProbeAction::fma) {
            EXPECT_EQ(c.fault, "sum is 3, expected 4") << c.title;
            EXPECT_FALSE(c.primary);
        } else {
            EXPECT_FALSE(c.fault) << c.title;
        }
    const Machine made = measured_machine(found);
    EXPECT_FALSE(made.pipes[Pipe::int32].measured);
    ASSERT_TRUE(made.pipes[Pipe::fp32].measured);  // the library's product proved itself
    EXPECT_THAT(made.pipes[Pipe::fp32].measured->ceiling.cite, testing::HasSubstr("GEMM"));
    EXPECT_TRUE(made.pipes[Pipe::tensor_fp16].measured);
}

TEST(Proof, a_working_set_outside_its_level_is_told) {
    const LevelWindow l2{Level::l2, 1 << 17, 6 << 20};
    EXPECT_EQ(misfit(Bytes{1 << 20}, l2), "");
    EXPECT_THAT(misfit(Bytes{1 << 16}, l2), testing::HasSubstr("not one of L2"));
    EXPECT_THAT(misfit(Bytes{8 << 20}, l2), testing::HasSubstr("not one of L2"));
    const LevelWindow dram{Level::dram, 6 << 20, INFINITY};
    EXPECT_THAT(misfit(Bytes{7 << 20}, dram), testing::HasSubstr("twice 6 MiB"));
    EXPECT_EQ(misfit(Bytes{64 << 20}, dram), "");
}

TEST(Session, stop_keeps_what_is_done) {
    const auto device = simulated_device(*find_in_catalogue("v100"), {0.03, 1, Seconds{5e-6}});
    int calls = 0;
    MeasureOptions options;
    options.stop = [&] { return ++calls > 500; };
    const Measurement found = characterize(*device, options);
    EXPECT_TRUE(found.interrupted);
    ASSERT_FALSE(found.ceilings.empty());
    EXPECT_FALSE(found.ceilings.front().fault);
    EXPECT_LT(found.ceilings.size(), 12U);
}

TEST(Session, the_budget_is_kept) {
    for (const double budget : {5.0, 15.0, 40.0}) {
        const auto device = simulated_device(*find_in_catalogue("h100-sxm"), {0.10, 1, Seconds{5e-6}});
        MeasureOptions options;
        options.budget = Seconds{budget};
        const Measurement found = characterize(*device, options);
        EXPECT_LT(found.took.value(), 1.1 * budget + 1);
    }
}

TEST(Session, sustained_is_measured_beside_the_burst) {
    const auto device = simulated_device(*find_in_catalogue("v100"), {0.03, 1, Seconds{5e-6}});
    MeasureOptions options;
    options.sustained = Seconds{2};
    const Measurement found = characterize(*device, options);
    std::size_t held = 0;
    for (const auto& c : found.ceilings)
        if (c.sustained) {
            ++held;
            EXPECT_NEAR(c.sustained->median / c.value.median, 1, 0.02) << c.title;
            EXPECT_THAT(c.notes, testing::Contains(testing::HasSubstr("busy 100 % of the time"))) << c.title;
        }
    EXPECT_GE(held, 5U);
}

TEST(Windows, a_level_that_an_inner_one_hides_has_none) {
    const auto device = simulated_device(*find_in_catalogue("v100"), {});
    const auto own = level_windows(device->info(), WorkingSetSharing::own, 80);
    ASSERT_EQ(own.size(), 2U);  // 6 MiB of L2 for 80 SMs is less than an L1
    EXPECT_EQ(own[0].level, Level::l1);
    EXPECT_EQ(own[1].level, Level::dram);
    const auto whole = level_windows(device->info(), WorkingSetSharing::whole, 80);
    ASSERT_EQ(whole.size(), 1U);  // no L1, which loads pass, and no DRAM: the L2 serves all who follow the first reader
    EXPECT_EQ(whole[0].to, 6 << 20);
}

TEST(OpenSimulated, says_what_is_wrong_with_a_name_or_an_option) {
    const auto what = [](const char* name) {
        const auto device = open_device(name);
        return device ? std::string("opened") : to_text(device.error());
    };
    EXPECT_EQ(what("sim:v100"), "opened");
    EXPECT_EQ(what("sim:v100,noise=0.03,seed=9,launch=3 us"), "opened");
    EXPECT_THAT(what("sim:"), testing::HasSubstr("needs a machine"));
    EXPECT_THAT(what("sim:v1oo"), testing::HasSubstr("v1oo"));
    EXPECT_THAT(what("sim:v100,noise=x"), testing::HasSubstr("noise \"x\""));
    EXPECT_THAT(what("sim:v100,sed=1"), testing::HasSubstr("did you mean \"seed\""));
    EXPECT_THAT(what("simm:v100"), testing::HasSubstr("did you mean \"sim\""));
}

}  // namespace
}  // namespace gambrel::measure_detail
