// The rates of our GPU kernels through OpenCL on this CPU (PoCL), as ratios to those of the host's own kernels on one
// core, measured in turn in one run. The best sample of each side is compared, as the least disturbed one says most
// about the hardware. Expected: peaks between 0.7 and 1.3 of the host's, and each level of the caches faster than the
// next.
#include <algorithm>
#include <memory>
#include <string>

#include <benchmark/benchmark.h>

#include <gambrel/measure.hpp>

#include "measure/device.hpp"

namespace {

using namespace gambrel;
using namespace gambrel::measure_detail;

constexpr double kSample = 2e-3;  // s

// One probe, run again and again for its best rate.
class BestRate {
public:
    BestRate(Device& device, const Probe& probe, double working_set) : working_set_(working_set) {
        auto made = device.prepare(probe, Bytes(working_set));
        if (made && made->probe != nullptr) probe_ = std::move(made->probe);
        // As many repetitions as make a sample of kSample.
        while (probe_ != nullptr && repetitions_ < (1LL << 40)) {
            const double time = sample();
            if (time >= kSample / 2) break;
            repetitions_ *=
                time > 0 ? std::clamp<std::int64_t>(static_cast<std::int64_t>(kSample / time), 2, 100) : 100;
        }
        best_ = 0;
    }
    [[nodiscard]] bool possible() const { return probe_ != nullptr; }
    double sample() {
        const auto sample = probe_->run(Bytes(working_set_), repetitions_);
        if (!sample || sample->fault) {
            probe_.reset();
            return 0;
        }
        const double work = sample->flop > 0 && sample->bytes.value() == 0 ? sample->flop : sample->bytes.value();
        best_ = std::max(best_, work / sample->time.value());
        return sample->time.value();
    }
    [[nodiscard]] double best() const { return best_; }

private:
    std::unique_ptr<PreparedProbe> probe_;
    double working_set_, best_ = 0;
    std::int64_t repetitions_ = 1;
};

void compare(benchmark::State& state, const Probe& probe, double working_set) {
    auto opencl = open_device("opencl:0"), host = open_device("cpu");
    if (!opencl || !host) return state.SkipWithError("needs an OpenCL device");
    BestRate ours(**opencl, probe, working_set), hosts(**host, probe, working_set);
    for (auto _ : state) {
        if (!ours.possible() || !hosts.possible()) return state.SkipWithError("a device refused or failed the probe");
        ours.sample();
        hosts.sample();
    }
    state.counters["opencl_per_second"] = ours.best();
    state.counters["host_per_second"] = hosts.best();
    state.counters["ratio"] = ours.best() / hosts.best();
}

void peak(benchmark::State& state, ProbeAction action, Pipe pipe) {
    compare(state, {.action = action, .pipe = pipe, .units = 1}, 0);
}

void load(benchmark::State& state, Level level) {
    const auto host = open_device("cpu");
    if (!host) return state.SkipWithError("the host cannot be opened");
    double working_set = 256e6;
    for (const DeviceLevel& one : (*host)->info().levels)
        if (one.level == level && level != Level::dram) working_set = one.capacity.value() / 2;
    compare(state, {.action = ProbeAction::load, .units = 1}, working_set);
}

BENCHMARK_CAPTURE(peak, fp64_fma, ProbeAction::fma, Pipe::fp64);
BENCHMARK_CAPTURE(peak, fp64_add, ProbeAction::add, Pipe::fp64);
BENCHMARK_CAPTURE(peak, fp32_fma, ProbeAction::fma, Pipe::fp32);
BENCHMARK_CAPTURE(peak, fp32_add, ProbeAction::add, Pipe::fp32);
BENCHMARK_CAPTURE(load, l1, Level::l1);
BENCHMARK_CAPTURE(load, l2, Level::l2);
BENCHMARK_CAPTURE(load, dram, Level::dram);

}  // namespace
