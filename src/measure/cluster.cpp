#include <algorithm>
#include <cmath>

#include <gambrel/measure.hpp>

#include "measure/statistics.hpp"

namespace gambrel {
namespace {

using measure_detail::median_of;

constexpr double kLeastDeviation = 0.05, kDeviations = 3.5;
constexpr std::size_t kLeastRanks = 3;

struct Entry {
    int rank = 0;
    const RankResult* result = nullptr;
    double value = 0;
};

std::vector<Outlier> outliers_of(const std::vector<Entry>& entries, double median, CeilingKind kind) {
    std::vector<Outlier> found;
    if (entries.size() < kLeastRanks || !(median > 0)) return found;
    std::vector<double> distances;
    for (const Entry& e : entries) distances.push_back(std::abs(e.value - median));
    const double limit = std::max(kLeastDeviation * median, kDeviations * 1.4826 * median_of(std::move(distances)));
    const bool less_is_better = kind == CeilingKind::latency || kind == CeilingKind::launch;
    for (const Entry& e : entries)
        if (std::abs(e.value - median) > limit)
            found.push_back(
                {e.rank, e.result->measurement.device.id, e.value / median - 1, (e.value > median) == less_is_better});
    return found;
}

}  // namespace

ClusterSummary cluster_summary(const std::vector<RankResult>& ranks) {
    ClusterSummary out;
    const RankResult* first = nullptr;
    for (const RankResult& r : ranks) {
        if (!r.error.empty()) out.failed.emplace_back(r.rank, r.error);
        if (r.error.empty() && (!first || r.measurement.ceilings.size() > first->measurement.ceilings.size()))
            first = &r;
    }
    if (!first) return out;
    out.typical = first->measurement;
    for (MeasuredCeiling& typical : out.typical.ceilings) {
        std::vector<Entry> entries;
        std::vector<double> values;
        for (const RankResult& r : ranks)
            for (const MeasuredCeiling& c : r.measurement.ceilings) {
                if (c.title != typical.title) continue;
                if (c.fault)
                    out.failed.emplace_back(r.rank, c.title + ": " + *c.fault);
                else
                    entries.push_back({r.rank, &r, c.value.median}), values.push_back(c.value.median);
                break;
            }
        if (entries.empty()) continue;
        typical.value.median = median_of(values);
        typical.fault.reset();
        CeilingSpread spread;
        spread.ranks = entries.size();
        const auto [low, high] = std::minmax_element(entries.begin(), entries.end(),
                                                     [](const Entry& a, const Entry& b) { return a.value < b.value; });
        spread.lowest = low->value, spread.lowest_rank = low->rank;
        spread.highest = high->value, spread.highest_rank = high->rank;
        typical.value.low = typical.value.minimum = low->value;
        typical.value.high = typical.value.maximum = high->value;
        spread.outliers = outliers_of(entries, typical.value.median, typical.kind);
        spread.typical = typical;
        out.ceilings.push_back(std::move(spread));
    }
    return out;
}

bool has_outliers(const ClusterSummary& summary) {
    return std::any_of(summary.ceilings.begin(), summary.ceilings.end(),
                       [](const auto& c) { return !c.outliers.empty(); });
}

}  // namespace gambrel
