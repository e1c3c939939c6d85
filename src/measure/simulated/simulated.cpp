#include "measure/simulated/simulated.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <fmt/format.h>

#include "measure/plan.hpp"
#include "measure/runner.hpp"

namespace gambrel::measure_detail {
namespace {

constexpr double kFlopPerTrip = 4096;  // of one unit, for one trip of an arithmetic loop
constexpr double kPassCycles = 0.5;    // what other warps do not hide of the end of a pass
// Matrix instructions of an older generation on a newer GPU: about what is reported of mma.sync on Hopper.
constexpr double kOlderPath = 0.6;
constexpr double kLibrary = 0.9, kHalfExtent = 600;  // a GEMM of this n reaches half of what large ones do
constexpr double kHostLink = 25e9;

MatrixPath best_path(const Machine& m) {
    if (!m.compute_capability) return MatrixPath::warp;
    if (m.compute_capability->major == 9) return MatrixPath::warpgroup;
    if (m.compute_capability->major == 10) return MatrixPath::tensor_memory;
    return MatrixPath::warp;
}

std::optional<double> arithmetic_truth(const Machine& m, const Probe& probe) {
    const auto roof = compute_ceiling(m, probe.pipe, {}, Roofs::measured);
    if (!roof || !(roof->value.value() > 0)) return std::nullopt;
    const double peak = roof->value.value();
    switch (probe.action) {
        case ProbeAction::fma:
            return is_tensor(probe.pipe) ? std::nullopt : std::optional(peak);
        case ProbeAction::add:
        case ProbeAction::multiply:
            return is_tensor(probe.pipe) ? std::nullopt : std::optional(peak / 2);
        case ProbeAction::mma:
            if (!is_tensor(probe.pipe)) return std::nullopt;
            if (probe.matrix == best_path(m)) return peak;
            return probe.matrix == MatrixPath::warp ? std::optional(kOlderPath * peak) : std::nullopt;
        case ProbeAction::gemm:
            return kLibrary * peak / (1 + std::pow(kHalfExtent / probe.extent, 3));
        default:
            return std::nullopt;
    }
}

class Simulated final : public Device {
public:
    Simulated(const Machine& machine, const SimulatedOptions& options)
        : machine_(machine), options_(options), random_(options.seed) {
        info_.kind = DeviceKind::simulated;
        info_.name = machine.name;
        info_.id = fmt::format("sim:{}, seed {}", machine.id, options.seed);
        info_.detail = fmt::format("catalogue ceilings with {:.1f} % noise", 100 * options.noise);
        info_.units = machine.sm.sms ? static_cast<int>(machine.sm.sms->value) : 1;
        info_.theoretical = machine;
        info_.compute_capability = machine.compute_capability;
        if (machine.clocks.boost) info_.clock = machine.clocks.boost->value;
        for (const MemoryLevel& l : machine.levels)
            if (l.capacity && memory_ceiling(machine, l.level, {}, Roofs::measured))
                info_.levels.push_back({l.level, l.capacity->value, l.per_sm ? 1 : info_.units});
    }

    [[nodiscard]] const DeviceInfo& info() const override { return info_; }
    [[nodiscard]] Seconds now() const override { return now_; }
    Result<Preparation> prepare(const Probe& probe, Bytes largest) override;

    Sample timed(Sample sample, double seconds) {
        const double factor = std::exp(options_.noise * normal_(random_));
        sample.time = Seconds{(seconds + options_.launch_overhead.value()) * factor};
        sample.clock = info_.clock;
        now_ += sample.time;
        return sample;
    }
    [[nodiscard]] const Machine& machine() const { return machine_; }
    [[nodiscard]] const SimulatedOptions& options() const { return options_; }

private:
    Machine machine_;
    SimulatedOptions options_;
    DeviceInfo info_;
    std::mt19937_64 random_;
    std::normal_distribution<double> normal_;
    Seconds now_{0};
};

class SimulatedProbe final : public PreparedProbe {
public:
    SimulatedProbe(Simulated& device, const Probe& probe)
        : device_(device),
          probe_(probe),
          units_(probe.units == 0 ? device.info().units : probe.units),
          windows_(level_windows(device.info(), probe.sharing, units_)) {
        for (const Level level : all_levels()) costs_[level] = cost_at(level);
        if (kind_of(probe) == CeilingKind::compute) rate_ = *simulated_truth(device.machine(), probe) * part();
    }

    Result<Sample> run(Bytes set, std::int64_t repetitions) override {
        const auto times = static_cast<double>(repetitions);
        Sample s;
        switch (kind_of(probe_)) {
            case CeilingKind::launch:
                s.accesses = times;
                return device_.timed(s, (times - 1) * device_.options().launch_overhead.value());
            case CeilingKind::compute:
                s.flop = probe_.action == ProbeAction::gemm ? 2 * std::pow(probe_.extent, 3) * times
                                                            : kFlopPerTrip * units_ * times;
                return device_.timed(s, s.flop / rate_);
            case CeilingKind::link:
                s.bytes = set * times;
                return device_.timed(s, s.bytes.value() / kHostLink);
            case CeilingKind::latency:
                s.accesses = times;
                return device_.timed(s, times * cost(set));
            case CeilingKind::bandwidth:
                break;
        }
        s.bytes = set * times * (probe_.sharing == WorkingSetSharing::split ? 1.0 : units_);
        const double pass = device_.info().clock ? kPassCycles / device_.info().clock->value() : 0;
        return device_.timed(s, s.bytes.value() * cost(set) + times * pass);
    }

private:
    [[nodiscard]] double part() const { return static_cast<double>(units_) / device_.info().units; }

    // Seconds for one byte, or for one dependent load.
    [[nodiscard]] double cost_at(Level level) const {
        const MemoryLevel* l = device_.machine().find(level);
        const auto clock = device_.info().clock;
        if (kind_of(probe_) == CeilingKind::latency)
            return l && l->latency && clock ? l->latency->value.value() / clock->value() : 0;
        const auto roof = memory_ceiling(device_.machine(), level, {}, Roofs::measured);
        return roof ? 1 / (roof->value.value() * (l->per_sm ? part() : 1)) : 0;
    }

    // Beyond a capacity the share of hits falls to nothing over half of the capacity again, as random replacement does.
    [[nodiscard]] double cost(Bytes set) const {
        if (probe_.level == Level::shared) return costs_[Level::shared];
        double total = 0, left = 1;
        for (const LevelWindow& w : windows_) {
            const bool last = &w == &windows_.back();
            const double over = last ? 0 : (set.value() - w.to) / (0.5 * w.to);
            const double hits = std::clamp(1 - over, 0.0, 1.0) * left;
            total += hits * costs_[w.level];
            left -= hits;
            if (left <= 0) break;
        }
        return total;
    }

    Simulated& device_;
    Probe probe_;
    int units_;
    std::vector<LevelWindow> windows_;
    PerLevel<double> costs_{};
    double rate_ = 0;  // FLOP/s
};

Result<Preparation> Simulated::prepare(const Probe& probe, Bytes) {
    const CeilingKind kind = kind_of(probe);
    if (kind == CeilingKind::compute && !simulated_truth(machine_, probe))
        return Preparation{nullptr, "the catalogue does not have this rate of this GPU"};
    if (kind == CeilingKind::latency && probe.level) {
        const MemoryLevel* l = machine_.find(*probe.level);
        if (!l || !l->latency || !info_.clock) return Preparation{nullptr, "the catalogue does not know this latency"};
    }
    if (kind == CeilingKind::bandwidth && probe.level && !simulated_truth(machine_, probe))
        return Preparation{nullptr, "the catalogue does not know the bandwidth of this level"};
    return Preparation{std::make_unique<SimulatedProbe>(*this, probe), {}};
}

}  // namespace

std::optional<double> simulated_truth(const Machine& machine, const Probe& probe) {
    switch (kind_of(probe)) {
        case CeilingKind::compute:
            return arithmetic_truth(machine, probe);
        case CeilingKind::link:
            return kHostLink;
        case CeilingKind::launch:
            return std::nullopt;
        case CeilingKind::latency: {
            const MemoryLevel* l = probe.level ? machine.find(*probe.level) : nullptr;
            if (!l || !l->latency || !machine.clocks.boost) return std::nullopt;
            return l->latency->value / machine.clocks.boost->value / Seconds{1};
        }
        case CeilingKind::bandwidth: {
            if (!probe.level) return std::nullopt;
            const auto roof = memory_ceiling(machine, *probe.level, {}, Roofs::measured);
            return roof ? std::optional(roof->value.value()) : std::nullopt;
        }
    }
    return std::nullopt;
}

std::unique_ptr<Device> simulated_device(const Machine& machine, const SimulatedOptions& options) {
    return std::make_unique<Simulated>(machine, options);
}

}  // namespace gambrel::measure_detail
