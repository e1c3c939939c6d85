// Are the ceilings that the GPU kernels find through PoCL on this CPU sane: peaks like those of the host device, levels
// in order? Other programs run on the machines of CI, so each rate is the best of many short samples: one that was not
// interrupted is enough, and more are taken until it came or the patience ends. No single slow sample can fail a test.
#include <algorithm>
#include <chrono>

#include <gtest/gtest.h>

#include <gambrel/measure.hpp>

#include "measure/device.hpp"

namespace gambrel::measure_detail {
namespace {

constexpr double kSample = 2e-3, kPatience = 15;  // s

// Runs one probe on one core, again and again, for its best rate.
class Rate {
public:
    Rate(Device& device, const Probe& probe, double set) : set_(set) {
        auto made = device.prepare(probe, Bytes(set));
        if (!made || made->probe == nullptr) return;
        probe_ = std::move(made->probe);
        // As many repetitions as make a sample of kSample.
        for (double time = 0; time < kSample / 2 && repetitions_ < (1LL << 40);) {
            const auto sample = probe_->run(Bytes(set_), repetitions_);
            if (!sample) {
                probe_.reset();
                return;
            }
            time = sample->time.value();
            if (time < kSample / 2)
                repetitions_ *=
                    time > 0 ? std::clamp<std::int64_t>(static_cast<std::int64_t>(kSample / time), 2, 100) : 100;
        }
    }
    [[nodiscard]] bool possible() const { return probe_ != nullptr; }
    double improve() {
        const auto sample = probe_->run(Bytes(set_), repetitions_);
        if (!sample || sample->fault) {
            ADD_FAILURE() << (sample ? *sample->fault : to_text(sample.error()));
            return best_;
        }
        const double work = sample->flop > 0 && sample->bytes.value() == 0 ? sample->flop : sample->bytes.value();
        return best_ = std::max(best_, work / sample->time.value());
    }
    [[nodiscard]] double best() const { return best_; }

private:
    std::unique_ptr<PreparedProbe> probe_;
    double set_, best_ = 0;
    std::int64_t repetitions_ = 1;
};

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Improves all rates in turn until `enough` or the patience ends; at least ten rounds.
template <class Enough>
void improve(std::vector<Rate*> rates, Enough enough) {
    const double end = seconds() + kPatience;
    for (int round = 0; round < 10 || (!enough() && seconds() < end); ++round)
        for (Rate* rate : rates) rate->improve();
}

class OpenclCeilings : public testing::Test {
protected:
    void SetUp() override {
        auto opencl = open_device("opencl:0"), host = open_device("cpu");
        if (!opencl || !host) GTEST_SKIP() << "needs an OpenCL device: " << (opencl ? "" : to_text(opencl.error()));
        if ((*opencl)->info().name.find("pthread") == std::string::npos &&
            (*opencl)->info().name.find("cpu") == std::string::npos)
            GTEST_SKIP() << (*opencl)->info().name << " is not this CPU, so the host tells nothing of it";
        opencl_ = std::move(*opencl);
        host_ = std::move(*host);
    }
    std::unique_ptr<Device> opencl_, host_;
};

TEST_F(OpenclCeilings, peaks_are_within_thirty_percent_of_the_hosts) {
    for (const Pipe pipe : {Pipe::fp64, Pipe::fp32}) {
        for (const ProbeAction action : {ProbeAction::fma, ProbeAction::add}) {
            const Probe probe{.action = action, .pipe = pipe, .units = 1};
            Rate ours(*opencl_, probe, 0), theirs(*host_, probe, 0);
            ASSERT_TRUE(ours.possible() && theirs.possible()) << title(probe);
            const auto sane = [&] { return ours.best() > 0.7 * theirs.best() && ours.best() < 1.3 * theirs.best(); };
            improve({&ours, &theirs}, sane);
            EXPECT_TRUE(sane()) << title(probe) << ": " << ours.best() / 1e9 << " by OpenCL, " << theirs.best() / 1e9
                                << " GFLOP/s by the host";
        }
    }
}

TEST_F(OpenclCeilings, levels_are_in_order) {
    const auto capacity = [&](Level level) {
        for (const DeviceLevel& one : opencl_->info().levels)
            if (one.level == level) return one.capacity.value();
        return 0.0;
    };
    if (capacity(Level::l1) == 0 || capacity(Level::l2) == 0) GTEST_SKIP() << "the sizes of the caches are not known";
    const Probe probe{.action = ProbeAction::load, .units = 1};
    Rate l1(*opencl_, probe, capacity(Level::l1) / 2), l2(*opencl_, probe, capacity(Level::l2) / 2),
        dram(*opencl_, probe, std::max(64e6, 2 * capacity(Level::l3)));
    ASSERT_TRUE(l1.possible() && l2.possible() && dram.possible());
    const auto sane = [&] { return l1.best() > 1.2 * l2.best() && l2.best() > 1.2 * dram.best(); };
    improve({&l1, &l2, &dram}, sane);
    EXPECT_TRUE(sane()) << l1.best() / 1e9 << ", " << l2.best() / 1e9 << ", " << dram.best() / 1e9 << " GB/s";
}

TEST_F(OpenclCeilings, the_whole_sweep_of_a_gpu_runs_end_to_end) {
    MeasureOptions options;
    options.quick = true;
    options.budget = Seconds(1);
    const auto measured = measure("opencl:0", options);
    ASSERT_TRUE(measured) << to_text(measured.error());
    EXPECT_EQ(measured->sweeps.size(), 3U) << "own, whole, split";
    for (const MeasuredSweep& sweep : measured->sweeps) {
        EXPECT_FALSE(sweep.points.empty()) << sweep.title;
        EXPECT_TRUE(sweep.faults.empty()) << sweep.title << ": " << sweep.faults.front();
    }
    std::vector<std::string> proved;
    for (const MeasuredCeiling& ceiling : measured->ceilings) {
        if (ceiling.value.count > 0) proved.push_back(ceiling.title);
        // Too few samples in a short budget is not a fault of the kernels; a wrong result is.
        const std::string fault = ceiling.fault.value_or("");
        EXPECT_EQ(fault.find("expected"), std::string::npos) << ceiling.title << ": " << fault;
    }
    for (const char* title : {"launch overhead", "FP64 FMA", "FP32 FMA", "INT32 FMA", "FP32 add", "DRAM store",
                              "DRAM copy", "DRAM triad", "host to device", "device to host"})
        EXPECT_NE(std::find(proved.begin(), proved.end(), title), proved.end()) << title;
}

}  // namespace
}  // namespace gambrel::measure_detail
