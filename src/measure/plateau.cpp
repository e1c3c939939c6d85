// Plateaus of a sweep: the best piecewise constant fit of log(rate) over log(working set), found by dynamic programming
// with a robust cost; stretches too short to be a level are the slopes between them. docs/model/roofline.md.
#include <algorithm>
#include <cmath>
#include <limits>

#include <gambrel/measure.hpp>

#include "measure/statistics.hpp"

namespace gambrel {
namespace {

using measure_detail::median_of;

// A level may drift this much and still be one (L2 of A40 and H200 do, with more of it in use): the unit of the cost.
constexpr double kDrift = 0.025;
// One point costs at most this: a dip that one working set shows (bank or set conflicts) does not cut a level in two.
constexpr double kOutlier = 9;
// What one more stretch must save: two whole outliers.
constexpr double kStretch = 20;
// Slopes between levels spread over less than this (in octaves of working set); levels span more.
constexpr double kLeastOctaves = 0.75;
constexpr std::size_t kLeastPoints = 3;
// Neighbours nearer than this are one level seen twice.
constexpr double kSameLevel = 1.12;

struct Stretch {
    std::size_t first = 0, last = 0;  // inclusive
};

double cost_of(const std::vector<double>& log_rate, Stretch s, double scale) {
    const double middle = median_of({log_rate.begin() + static_cast<std::ptrdiff_t>(s.first),
                                     log_rate.begin() + static_cast<std::ptrdiff_t>(s.last) + 1});
    double cost = 0;
    for (std::size_t i = s.first; i <= s.last; ++i) {
        const double r = (log_rate[i] - middle) / scale;
        cost += std::min(r * r, kOutlier);
    }
    return cost;
}

std::vector<Stretch> best_stretches(const std::vector<double>& log_rate, double scale) {
    const std::size_t n = log_rate.size();
    std::vector<double> best(n + 1, std::numeric_limits<double>::infinity());
    std::vector<std::size_t> start(n + 1, 0);
    best[0] = 0;
    for (std::size_t last = 0; last < n; ++last)
        for (std::size_t first = 0; first <= last; ++first) {
            const double so_far = best[first] + kStretch;
            if (so_far >= best[last + 1]) continue;
            const double cost = so_far + cost_of(log_rate, {first, last}, scale);
            if (cost < best[last + 1]) best[last + 1] = cost, start[last + 1] = first;
        }
    std::vector<Stretch> stretches;
    for (std::size_t end = n; end > 0; end = start[end]) stretches.push_back({start[end], end - 1});
    std::reverse(stretches.begin(), stretches.end());
    return stretches;
}

// Noise of the sweep itself: neighbouring points of a level differ by it.
double noise_of(const std::vector<double>& log_rate) {
    std::vector<double> steps;
    for (std::size_t i = 1; i < log_rate.size(); ++i) steps.push_back(std::abs(log_rate[i] - log_rate[i - 1]));
    return 1.4826 * median_of(std::move(steps)) / std::sqrt(2.0);
}

Plateau plateau_of(const std::vector<SweepPoint>& points, Stretch s) {
    std::vector<double> rates;
    for (std::size_t i = s.first; i <= s.last; ++i) rates.push_back(points[i].rate.median);
    std::sort(rates.begin(), rates.end());
    const auto quartile = [&](double q) {
        return rates[static_cast<std::size_t>(q * static_cast<double>(rates.size() - 1) + 0.5)];
    };
    return {{},
            median_of(rates),
            quartile(0.25),
            quartile(0.75),
            points[s.first].working_set,
            points[s.last].working_set,
            rates.size()};
}

bool is_level(const std::vector<SweepPoint>& points, Stretch s) {
    const double octaves = std::log2(points[s.last].working_set / points[s.first].working_set);
    return s.last - s.first + 1 >= kLeastPoints && octaves >= kLeastOctaves;
}

// Rates fall outwards. What is slower than a level further out is the start-up of small sets, not a level.
std::vector<Stretch> falling(std::vector<Stretch> levels, const std::vector<SweepPoint>& points) {
    std::vector<Stretch> kept;
    for (const Stretch& s : levels) {
        while (!kept.empty() && plateau_of(points, kept.back()).value * kSameLevel < plateau_of(points, s).value)
            kept.pop_back();
        if (!kept.empty() && plateau_of(points, kept.back()).value < kSameLevel * plateau_of(points, s).value)
            kept.back().last = s.last;
        else
            kept.push_back(s);
    }
    return kept;
}

// A stretch may bear outliers, but it does not begin or end with one: that is the slope to its neighbour.
Stretch trimmed(const std::vector<double>& log_rate, Stretch s, double scale) {
    const double middle = median_of({log_rate.begin() + static_cast<std::ptrdiff_t>(s.first),
                                     log_rate.begin() + static_cast<std::ptrdiff_t>(s.last) + 1});
    const auto outside = [&](std::size_t i) { return std::abs(log_rate[i] - middle) > 2 * scale; };
    while (s.first < s.last && outside(s.first)) ++s.first;
    while (s.first < s.last && outside(s.last)) --s.last;
    return s;
}

double overlap(const Plateau& p, const LevelWindow& w) {
    const double from = std::max(std::log2(p.from.value()), w.from > 0 ? std::log2(w.from) : -1.0);
    const double to = std::min(std::log2(p.to.value()), std::isinf(w.to) ? 1e3 : std::log2(w.to));
    return to - from;
}

// Each level, from the outermost, to the plateau that lies within its window most; a plateau has one name and a name
// one plateau. Outermost first, so that a plateau over two windows (a missing level) is the outer of them.
void name_by_capacity(std::vector<Plateau>& found, const std::vector<LevelWindow>& windows) {
    constexpr double kLeastOverlap = 0.5;
    for (auto w = windows.rbegin(); w != windows.rend(); ++w) {
        Plateau* best = nullptr;
        for (Plateau& p : found)
            if (!p.level && overlap(p, *w) >= kLeastOverlap && (!best || overlap(p, *w) > overlap(*best, *w)))
                best = &p;
        if (best) best->level = w->level;
    }
}

// The value of a named level is that of its own window: the L2 that goes on serving sets beyond it is slower there.
void value_within(Plateau& plateau, const std::vector<SweepPoint>& points, const std::vector<LevelWindow>& windows) {
    const auto w =
        std::find_if(windows.begin(), windows.end(), [&](const auto& v) { return plateau.level == v.level; });
    if (w == windows.end()) return;
    std::vector<SweepPoint> inside;
    for (const SweepPoint& p : points) {
        const double set = p.working_set.value();
        if (p.working_set >= plateau.from && p.working_set <= plateau.to && set >= w->from && set <= w->to)
            inside.push_back(p);
    }
    if (inside.size() < kLeastPoints) return;
    const Bytes from = plateau.from, to = plateau.to;
    plateau = plateau_of(inside, {0, inside.size() - 1});
    plateau.level = w->level;
    plateau.from = from, plateau.to = to;
}

}  // namespace

std::vector<Plateau> plateaus(const std::vector<SweepPoint>& points, const std::vector<LevelWindow>& windows) {
    std::vector<SweepPoint> usable;
    for (const SweepPoint& p : points)
        if (p.rate.median > 0 && p.working_set.value() > 0) usable.push_back(p);
    std::vector<double> log_rate;
    log_rate.reserve(usable.size());
    for (const SweepPoint& p : usable) log_rate.push_back(std::log(p.rate.median));
    std::vector<Stretch> levels;
    const double scale = std::max(kDrift, noise_of(log_rate));
    for (const Stretch& s : best_stretches(log_rate, scale))
        if (const Stretch level = trimmed(log_rate, s, scale); is_level(usable, level)) levels.push_back(level);
    std::vector<Plateau> found;
    for (const Stretch& s : falling(std::move(levels), usable)) found.push_back(plateau_of(usable, s));
    name_by_capacity(found, windows);
    for (Plateau& p : found)
        if (p.level) value_within(p, usable, windows);
    return found;
}

}  // namespace gambrel
