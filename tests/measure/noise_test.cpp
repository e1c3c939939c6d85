// Is a ceiling right although something else used the same silicon while it was first measured?
#include <cmath>
#include <functional>

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
        info_.kind = "host";
        info_.name = "a host with a neighbour";
        info_.levels = {{Level::l1, Bytes{32 * 1024.0}, 1}, {Level::dram, Bytes{1e10}, 1}};
    }
    [[nodiscard]] const DeviceInfo& info() const override { return info_; }
    [[nodiscard]] Seconds now() const override { return Seconds{time_}; }
    void pass(Seconds time) { time_ += time.value(); }
    Result<Preparation> prepare(const Probe& probe, Bytes) override {
        return Preparation{std::make_unique<Run>(*this, probe), {}};
    }

private:
    struct Run final : PreparedProbe {
        Run(Neighboured& device, const Probe& probe) : device_(device), probe_(probe) {}
        Result<Sample> run(Bytes set, std::int64_t repetitions) override {
            Sample s;
            const auto n = static_cast<double>(repetitions);
            s.flop = 1000 * n;
            s.bytes = set * n;
            s.accesses = n;
            const double work = probe_.action == Action::chase ? n * kAccess
                                : set.value() > 0              ? s.bytes.value() / kRate
                                                               : s.flop / kRate;
            const bool busy = device_.busy_(device_.time_);
            s.time = Seconds{work * (busy ? 1.5 : 1.0)};
            s.disturbed = busy && device_.told_;
            device_.time_ += s.time.value() + 1e-6;
            return s;
        }
        Neighboured& device_;
        Probe probe_;
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

TEST(Neighbours, what_they_slowed_is_measured_again_and_the_fastest_visit_counts) {
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

TEST(Neighbours, the_time_for_it_is_within_the_budget) {
    Neighboured device([](double) { return true; }, true);  // never leaves
    MeasureOptions options;
    options.budget = Seconds{10};
    const Measurement m = characterize(device, options);
    EXPECT_LT(m.took.value(), 11);
    for (const MeasuredCeiling& c : m.ceilings)
        EXPECT_FALSE(c.notes.empty()) << c.title << ": nothing tells that it was disturbed";
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

}  // namespace
}  // namespace gambrel::measure_detail
