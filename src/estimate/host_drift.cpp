// Host time that grows along a table.
#include <algorithm>
#include <array>
#include <cmath>

#include <gambrel/estimate.hpp>

namespace gambrel {
namespace {

double mean_error(std::span<const TimedCall> calls, const HostDrift& drift) {
    double sum = 0;
    for (const TimedCall& c : calls) sum += std::abs((c.predicted + drift.at(c.place)) / c.measured - 1);
    return sum / static_cast<double>(calls.size());
}

// One step towards the least sum of |left over| / measured: a line by least squares, in which each call weighs as much
// less as it lies further off the line before.
HostDrift refitted(std::span<const TimedCall> calls, const HostDrift& before) {
    constexpr Seconds kNear{1e-7};  // closer ones count as equally near
    double weights = 0, x = 0, xx = 0, y = 0, xy = 0;
    for (const TimedCall& c : calls) {
        const Seconds left = c.measured - c.predicted, off = left - before.at(c.place);
        const double weight = 1 / (c.measured.value() * std::max(std::abs(off.value()), kNear.value()));
        weights += weight;
        x += weight * c.place;
        xx += weight * c.place * c.place;
        y += weight * left.value();
        xy += weight * c.place * left.value();
    }
    const double spread = weights * xx - x * x;
    if (spread <= 0) return before;
    const double growth = (weights * xy - x * y) / spread, first = (y - growth * x) / weights;
    return {Seconds{first}, Seconds{first + growth}};
}

}  // namespace

std::optional<HostDrift> host_drift(std::span<const TimedCall> calls) {
    constexpr std::size_t kFewest = 100;
    constexpr int kSteps = 40;
    constexpr double kWorthwhile = 0.8;  // of the error without it
    if (calls.size() < kFewest) return std::nullopt;
    HostDrift drift;
    for (int step = 0; step < kSteps; ++step) drift = refitted(calls, drift);
    return mean_error(calls, drift) < kWorthwhile * mean_error(calls, {}) ? std::optional(drift) : std::nullopt;
}

}  // namespace gambrel
