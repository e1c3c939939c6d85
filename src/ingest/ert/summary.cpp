// ERT's own derivation, with its flaws, so that its published numbers can be reproduced.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include <gambrel/ingest.hpp>

namespace gambrel {
namespace {

double median_of(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t n = values.size();
    return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

struct Row {  // of one precision and working set: that of the most trials, by the median time of the tries
    double trials = 0, seconds = 0, bytes = 0, flop = 0;
};
using Rows = std::map<double, Row>;  // by working set

std::map<std::string, Rows> rows_by_precision(const std::vector<ErtLine>& lines) {
    std::map<std::string, std::map<std::pair<double, double>, std::vector<const ErtLine*>>> groups;
    for (const ErtLine& l : lines) groups[l.precision][{l.working_set, l.trials}].push_back(&l);
    std::map<std::string, Rows> result;
    for (auto& [precision, sets] : groups)
        for (auto& [key, group] : sets) {
            std::vector<double> times;
            for (const ErtLine* l : group) times.push_back(l->microseconds * 1e-6);
            std::sort(times.begin(), times.end());
            // Keys rise in trials, so the last written is the one of the most trials: ERT's "maximum".
            result[precision][key.first] = {key.second, times[times.size() / 2], group.front()->bytes,
                                            group.front()->flop};
        }
    return result;
}

// The histogram rule of ERT's summary on the samples from the largest on.
std::vector<double> plateaus_by_histogram(const std::vector<double>& curve, double separation) {
    const double most = *std::max_element(curve.begin(), curve.end());
    const auto top = std::max_element(curve.begin(), curve.end());
    constexpr int kBins = 10000, kLeast = 6;
    std::vector<int> count(kBins, 0);
    std::vector<double> sum(kBins, 0);
    for (int i = 0; i < kBins; ++i) {
        const double value = i * most / (kBins - 1);
        for (auto v = top; v != curve.end(); ++v)
            if (*v >= value / 1.05 && *v <= 1.05 * value)
                ++count[static_cast<std::size_t>(i)], sum[static_cast<std::size_t>(i)] += *v;
    }
    struct Level {
        double sum = 0, count = 0;
    };
    std::vector<Level> levels{{1000 * most, 1000}};
    for (std::size_t i = kBins - 3; i > 1; --i) {
        if (count[i] <= kLeast) continue;
        std::size_t best = i;
        while (i > 1 && count[i] > kLeast) {
            if (count[i] > count[best]) best = i;
            --i;
        }
        const double value = sum[best] / count[best];
        if (separation * value < levels.back().sum / levels.back().count)
            levels.push_back({sum[best], static_cast<double>(count[best])});
        else
            levels.back() = {levels.back().sum + sum[best], levels.back().count + count[best]};
    }
    std::vector<double> values;
    for (const Level& l : levels) values.push_back(l.sum / l.count);
    return values;
}

std::string upper(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
    return text;
}

}  // namespace

Result<ErtSummary> ert_summary(const std::vector<ErtLine>& lines, double separation) {
    const auto all = rows_by_precision(lines);
    if (all.empty()) return failure("ERT", "no line of a sweep to summarize");
    ErtSummary out;
    for (const auto& [precision, rows] : all) {
        double peak = 0;
        for (const auto& [set, row] : rows) peak = std::max(peak, row.flop / row.seconds / 1e9);
        out.gflops.emplace_back(precision.empty() ? "GFLOPs" : upper(precision) + " GFLOPs", peak);
    }
    // Bandwidths are those of the last precision alone: "fp64" sorts last, as in ERT.
    std::vector<double> sets, curve;
    for (const auto& [set, row] : all.rbegin()->second) {
        sets.push_back(set);
        curve.push_back(row.bytes / row.seconds / 1e9);
    }
    for (std::size_t i = 1; i < sets.size(); ++i)
        out.weight += (curve[i] + curve[i - 1]) / 2 * std::log(sets[i] / sets[i - 1]);
    if (!(*std::max_element(curve.begin(), curve.end()) > 0)) return failure("ERT", "no bytes were moved in any line");
    const auto values = plateaus_by_histogram(curve, separation);
    for (std::size_t i = 0; i < values.size(); ++i)
        out.gbytes.emplace_back(i + 1 == values.size() ? "DRAM" : fmt::format("L{}", i + 1), values[i]);
    return out;
}

std::vector<ErtPoint> ert_sweep(const std::vector<ErtLine>& lines) {
    std::map<double, std::map<double, std::vector<double>>> rates;  // by working set and number of trials
    for (const ErtLine& l : lines) rates[l.working_set][l.trials].push_back(l.bytes / (l.microseconds * 1e-6));
    std::vector<ErtPoint> points;
    for (auto& [set, by_trials] : rates) {
        const auto best = std::max_element(by_trials.begin(), by_trials.end(), [](const auto& a, const auto& b) {
            return median_of(a.second) < median_of(b.second);
        });
        points.push_back({set, std::move(best->second)});
    }
    return points;
}

}  // namespace gambrel
