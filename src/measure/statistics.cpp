#include "measure/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace gambrel {
namespace measure_detail {

RankInterval median_interval(std::size_t count) {
    if (count == 0) return {};
    const RankInterval all{0, count - 1};
    if (count < kLeastSamples) return all;
    constexpr std::size_t kExact = 200;
    if (count > kExact) {  // the normal limit of the binomial
        const double n = static_cast<double>(count);
        const auto low = static_cast<std::size_t>(std::floor(n / 2 - 0.98 * std::sqrt(n)));
        return {low, count - 1 - low};
    }
    // The largest r with P(Binomial(n, 1/2) <= r) <= 2.5 %: below rank r lies the median with at most that chance.
    double term = std::pow(0.5, static_cast<double>(count)), below = term;
    std::size_t r = 0;
    while (true) {
        term *= static_cast<double>(count - r) / static_cast<double>(r + 1);
        if (below + term > 0.025) break;
        below += term;
        ++r;
    }
    return {r, count - 1 - r};
}

double median_of(std::vector<double> v) {
    if (v.empty()) return 0;
    const auto middle = v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2);
    std::nth_element(v.begin(), middle, v.end());
    if (v.size() % 2 == 1) return *middle;
    return (*middle + *std::max_element(v.begin(), middle)) / 2;
}

double interval_by_quartiles(std::vector<double> v) {
    if (v.empty()) return 0;
    std::sort(v.begin(), v.end());
    const double quartiles = v[3 * (v.size() - 1) / 4] - v[(v.size() - 1) / 4], median = v[v.size() / 2];
    // Quartiles lie 1.349 deviations apart; the median of n varies by 1.253 deviations / sqrt(n).
    const double width = 2 * 1.96 * 1.253 / 1.349 * quartiles / std::sqrt(static_cast<double>(v.size()));
    return median > 0 ? width / median : 0;
}

void Repeater::add(double value, bool disturbed) {
    (disturbed ? disturbed_ : clean_).push_back(value);
    if (clean_.size() < next_look_) return;
    next_look_ = clean_.size() + std::max<std::size_t>(1, clean_.size() / 8);
    settled_ =
        statistics(clean_).relative_interval() < kSettledInterval && interval_by_quartiles(clean_) < kSettledInterval;
}

Statistics Repeater::result() const { return statistics(clean_.empty() ? disturbed_ : clean_); }

}  // namespace measure_detail

Statistics statistics(std::vector<double> samples) {
    if (samples.empty()) return {};
    std::sort(samples.begin(), samples.end());
    const std::size_t n = samples.size();
    const auto ranks = measure_detail::median_interval(n);
    const double median = n % 2 == 1 ? samples[n / 2] : (samples[n / 2 - 1] + samples[n / 2]) / 2;
    return {median, samples[ranks.low], samples[ranks.high], samples.front(), samples.back(), n};
}

}  // namespace gambrel
