#include "ingest/profile.hpp"

#include <cmath>

#include <fmt/format.h>

namespace gambrel::ingest_detail {

MetricId MetricSet::add(std::string_view name) {
    if (const MetricId known = find(name); known != kNoMetric) return known;
    const auto id = static_cast<MetricId>(names_.size());
    names_.emplace_back(name);
    ids_.emplace(name, id);
    return id;
}

MetricId MetricSet::find(std::string_view name) const {
    const auto it = ids_.find(name);
    return it == ids_.end() ? kNoMetric : it->second;
}

void add_value(Profile& profile, Launch& launch, const MetricSet& metrics, MetricId id, double value) {
    if (launch.values == 0) launch.first_value = profile.values.size();
    // 2^63: a difference of two 64-bit counters that went below zero wraps to this or more (seen in ncu 2019.5).
    constexpr double kWrapped = 9223372036854775808.0;
    if (std::isnan(value)) {
        launch.faults.emplace_back(fmt::format("{} is nan", metrics.name(id)));
    } else if (value < 0) {
        // Nothing that a profiler counts, times or clocks is below zero.
        launch.faults.emplace_back(fmt::format("{} = {:g} refused: it is negative", metrics.name(id), value));
        value = std::numeric_limits<double>::quiet_NaN();
    } else if (value >= kWrapped) {
        launch.faults.emplace_back(
            fmt::format("{} = {:g} refused: 2^63 or more, a wrapped counter", metrics.name(id), value));
        value = std::numeric_limits<double>::quiet_NaN();
    }
    profile.values.push_back({id, value});
    ++launch.values;
}

}  // namespace gambrel::ingest_detail
