#include "measure/runner.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace gambrel::measure_detail {
namespace {

constexpr double kDefaultBudget = 45, kQuickBudget = 6;  // seconds
// Of one sample: hundreds of launch overheads; with little time in all, less. A host has no launch overhead, but other
// programs: a run well below a scheduler's time slice is mostly undisturbed.
constexpr double kHostSampleTime = 0.7e-3;
constexpr double kLeastSlice = 15;            // samples
constexpr double kLongestCalibration = 0.03;  // s, while no undisturbed run comes
constexpr double kSampleTime = 4e-3, kLeastSampleTime = 1e-3, kSampleShare = 1e-4;

void note_once(std::vector<std::string>& notes, std::string note) {
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(std::move(note));
}

// What samples of one probe add up to.
struct Gathered {
    explicit Gathered(Disturbance disturbance) : result{Repeater(disturbance), {}, {}, {}, {}, 0} {}
    Repeated result;
    std::vector<double> clocks;

    // False if there is no point in going on.
    bool take(const Probe& probe, const Result<Sample>& sample) {
        if (!sample) return result.fault = one_line(sample.error()), false;
        if (sample->fault) return result.fault = sample->fault, false;
        if (!(sample->time.value() > 0)) return result.fault = "the timer did not move", false;
        result.samples.add(value_of(probe, *sample), sample->disturbed, sample->narrowest);
        result.groups = sample->groups;
        if (sample->clock) clocks.push_back(sample->clock->value());
        if (sample->throttled) note_once(result.notes, "throttled: " + *sample->throttled);
        return true;
    }
    Repeated finished() {
        if (!clocks.empty()) result.clock = Frequency{median_of(clocks)};
        return std::move(result);
    }
};

}  // namespace

Session::Session(Device& device, const MeasureOptions& options)
    : device_(device),
      options_(options),
      start_(device.now()),
      budget_(options.budget.value() > 0 ? options.budget : Seconds{options.quick ? kQuickBudget : kDefaultBudget}),
      sample_time_(device.info().kind == DeviceKind::host
                       ? kHostSampleTime
                       : std::clamp(kSampleShare * budget_.value(), kLeastSampleTime, kSampleTime)) {}

Seconds Session::left() const { return std::max(budget_ - taken(), Seconds{0}); }

bool Session::stopped() const {
    stopped_ = stopped_ || (options_.stop && options_.stop());
    return stopped_;
}

void Session::tell(std::string_view doing) const {
    if (options_.progress) options_.progress(std::min(taken() / budget_, 1.0), doing);
}

double value_of(const Probe& probe, const Sample& sample) {
    switch (kind_of(probe)) {
        case CeilingKind::compute:
            return sample.flop / sample.time.value();
        case CeilingKind::latency:
        case CeilingKind::launch:
            return sample.time.value() / std::max(sample.accesses, 1.0);
        case CeilingKind::bandwidth:
        case CeilingKind::link:
            return sample.bytes.value() / sample.time.value();
    }
    return 0;
}

CeilingKind kind_of(const Probe& probe) {
    switch (probe.action) {
        case ProbeAction::empty:
            return CeilingKind::launch;
        case ProbeAction::chase:
            return CeilingKind::latency;
        case ProbeAction::host_to_device:
        case ProbeAction::device_to_host:
            return CeilingKind::link;
        case ProbeAction::load:
        case ProbeAction::store:
        case ProbeAction::copy:
        case ProbeAction::triad:
            return CeilingKind::bandwidth;
        default:
            return CeilingKind::compute;
    }
}

Calibration calibrated(PreparedProbe& probe, Bytes working_set, Session& session, std::int64_t guess) {
    const double target = session.sample_time().value();
    Calibration found;
    found.repetitions = std::max<std::int64_t>(guess, 1);
    const Seconds overdue = session.device().now() + Seconds{kLongestCalibration};
    constexpr std::int64_t kMost = std::int64_t{1} << 40;
    double shortest = std::numeric_limits<double>::infinity();
    int disturbed = 0;  // runs with as many repetitions
    for (int tries = 0; tries < 150; ++tries) {
        const auto sample = probe.run(working_set, found.repetitions);
        if (!sample) return found.fault = one_line(sample.error()), found;
        if (sample->fault) return found.fault = sample->fault, found;
        shortest = std::min(shortest, sample->time.value());
        // A run that another program held up would promise too few repetitions for all that follow: of several such
        // runs the shortest counts.
        if (sample->disturbed && (++disturbed < 3 || (disturbed < 6 && session.device().now() < overdue))) continue;
        const double time = shortest;
        shortest = std::numeric_limits<double>::infinity();
        disturbed = 0;
        if (time > 2 * target && found.repetitions > 1) {
            const double less = static_cast<double>(found.repetitions) * target / time;
            return found.repetitions = std::max<std::int64_t>(1, static_cast<std::int64_t>(less)), found;
        }
        if (time >= 0.7 * target || found.repetitions >= kMost) return found;
        // Small steps at first: the first runs are slow (page faults, clocks) and would promise too little.
        const double factor = std::clamp(target / std::max(time, 1e-9), 1.3, 32.0);
        found.repetitions = static_cast<std::int64_t>(std::ceil(static_cast<double>(found.repetitions) * factor));
    }
    return found;
}

namespace {

bool writes_to_memory(const Probe& probe) {
    return probe.level == Level::dram && (probe.action == ProbeAction::store || probe.action == ProbeAction::copy ||
                                          probe.action == ProbeAction::triad);
}

}  // namespace

std::int64_t enough_for_stores(const DeviceInfo& device, const Probe& probe, const Sample& sample,
                               std::int64_t repetitions) {
    if (!writes_to_memory(probe) || device.kind == DeviceKind::host) return repetitions;
    double cached = 0;
    for (const DeviceLevel& l : device.levels)
        if (l.level == Level::l2 || l.level == Level::l3) cached = std::max(cached, l.capacity.value());
    constexpr double kLeft = 0.01, kLongest = 0.05;  // s
    const double moved = sample.bytes.value(), time = sample.time.value();
    if (!(moved > 0) || !(time > 0) || cached <= kLeft * moved) return repetitions;
    const double factor = std::min(cached / (kLeft * moved), std::max(1.0, kLongest / time));
    return static_cast<std::int64_t>(std::ceil(static_cast<double>(repetitions) * factor));
}

bool is_rate(CeilingKind kind) { return kind != CeilingKind::latency && kind != CeilingKind::launch; }

Disturbance disturbance_of(const DeviceInfo& device, const Probe& probe) {
    if (device.kind != DeviceKind::host) return Disturbance::none;
    return is_rate(kind_of(probe)) ? Disturbance::lowers_rates : Disturbance::raises_times;
}

Repeated repeated(PreparedProbe& prepared, const Probe& probe, Bytes set, Seconds deadline, Session& session,
                  const Repeater* known) {
    Gathered all(disturbance_of(session.device().info(), probe));
    if (known != nullptr) all.result.samples.add(*known);
    Seconds slice = deadline - session.device().now();
    const Calibration calibration = calibrated(prepared, set, session);
    if (calibration.fault) return all.result.fault = calibration.fault, all.finished();
    // Where earlier steps have spent the time, still enough for a few samples.
    if (const Seconds least = session.sample_time() * kLeastSlice; slice < least) {
        slice = least;
        deadline = session.device().now() + least;
    }
    std::int64_t repetitions = calibration.repetitions;
    if (writes_to_memory(probe))
        if (const auto sample = prepared.run(set, repetitions); sample && !sample->fault)
            repetitions = enough_for_stores(session.device().info(), probe, *sample, repetitions);
    while (!session.stopped()) {
        if (!all.take(probe, prepared.run(set, repetitions))) break;
        if (all.result.samples.settled()) break;
        if (session.device().now() >= deadline + slice) break;
        if (all.result.samples.count() >= kLeastSamples && session.device().now() >= deadline) break;
        session.tell(title(probe));
    }
    if (!all.result.fault && all.result.samples.count() == 0) all.result.fault = "stopped before it was measured";
    return all.finished();
}

Repeated sustained(PreparedProbe& prepared, const Probe& probe, Bytes set, Seconds duration, Session& session) {
    Gathered all(Disturbance::none);  // what was held, not what could have been
    const Calibration calibration = calibrated(prepared, set, session);
    if (calibration.fault) return all.result.fault = calibration.fault, all.finished();
    const Seconds start = session.device().now();
    Seconds busy{0}, gone{0};
    while (!session.stopped()) {
        gone = session.device().now() - start;
        if (gone >= duration) break;
        const auto sample = prepared.run(set, calibration.repetitions);
        if (sample) busy += sample->time;
        if (gone * 2.0 < duration && sample && !sample->fault) continue;
        if (!all.take(probe, sample)) break;
        session.tell(title(probe) + ", sustained");
    }
    all.result.busy = gone.value() > 0 ? std::min(busy / gone, 1.0) : 0;
    if (!all.result.fault && all.result.samples.count() == 0) all.result.fault = "stopped before the second half";
    return all.finished();
}

Result<CountedRun> Device::counted(const Probe&, PreparedProbe&, Bytes, std::int64_t) {
    return failure("counters", "this device has none that gambrel can read");
}

Seconds Device::now() const {
    using namespace std::chrono;
    return Seconds{duration<double>(steady_clock::now().time_since_epoch()).count()};
}

}  // namespace gambrel::measure_detail
