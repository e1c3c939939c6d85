#include "measure/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

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

// Samples of a group agree if they lie this close together.
constexpr double kAgreement = 0.03, kLooseAgreement = 0.05;
constexpr std::size_t kLeastLoose = 3;

namespace {

bool is_narrow(const std::vector<double>& values) {
    return statistics(values).relative_interval() < kSettledInterval &&
           interval_by_quartiles(values) < kSettledInterval;
}

}  // namespace

void Repeater::add(double value, bool disturbed, IssueWidth narrowest) {
    samples_.push_back({value, disturbed, narrowest});
    // Sorting after each sample would cost more than a short run: look again when the count has grown by an eighth.
    if (samples_.size() < next_look_) return;
    next_look_ = samples_.size() + std::max<std::size_t>(1, samples_.size() / 8);
    const Estimate now = estimate();
    if (now.disturbed || now.value.count < kFirstLook) return;
    std::vector<double> values;
    for (const Sample& s : samples_)
        if (s.value >= now.value.minimum && s.value <= now.value.maximum &&
            (disturbance_ != Disturbance::none || !s.disturbed))
            values.push_back(s.value);
    settled_ = is_narrow(values);
}

void Repeater::add(const Repeater& other) {
    for (const Sample& s : other.samples_) add(s.value, s.disturbed, s.narrowest);
}

void Repeater::mark_narrow(const std::function<double(int unit)>& least) {
    for (Sample& s : samples_)
        if (s.narrowest.width > 0 && s.narrowest.width < least(s.narrowest.unit)) s.disturbed = true;
}

std::size_t Repeater::disturbed() const {
    return static_cast<std::size_t>(
        std::count_if(samples_.begin(), samples_.end(), [](const Sample& s) { return s.disturbed; }));
}

Statistics Repeater::all() const {
    std::vector<double> values;
    values.reserve(samples_.size());
    for (const Sample& s : samples_) values.push_back(s.value);
    return statistics(std::move(values));
}

Repeater::Estimate Repeater::estimate() const { return disturbance_ == Disturbance::none ? of_all() : of_fastest(); }

Repeater::Estimate Repeater::of_all() const {
    std::vector<double> clean;
    for (const Sample& s : samples_)
        if (!s.disturbed) clean.push_back(s.value);
    const bool few = clean.size() < kLeastSamples && clean.size() < samples_.size();
    return {clean.empty() ? all() : statistics(std::move(clean)), few};
}

// The fastest group of at least `least` samples within `agreement`: one lucky sample alone does not count, and however
// many slowed samples lie below, they do not either. Samples marked as disturbed belong to the group if they are as
// fast: a program that only used the start of the core's time cannot have made them faster.
Repeater::Estimate Repeater::of_fastest() const {
    std::vector<Sample> sorted = samples_;
    const bool less = disturbance_ == Disturbance::raises_times;
    std::sort(sorted.begin(), sorted.end(),
              [less](const Sample& a, const Sample& b) { return less ? a.value < b.value : a.value > b.value; });
    const auto agree = [](double fast, double slow, double agreement) {
        return std::abs(fast - slow) <= agreement * std::max(fast, slow);
    };
    const auto group_of = [&](std::size_t least, double agreement) -> std::optional<Estimate> {
        for (std::size_t first = 0; first + least <= sorted.size(); ++first) {
            if (!agree(sorted[first].value, sorted[first + least - 1].value, agreement)) continue;
            std::vector<double> values;
            std::size_t clean = 0;
            for (std::size_t i = first; i < sorted.size() && agree(sorted[first].value, sorted[i].value, agreement);
                 ++i)
                values.push_back(sorted[i].value), clean += sorted[i].disturbed ? 0 : 1;
            return Estimate{statistics(std::move(values)), clean < kLeastSamples};
        }
        return std::nullopt;
    };
    if (const auto group = group_of(kLeastSamples, kAgreement)) return *group;
    if (auto group = group_of(kLeastLoose, kLooseAgreement)) return group->disturbed = true, *group;
    return {sorted.empty() ? Statistics{} : statistics({sorted.front().value}), true};
}

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
