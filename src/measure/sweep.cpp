#include "measure/sweep.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace gambrel::measure_detail {
namespace {

constexpr std::size_t kLeastRounds = 3, kMostRounds = 40;

struct Point {
    Bytes set{};
    std::int64_t repetitions = 1;
    Repeater rates;
};

std::vector<Point> calibrated_points(PreparedProbe& prepared, const SweepStep& step, Session& session,
                                     std::vector<std::string>& faults) {
    std::vector<Point> points;
    for (const Bytes set : step.working_sets) {
        if (session.stopped()) break;
        session.tell(step.title);
        // The same bytes as for the set before; where a slower level makes that too many, calibration cuts it down.
        const double guess =
            points.empty() ? 1 : static_cast<double>(points.back().repetitions) * (points.back().set / set);
        const Calibration c = calibrated(prepared, set, session, static_cast<std::int64_t>(guess));
        if (c.fault)
            faults.push_back(fmt::format("{}: {}", binary_text(set), *c.fault));
        else
            points.push_back({set, c.repetitions, Repeater(disturbance_of(session.device().info(), step.probe))});
    }
    return points;
}

}  // namespace

SweepRun run_sweep(PreparedProbe& prepared, const SweepStep& step, Seconds deadline, Session& session) {
    SweepRun run{{step.title, {}, step.windows, {}, {}}, {}};
    MeasuredSweep& sweep = run.sweep;
    const Seconds slice = deadline - session.device().now();
    auto points = calibrated_points(prepared, step, session, sweep.faults);
    for (std::size_t round = 0; round < kMostRounds && !session.stopped(); ++round) {
        const bool late = session.device().now() >= deadline;
        if (late && (round >= kLeastRounds || (round > 0 && session.device().now() >= deadline + slice))) break;
        for (Point& p : points) {
            if (p.rates.settled() || session.stopped()) continue;
            session.tell(step.title);
            const auto sample = prepared.run(p.set, p.repetitions);
            if (!sample || sample->fault || !(sample->time.value() > 0))
                sweep.faults.push_back(fmt::format("{}: {}", binary_text(p.set),
                                                   !sample         ? one_line(sample.error())
                                                   : sample->fault ? *sample->fault
                                                                   : "the timer did not move"));
            else
                p.rates.add(value_of(step.probe, *sample), sample->disturbed, sample->narrowest);
        }
    }
    for (Point& p : points) {
        if (p.rates.count() == 0) continue;
        sweep.points.push_back({p.set, p.rates.estimate().value});
        run.samples.emplace(p.set, std::move(p.rates));
    }
    sweep.plateaus = plateaus(sweep.points, sweep.windows);
    return run;
}

std::optional<Bytes> best_set(const MeasuredSweep& sweep, const Plateau& plateau, Bytes least) {
    const auto window = std::find_if(sweep.windows.begin(), sweep.windows.end(),
                                     [&](const LevelWindow& w) { return plateau.level == w.level; });
    if (window == sweep.windows.end()) return std::nullopt;
    // Well inside what plateau and window share: at its ends the neighbours' rates are mixed in, and a search for the
    // fastest point would find just those. Rather further out, where the ends of passes weigh less.
    const double from = std::log(std::max(plateau.from.value(), 1.1 * window->from));
    const double to = std::log(std::min(plateau.to.value(), 0.9 * window->to));
    const SweepPoint* best = nullptr;
    for (const SweepPoint& p : sweep.points) {
        const double at = std::log(p.working_set.value());
        const bool well_inside =
            at >= from + 0.4 * (to - from) && at <= to - 0.15 * (to - from) && misfit(p.working_set, *window).empty();
        if (!well_inside) continue;
        const bool large = p.working_set >= least, had_large = best && best->working_set >= least;
        if (!best || (large && !had_large) || (large == had_large && p.rate.median > best->rate.median)) best = &p;
    }
    if (best) return best->working_set;
    const Bytes middle{std::floor(std::exp((from + to) / 2) / 1024) * 1024};  // the sweep is coarser than the level
    if (from < to && misfit(middle, *window).empty()) return middle;
    return std::nullopt;
}

std::optional<Bytes> set_beyond_caches(const MeasuredSweep& sweep, const LevelWindow& window) {
    if (!std::isinf(window.to) || window.from <= 0 || sweep.points.empty()) return std::nullopt;
    const Bytes largest = sweep.points.back().working_set;
    if (largest.value() < inside(window).value()) return std::nullopt;
    return largest;
}

std::vector<std::string> plateau_remarks(const MeasuredSweep& sweep, const Plateau& plateau, Bytes set, Bytes least) {
    std::vector<std::string> remarks;
    if (set < least)
        remarks.push_back(fmt::format(
            "below {} several SMs ask for the same lines at a time, and may be served at once", binary_text(least)));
    if (least.value() == 0) return remarks;
    const SweepPoint *first = nullptr, *last = nullptr;
    for (const SweepPoint& p : sweep.points) {
        if (p.working_set < plateau.from || p.working_set > plateau.to) continue;
        if (first == nullptr) first = &p;
        last = &p;
    }
    constexpr double kSlope = 0.05;
    if (first != nullptr && std::abs(last->rate.median / first->rate.median - 1) > kSlope)
        remarks.push_back(fmt::format("from {} at {} to {} at {}", to_text(Bandwidth{first->rate.median}, 3),
                                      binary_text(first->working_set), to_text(Bandwidth{last->rate.median}, 3),
                                      binary_text(last->working_set)));
    return remarks;
}

}  // namespace gambrel::measure_detail
