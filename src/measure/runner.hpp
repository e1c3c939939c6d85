// Runs one probe until its statistics suffice or its time is spent. Knows budgets and proofs, but no levels.
#pragma once

#include <functional>
#include <memory>

#include "measure/device.hpp"
#include "measure/statistics.hpp"

namespace gambrel::measure_detail {

// Shared by all steps of a run: what is left of the time, and whether to stop.
class Session {
public:
    Session(Device& device, const MeasureOptions& options);
    [[nodiscard]] Seconds left() const;
    [[nodiscard]] Seconds taken() const { return device_.now() - start_; }
    [[nodiscard]] bool stopped() const;
    void tell(std::string_view doing) const;
    Device& device() { return device_; }
    [[nodiscard]] Seconds sample_time() const { return sample_time_; }
    [[nodiscard]] const MeasureOptions& options() const { return options_; }

private:
    Device& device_;
    const MeasureOptions& options_;
    Seconds start_, budget_, sample_time_;
    mutable bool stopped_ = false;
};

// Quantity of interest of a sample: FLOP/s, B/s, or seconds for one access.
double value_of(const Probe& probe, const Sample& sample);
CeilingKind kind_of(const Probe& probe);
bool is_rate(CeilingKind kind);  // more is better; else a time, of which less is
// How other programs can move samples of the probe on this device.
Disturbance disturbance_of(const DeviceInfo& device, const Probe& probe);

// Where stores end in a cache, what of them is still there when a run ends was not timed: such runs must be longer.
// Repetitions that make it no more than a hundredth of `sample`, which has `repetitions`.
std::int64_t enough_for_stores(const DeviceInfo& device, const Probe& probe, const Sample& sample,
                               std::int64_t repetitions);

// Repetitions for which one run takes about the session's sample time, or the error or fault of the first runs.
struct Calibration {
    std::int64_t repetitions = 1;
    std::optional<std::string> fault;
};
// `guess` is where to begin; a guess that is far too high is cut down.
Calibration calibrated(PreparedProbe& probe, Bytes working_set, Session& session, std::int64_t guess = 1);

struct Repeated {
    Repeater samples;
    std::optional<Frequency> clock;  // median
    std::optional<std::string> fault;
    std::vector<std::string> notes;
    std::vector<GroupTime> groups;  // of the last sample
    double busy = 0;                // part of the time in which the device ran what was timed
};
// Until settled or `deadline` (in Device::now) has passed; at least six samples unless stopped or long overdue. Samples
// of the same probe and working set that are there already are `known`.
Repeated repeated(PreparedProbe& prepared, const Probe& probe, Bytes working_set, Seconds deadline, Session& session,
                  const Repeater* known = nullptr);
// Without pause for `duration`; the samples are of the second half, when clock and temperature have settled.
Repeated sustained(PreparedProbe& prepared, const Probe& probe, Bytes working_set, Seconds duration, Session& session);

}  // namespace gambrel::measure_detail
