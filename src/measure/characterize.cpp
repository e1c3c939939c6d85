#include "measure/characterize.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "measure/plan.hpp"
#include "measure/runner.hpp"
#include "measure/sweep.hpp"
#include "measure/theory.hpp"

namespace gambrel::measure_detail {
namespace {

// Shares of the time: a sweep is many points, and each may find three levels.
constexpr double kSweepShare = 10, kCeilingShare = 1, kLevelsOfSweep = 3;
// Of the sizes of a library's product the best counts.
double share_of(const Probe& probe) { return probe.action == Action::gemm ? kCeilingShare / 4 : kCeilingShare; }
constexpr double kUnsteady = 0.05;
// For a second look at what seems disturbed: a part of all shares, how far a median may lie from the best sample or
// from theory, and how often.
constexpr double kRevisitPart = 0.15, kDoubtful = 0.1;
constexpr int kVisits = 3;

class Characterization {
public:
    Characterization(Device& device, const MeasureOptions& options)
        : session_(device, options), plan_(plan_for(device.info(), options.quick)) {
        out_.device = device.info();
        shares_ = static_cast<double>(plan_.sweeps.size()) * (kSweepShare + kLevelsOfSweep * kCeilingShare);
        for (const auto* steps : {&plan_.first, &plan_.last})
            for (const CeilingStep& step : *steps) shares_ += share_of(step.probe);
        if (out_.device.kind == "host") shares_ *= 1 + kRevisitPart;  // a GPU is seldom shared
    }

    Measurement run() {
        for (const CeilingStep& step : plan_.first) ceiling(step, nullptr);
        for (const SweepStep& step : plan_.sweeps) sweep(step);
        for (const CeilingStep& step : plan_.last) {
            const auto windows = windows_of(step.probe);
            const auto window = std::find_if(windows.begin(), windows.end(),
                                             [&](const auto& w) { return step.probe.level == w.level; });
            ceiling(step, window == windows.end() ? nullptr : &*window);
        }
        revisit();
        choose_primaries();
        if (session_.options().sustained.value() > 0) sustain(session_.options().sustained);
        out_.interrupted = session_.stopped();
        out_.took = session_.taken();
        return std::move(out_);
    }

private:
    [[nodiscard]] std::vector<LevelWindow> windows_of(const Probe& probe) const {
        return level_windows(out_.device, probe.spread, probe.units == 0 ? out_.device.units : probe.units);
    }

    Seconds deadline(double share) {
        const Seconds slice = session_.left() * std::min(share / std::max(shares_, share), 1.0);
        shares_ -= share;
        return session_.device().now() + slice;
    }

    // The probe ready to run, or null after it is noted why not.
    std::unique_ptr<PreparedProbe> prepared(const Probe& probe, Bytes largest, const std::string& what) {
        auto preparation = session_.device().prepare(probe, largest);
        if (!preparation) {
            MeasuredCeiling failed = described(probe, what);
            failed.fault = to_text(preparation.error());
            out_.ceilings.push_back(std::move(failed));
            return nullptr;
        }
        if (!preparation->probe) {
            const std::string way = matrix_way(probe);
            const std::string subject(way.empty() ? "" : gambrel::title(probe.pipe));
            out_.skipped.push_back({what, preparation->reason, subject, way});
        }
        return std::move(preparation->probe);
    }

    [[nodiscard]] MeasuredCeiling described(const Probe& probe, const std::string& what) const {
        MeasuredCeiling c;
        c.kind = kind_of(probe);
        c.title = what;
        c.action = std::string(name(probe.action));
        if (c.kind == CeilingKind::compute) c.pipe = probe.pipe;
        c.level = probe.level;
        c.units = probe.units == 0 ? out_.device.units : probe.units;
        return c;
    }

    void ceiling(const CeilingStep& step, const LevelWindow* window) {
        if (session_.stopped()) return;
        const Seconds until = deadline(share_of(step.probe));
        session_.tell(title(step.probe));
        const auto probe = prepared(step.probe, step.working_set, title(step.probe));
        if (probe) measure_ceiling(*probe, step, window, until);
    }

    void measure_ceiling(PreparedProbe& probe, const CeilingStep& step, const LevelWindow* window, Seconds until) {
        MeasuredCeiling c = described(step.probe, title(step.probe));
        if (step.working_set.value() > 0) c.working_set = step.working_set;
        Repeated result = repeated(probe, step.probe, step.working_set, until, session_);
        const bool disturbed = result.disturbed;
        take(c, std::move(result));
        if (!c.fault && window)
            if (std::string why = misfit(step.working_set, *window); !why.empty()) c.fault = std::move(why);
        compare_with_theory(c, step.probe, out_.device);
        out_.ceilings.push_back(std::move(c));
        taken_.resize(out_.ceilings.size());
        taken_.back() = {step, disturbed};
    }

    static void take(MeasuredCeiling& c, Repeated result) {
        c.value = result.value;
        c.clock = result.clock;
        c.fault = std::move(result.fault);
        c.notes = std::move(result.notes);
        if (!c.fault && c.value.relative_interval() > kUnsteady)
            c.notes.push_back(fmt::format("unsteady: the 95 % interval is {:.1f} % wide after {} samples",
                                          100 * c.value.relative_interval(), c.value.count));
    }

    static bool is_rate(const MeasuredCeiling& c) {
        return c.kind != CeilingKind::latency && c.kind != CeilingKind::launch;
    }

    [[nodiscard]] bool doubtful(std::size_t i) const {
        const MeasuredCeiling& c = out_.ceilings[i];
        if (c.fault || c.value.count == 0) return false;
        if (taken_[i].disturbed || c.value.relative_interval() > kUnsteady) return true;
        if (!is_rate(c)) return c.value.median > (1 + kDoubtful) * c.value.minimum;
        // A host's theory is what its instructions can do, and they do it; a GPU's is a data sheet.
        const double theory = out_.device.kind == "host" ? c.theoretical.value_or(0) : 0;
        return c.value.median < (1 - kDoubtful) * std::max(c.value.maximum, theory);
    }

    // Whatever else runs on the same silicon slows a run down and never speeds it up, and does so for seconds on end.
    // So what looks disturbed is measured again later, in the time that is left; of its visits the fastest counts, with
    // all of its statistics.
    void revisit() {
        taken_.resize(out_.ceilings.size());
        for (int visit = 1; visit < kVisits; ++visit) {
            std::vector<std::size_t> again;
            for (std::size_t i = 0; i < taken_.size(); ++i)
                if (doubtful(i)) again.push_back(i);
            for (std::size_t done = 0; done < again.size(); ++done) {
                const double rest = static_cast<double>(again.size() - done) * (kVisits - visit);
                if (session_.stopped() || session_.left().value() <= 0) return;
                visit_again(again[done], session_.device().now() + session_.left() / rest);
            }
        }
    }

    void visit_again(std::size_t i, Seconds until) {
        MeasuredCeiling& c = out_.ceilings[i];
        Taken& before = taken_[i];
        const auto probe = session_.device().prepare(before.step.probe, before.step.working_set);
        if (!probe || !probe->probe) return;
        Repeated now = repeated(*probe->probe, before.step.probe, before.step.working_set, until, session_);
        if (now.fault || (now.disturbed && !before.disturbed)) return;
        // Its whole interval, and of not much fewer samples: by its median alone the luckiest of equal visits would
        // win.
        const bool faster = is_rate(c) ? now.value.low > c.value.median : now.value.high < c.value.median;
        const bool better = before.disturbed ? faster || !now.disturbed : faster && 2 * now.value.count > c.value.count;
        if (!better) return;
        before.disturbed = now.disturbed;
        take(c, std::move(now));
    }

    // The roofs alone, after it is known which they are: each takes this long.
    void sustain(Seconds time) {
        for (std::size_t i = 0; i < out_.ceilings.size(); ++i) {
            MeasuredCeiling& c = out_.ceilings[i];
            if (!c.primary || session_.stopped()) continue;
            const CeilingStep& step = taken_[i].step;
            const auto again = session_.device().prepare(step.probe, step.working_set);
            if (!again || !again->probe) continue;
            Repeated held = sustained(*again->probe, step.probe, step.working_set, time, session_);
            if (held.fault)
                c.notes.push_back("sustained: " + *held.fault);
            else
                c.sustained = held.value;
            for (std::string& note : held.notes) c.notes.push_back("sustained: " + note);
        }
    }

    // Whether it can be the roof of its pipe or level at all: whole device, FMA or matrix, loads.
    [[nodiscard]] bool is_roof(const MeasuredCeiling& c) const {
        if (c.units != out_.device.units) return false;
        if (c.kind == CeilingKind::bandwidth) return c.action == "load";
        return c.kind == CeilingKind::compute && (c.action == "fma" || c.action == "mma" || c.action == "gemm");
    }

    void sweep(const SweepStep& step) {
        if (session_.stopped()) return;
        const Seconds until = deadline(kSweepShare);
        const auto probe = prepared(step.probe, step.working_sets.back(), step.title);
        if (!probe) {
            shares_ -= kLevelsOfSweep * kCeilingShare;
            return;
        }
        out_.sweeps.push_back(run_sweep(*probe, step, until, session_));
        const MeasuredSweep found = out_.sweeps.back();
        const Seconds levels_until = deadline(kLevelsOfSweep * kCeilingShare);
        const Seconds each = (levels_until - session_.device().now()) / kLevelsOfSweep;
        for (const LevelWindow& window : found.windows) level_of(*probe, step, found, window, each);
    }

    void level_of(PreparedProbe& probe, const SweepStep& step, const MeasuredSweep& sweep, const LevelWindow& window,
                  Seconds time) {
        if (session_.stopped() || !covers(step, window)) return;
        const auto plateau = std::find_if(sweep.plateaus.begin(), sweep.plateaus.end(),
                                          [&](const Plateau& p) { return p.level == window.level; });
        CeilingStep at{step.probe, {}};
        at.probe.level = window.level;
        const auto set = plateau == sweep.plateaus.end() ? std::nullopt : best_set(sweep, *plateau);
        if (!set) {
            out_.skipped.push_back(
                {fmt::format("{} ({})", title(at.probe), step.title), "the sweep shows no such level", "", ""});
            return;
        }
        at.working_set = *set;
        measure_ceiling(probe, at, &window, session_.device().now() + time);
    }

    // The sweep must enter the level far enough to be able to show it.
    static bool covers(const SweepStep& step, const LevelWindow& window) {
        const double from = std::max(window.from, step.working_sets.front().value());
        const double to = std::min(window.to, step.working_sets.back().value());
        return to >= 2 * from;
    }

    void choose_primaries() {
        for (MeasuredCeiling& c : out_.ceilings) {
            if (c.fault || !is_roof(c)) continue;
            const bool beaten = std::any_of(out_.ceilings.begin(), out_.ceilings.end(), [&](const auto& other) {
                return &other != &c && other.kind == c.kind && other.pipe == c.pipe && other.level == c.level &&
                       (other.primary || (!other.fault && is_roof(other) && other.value.median > c.value.median));
            });
            c.primary = !beaten;
        }
    }

    Session session_;
    Plan plan_;
    Measurement out_;
    struct Taken {
        CeilingStep step;
        bool disturbed = false;
    };
    std::vector<Taken> taken_;  // of each ceiling, to run it again
    double shares_ = 0;
};

}  // namespace

Measurement characterize(Device& device, const MeasureOptions& options) {
    Measurement result = Characterization(device, options).run();
    if (device.info().kind != "simulated")
        result.date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
    return result;
}

}  // namespace gambrel::measure_detail

namespace gambrel {

bool has_failures(const Measurement& m) {
    return std::any_of(m.ceilings.begin(), m.ceilings.end(),
                       [](const MeasuredCeiling& c) { return c.fault.has_value(); });
}

Result<Measurement> measure(std::string_view device, const MeasureOptions& options) {
    auto opened = measure_detail::open_device(device);
    if (!opened) return tl::unexpected(opened.error());
    return measure_detail::characterize(**opened, options);
}

}  // namespace gambrel
