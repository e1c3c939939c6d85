// Is a ceiling right although something else used the same silicon while it was first measured?
#include <algorithm>
#include <cmath>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "measure/characterize.hpp"
#include "measure/device.hpp"
#include "measure/runner.hpp"

namespace gambrel::measure_detail {
namespace {

constexpr double kRate = 100e9;  // of everything, FLOP/s and B/s
constexpr double kAccess = 1e-7;

// A host with a clock of its own and a neighbour: while `busy` all takes half as long again. `told` is whether the
// device notices.
class Neighboured final : public Device {
public:
    Neighboured(std::function<bool(double time)> busy, bool told) : busy_(std::move(busy)), told_(told) {
        info_.kind = DeviceKind::host;
        info_.name = "a host with a neighbour";
        info_.levels = {{Level::l1, Bytes{32 * 1024.0}, 1}, {Level::dram, Bytes{1e10}, 1}};
    }
    [[nodiscard]] const DeviceInfo& info() const override { return info_; }
    [[nodiscard]] Seconds now() const override { return Seconds{time_}; }
    void pass(Seconds time) { time_ += time.value(); }
    double whole_width = 0;  // 0: it does not know its cores
    void add_shared_cache() { info_.levels.insert(info_.levels.begin() + 1, {Level::l3, Bytes{32e6}, 1}); }
    bool falls_without_end = false;     // the rate of loads, with the square root of the set beyond 1 MB
    bool empties_shared_cache = false;  // before the first visit to what lies in it
    [[nodiscard]] double least_width(int) const override { return 0.9 * whole_width; }
    Result<Preparation> prepare(const Probe& probe, Bytes set) override {
        const bool shared = probe.action == ProbeAction::chase && set.value() > 32e3 && set.value() < 32e6;
        const bool emptied = shared && empties_shared_cache;
        if (shared) empties_shared_cache = false;
        return Preparation{std::make_unique<Run>(*this, probe, emptied), {}};
    }

private:
    struct Run final : PreparedProbe {
        Run(Neighboured& device, const Probe& probe, bool emptied)
            : device_(device), probe_(probe), access_(emptied ? 2 * kAccess : kAccess) {}
        Result<Sample> run(Bytes set, std::int64_t repetitions) override {
            Sample s;
            const auto n = static_cast<double>(repetitions);
            s.flop = 1000 * n;
            s.bytes = set * n;
            s.accesses = n;
            const double work = probe_.action == ProbeAction::chase ? n * access_
                                : set.value() > 0                   ? s.bytes.value() / kRate
                                                                    : s.flop / kRate;
            const double falls = device_.falls_without_end && probe_.action == ProbeAction::load
                                     ? std::sqrt(std::max(1.0, set.value() / 1e6))
                                     : 1;
            const bool busy = device_.busy_(device_.time_);
            s.time = Seconds{work * falls * (busy ? 1.5 : 1.0)};
            s.disturbed = busy && device_.told_;
            s.narrowest = {0, busy ? 2.0 : 4.0};
            device_.time_ += s.time.value() + 1e-6;
            return s;
        }
        Neighboured& device_;
        Probe probe_;
        double access_;
    };
    double time_ = 0;
    std::function<bool(double)> busy_;
    bool told_;
    DeviceInfo info_;
};

void expect_truth(const Measurement& m) {
    ASSERT_FALSE(m.ceilings.empty());
    for (const MeasuredCeiling& c : m.ceilings) {
        ASSERT_FALSE(c.fault) << c.title << ": " << *c.fault;
        const double truth = c.kind == CeilingKind::latency ? kAccess : kRate;
        EXPECT_NEAR(c.value.median / truth, 1, 0.01) << c.title;
    }
}

TEST(Neighbours, what_they_slowed_is_measured_again_and_the_fastest_samples_count) {
    // The neighbour is noticed, but stays for longer than the first ceilings may wait.
    Neighboured device([](double time) { return time < 5; }, true);
    MeasureOptions options;
    options.budget = Seconds{30};
    expect_truth(characterize(device, options));
}

TEST(Neighbours, a_median_far_below_the_best_sample_is_reason_enough) {
    // Busy most of the time, but not all, and unnoticed. (What lies wholly in a neighbour's time and is not noticed
    // cannot be told from a slower machine.)
    Neighboured device([](double time) { return time < 0.05 && std::fmod(time, 2e-3) < 1.5e-3; }, false);
    MeasureOptions options;
    options.budget = Seconds{30};
    expect_truth(characterize(device, options));
}

// A core that is half as wide from the first sample on cannot be told from a whole one before a whole one was seen.
TEST(Neighbours, who_were_there_before_the_width_of_a_core_was_known_are_noticed_later) {
    Neighboured device([](double) { return true; }, false);  // never leaves, and no sample is marked when it is taken
    MeasureOptions options;
    options.budget = Seconds{30};
    for (const MeasuredCeiling& c : characterize(device, options).ceilings) EXPECT_FALSE(c.disturbed) << c.title;
    device.whole_width = 4;
    const Measurement m = characterize(device, options);
    ASSERT_FALSE(m.ceilings.empty());
    for (const MeasuredCeiling& c : m.ceilings) EXPECT_TRUE(c.disturbed) << c.title;
}

// The samples of the first visit agree with each other, so nothing else tells that they are slow.
TEST(Neighbours, who_emptied_a_cache_that_cores_share_do_not_lengthen_its_latency) {
    Neighboured device([](double) { return false; }, false);
    device.add_shared_cache();
    device.empties_shared_cache = true;
    MeasureOptions options;
    options.budget = Seconds{30};
    const Measurement m = characterize(device, options);
    EXPECT_FALSE(device.empties_shared_cache);
    EXPECT_EQ(
        std::count_if(m.ceilings.begin(), m.ceilings.end(),
                      [](const MeasuredCeiling& c) { return c.kind == CeilingKind::latency && c.level == Level::l3; }),
        1);
    expect_truth(m);
}

// Other machines that use the same memory can hide its plateau. Its roof must not be missing for that.
TEST(Memory, of_which_the_sweep_shows_no_plateau_is_measured_beyond_the_caches_and_the_card_says_so) {
    Neighboured device([](double) { return false; }, false);
    device.add_shared_cache();
    device.falls_without_end = true;
    MeasureOptions options;
    options.budget = Seconds{30};
    const Measurement m = characterize(device, options);
    const auto dram = std::find_if(m.ceilings.begin(), m.ceilings.end(), [](const MeasuredCeiling& c) {
        return c.level == Level::dram && c.action == ProbeAction::load;
    });
    ASSERT_NE(dram, m.ceilings.end());
    EXPECT_FALSE(dram->fault);
    ASSERT_TRUE(dram->working_set);
    EXPECT_GE(dram->working_set->value(), 4 * 32e6);
    EXPECT_NEAR(dram->value.median, kRate / std::sqrt(dram->working_set->value() / 1e6), 0.01 * kRate);
    EXPECT_THAT(dram->notes, testing::Contains(testing::StartsWith("the sweep shows no plateau here")));
    // A cache that the sweep does not show stays unmeasured: nothing says which working set is its own.
    EXPECT_TRUE(std::any_of(m.skipped.begin(), m.skipped.end(),
                            [](const auto& s) { return s.reason == "the sweep shows no such level"; }));
}

TEST(Neighbours, the_time_for_it_is_within_the_budget) {
    Neighboured device([](double) { return true; }, true);  // never leaves
    MeasureOptions options;
    options.budget = Seconds{10};
    const Measurement m = characterize(device, options);
    EXPECT_LT(m.took.value(), 11);
    for (const MeasuredCeiling& c : m.ceilings)
        EXPECT_FALSE(c.notes.empty()) << c.title << ": nothing says that it was disturbed";
}

// A repetition takes a microsecond; two runs of three are held up by another program, for longer than calibration may
// take in all.
struct HeldUp final : PreparedProbe {
    explicit HeldUp(Neighboured& on) : device(on) {}
    Result<Sample> run(Bytes, std::int64_t repetitions) override {
        Sample s;
        s.disturbed = ++count % 3 != 0;
        s.time = Seconds{1e-6 * static_cast<double>(repetitions) + (s.disturbed ? 0.05 : 0)};
        device.pass(s.time);
        return s;
    }
    Neighboured& device;
    int count = 0;
};

TEST(Neighbours, runs_that_were_held_up_do_not_shorten_those_that_follow) {
    Neighboured device([](double) { return true; }, true);
    MeasureOptions options;
    Session session(device, options);
    HeldUp probe(device);
    const Calibration c = calibrated(probe, Bytes{0}, session);
    const double time = 1e-6 * static_cast<double>(c.repetitions);
    EXPECT_GT(time, 0.6 * session.sample_time().value());
    EXPECT_LT(time, 2.1 * session.sample_time().value());
}

TEST(FastestGroup, is_what_the_hardware_gives_however_many_samples_were_slowed) {
    Repeater rates(Disturbance::lowers_rates);
    for (int i = 0; i < 100; ++i) rates.add(60 + 0.2 * i, true);         // 60 to 80
    for (int i = 0; i < 8; ++i) rates.add(99.5 + 0.1 * (i % 5), false);  // 99.5 to 99.9
    rates.add(140);                                                      // a clock that jumped
    const auto found = rates.estimate();
    EXPECT_NEAR(found.value.median, 99.7, 0.2);
    EXPECT_EQ(found.value.count, 8U);
    EXPECT_FALSE(found.disturbed);
    EXPECT_EQ(rates.all().count, 109U);
    EXPECT_LT(rates.all().median, 75);
}

TEST(FastestGroup, of_times_is_the_shortest) {
    Repeater times(Disturbance::raises_times);
    for (int i = 0; i < 50; ++i) times.add(2e-9 + 1e-10 * i);
    for (int i = 0; i < 6; ++i) times.add(1e-9 + 1e-12 * i);
    EXPECT_NEAR(times.estimate().value.median, 1e-9, 1e-11);
}

TEST(FastestGroup, is_marked_disturbed_where_fewer_than_six_agree_or_ran_undisturbed) {
    Repeater scattered(Disturbance::lowers_rates);
    for (int i = 0; i < 40; ++i) scattered.add(100 * std::pow(0.9, i));
    EXPECT_TRUE(scattered.estimate().disturbed);
    EXPECT_EQ(scattered.estimate().value.median, 100);
    Repeater marked(Disturbance::lowers_rates);
    for (int i = 0; i < 40; ++i) marked.add(100, i >= 5);
    EXPECT_TRUE(marked.estimate().disturbed) << "all agree, but a neighbour ran in all but five";
    marked.add(100);
    EXPECT_FALSE(marked.estimate().disturbed);
}

TEST(FastestGroup, of_a_device_of_our_own_is_the_median_because_noise_goes_both_ways) {
    Repeater rates;
    for (int i = 0; i <= 100; ++i) rates.add(90 + 0.2 * i);
    EXPECT_EQ(rates.estimate().value.median, 100);
}

}  // namespace
}  // namespace gambrel::measure_detail
