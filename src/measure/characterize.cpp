#include "measure/characterize.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "measure/follow_up.hpp"
#include "measure/plan.hpp"
#include "measure/roofs.hpp"
#include "measure/runner.hpp"
#include "measure/sweep.hpp"
#include "measure/theory.hpp"

namespace gambrel::measure_detail {
namespace {

// Shares of the time: a sweep is many points, and each may find three levels.
constexpr double kSweepShare = 10, kCeilingShare = 1, kLevelsOfSweep = 3;
// Of the sizes of a library's product the best counts.
double share_of(const Probe& probe) { return probe.action == ProbeAction::gemm ? kCeilingShare / 4 : kCeilingShare; }
// For a second look at what seems disturbed: a part of all shares, and how often.
constexpr double kRevisitPart = 0.15;
constexpr int kVisits = 3;

class Characterization {
public:
    Characterization(Device& device, const MeasureOptions& options)
        : session_(device, options), plan_(plan_for(device.info(), options.quick)) {
        out_.device = device.info();
        shares_ = static_cast<double>(plan_.sweeps.size()) * (kSweepShare + kLevelsOfSweep * kCeilingShare);
        for (const auto* steps : {&plan_.first, &plan_.last})
            for (const CeilingStep& step : *steps) shares_ += share_of(step.probe);
        if (out_.device.kind == DeviceKind::host) shares_ *= 1 + kRevisitPart;  // a GPU is seldom shared
    }

    Measurement run() {
        for (const CeilingStep& step : plan_.first) {
            ceiling(step, nullptr);
            if (&step == plan_.first.data()) expect_rest();  // not before: it could slow launches down
        }
        for (const SweepStep& step : plan_.sweeps) sweep(step);
        for (const CeilingStep& step : plan_.last) {
            const auto windows = windows_of(step.probe);
            const auto window = std::find_if(windows.begin(), windows.end(),
                                             [&](const auto& w) { return step.probe.level == w.level; });
            ceiling(step, window == windows.end() ? nullptr : &*window);
        }
        revisit();
        check_unit_order(out_.ceilings);
        check_level_order(out_.ceilings);
        choose_roofs(out_);
        taken_.resize(out_.ceilings.size());
        const Standing standing{session_, taken_, out_};
        try_realistic_operands(standing);
        if (session_.options().prove) prove_by_counters(standing);
        if (session_.options().sustained.value() > 0) sustain(standing, session_.options().sustained);
        std::stable_sort(out_.ceilings.begin(), out_.ceilings.end(),
                         [](const auto& a, const auto& b) { return place_in_report(a) < place_in_report(b); });
        out_.interrupted = session_.stopped();
        out_.took = session_.taken();
        return std::move(out_);
    }

private:
    // Launches and ordinary arithmetic, each matrix type with all of its instructions, then memory.
    static std::size_t place_in_report(const MeasuredCeiling& c) {
        if (c.pipe && (is_tensor(*c.pipe) || c.action == ProbeAction::gemm))
            return 1 + static_cast<std::size_t>(*c.pipe);
        return c.kind == CeilingKind::compute || c.kind == CeilingKind::launch ? 0 : 1 + kPipes;
    }

    void expect_rest() {
        std::vector<Device::Expected> coming;
        for (const CeilingStep& step : plan_.first) coming.push_back({step.probe, step.working_set});
        for (const SweepStep& step : plan_.sweeps)
            for (const Bytes set : step.working_sets) coming.push_back({step.probe, set});
        for (const CeilingStep& step : plan_.last) coming.push_back({step.probe, step.working_set});
        session_.device().expect(coming);
    }

    [[nodiscard]] std::vector<LevelWindow> windows_of(const Probe& probe) const {
        return level_windows(out_.device, probe.sharing, probe.units == 0 ? out_.device.units : probe.units);
    }

    Seconds deadline(double share) {
        const Seconds slice = session_.left() * std::min(share / std::max(shares_, share), 1.0);
        shares_ -= share;
        return session_.device().now() + slice;
    }

    // The probe ready to run; or null, after the reason was noted.
    std::unique_ptr<PreparedProbe> prepared(const Probe& probe, Bytes largest, const std::string& what) {
        auto preparation = session_.device().prepare(probe, largest);
        if (!preparation) {
            MeasuredCeiling failed = described(probe, what);
            failed.fault = one_line(preparation.error());
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
        c.action = probe.action;
        if (c.kind == CeilingKind::compute) c.pipe = probe.pipe;
        c.level = probe.level;
        c.units = probe.units == 0 ? out_.device.units : probe.units;
        return c;
    }

    // True, after noting that `what` could not run, if the device is lost.
    bool is_lost(const Probe& probe, const std::string& what) {
        const auto why = session_.device().lost();
        if (!why) return false;
        const std::string way = matrix_way(probe);
        out_.skipped.push_back({what, *why, std::string(way.empty() ? "" : gambrel::title(probe.pipe)), way});
        return true;
    }

    void ceiling(const CeilingStep& step, const LevelWindow* window) {
        if (session_.stopped() || is_lost(step.probe, title(step.probe))) return;
        const Seconds until = deadline(share_of(step.probe));
        session_.tell(title(step.probe));
        const auto probe = prepared(step.probe, step.working_set, title(step.probe));
        if (probe) measure_ceiling(*probe, step, window, until);
    }

    void measure_ceiling(PreparedProbe& probe, const CeilingStep& step, const LevelWindow* window, Seconds until,
                         const Repeater* known = nullptr, const std::vector<std::string>& remarks = {}) {
        MeasuredCeiling c = described(step.probe, title(step.probe));
        if (step.working_set.value() > 0) c.working_set = step.working_set;
        Repeated result = repeated(probe, step.probe, step.working_set, until, session_, known);
        c.clock = result.clock;
        c.fault = std::move(result.fault);
        for (const auto& more : {remarks, group_remarks(result.groups)})
            result.notes.insert(result.notes.end(), more.begin(), more.end());
        set_estimate(c, result.samples, result.notes);
        if (!c.fault && window)
            if (std::string why = misfit(step.working_set, *window); !why.empty()) c.fault = std::move(why);
        compare_with_theory(c, step.probe, out_.device);
        out_.ceilings.push_back(std::move(c));
        taken_.resize(out_.ceilings.size());
        taken_.back() = {step, std::move(result.samples), std::move(result.notes)};
    }

    // Whatever else runs on the same silicon slows a run down and never speeds it up, and does so for seconds on end.
    // So what looks disturbed is measured again later, in the time that is left, and all its samples count.
    void revisit() {
        taken_.resize(out_.ceilings.size());
        for (int visit = 1; visit < kVisits; ++visit) {
            judge_by_width();
            std::vector<std::size_t> again;
            for (std::size_t i = 0; i < taken_.size(); ++i)
                if (looks_slowed(out_.ceilings[i], out_) || (visit == 1 && rests_on_shared_cache(out_.ceilings[i])))
                    again.push_back(i);
            for (std::size_t done = 0; done < again.size(); ++done) {
                const double rest = static_cast<double>(again.size() - done) * (kVisits - visit);
                if (session_.stopped() || session_.left().value() <= 0 || session_.device().lost()) return;
                visit_again(again[done], session_.device().now() + session_.left() / rest);
            }
        }
    }

    // Where a neighbour, or a hypervisor that moves a core to another cache, has emptied a cache that cores share, the
    // samples of one visit are those of a first walk through it, and agree with each other.
    [[nodiscard]] bool rests_on_shared_cache(const MeasuredCeiling& c) const {
        return c.kind == CeilingKind::latency && c.level == Level::l3 && out_.device.kind == DeviceKind::host;
    }

    // The first ceilings are measured before it is known how wide a whole core is. A neighbour that was there all that
    // time is noticed now.
    void judge_by_width() {
        for (std::size_t i = 0; i < taken_.size(); ++i) {
            MeasuredStep& step = taken_[i];
            const std::size_t before = step.samples.disturbed();
            step.samples.mark_narrow([&](int unit) { return session_.device().least_width(unit); });
            if (step.samples.disturbed() > before) set_estimate(out_.ceilings[i], step.samples, step.notes);
        }
    }

    void visit_again(std::size_t i, Seconds until) {
        MeasuredCeiling& c = out_.ceilings[i];
        MeasuredStep& before = taken_[i];
        const auto probe = session_.device().prepare(before.step.probe, before.step.working_set);
        if (!probe || !probe->probe) return;
        // By itself, because samples that agree with each other would end this visit with its first one.
        const Repeated now = repeated(*probe->probe, before.step.probe, before.step.working_set, until, session_);
        if (now.fault) return;
        if (now.clock) c.clock = now.clock;
        before.samples.add(now.samples);
        before.samples.mark_narrow([&](int unit) { return session_.device().least_width(unit); });
        set_estimate(c, before.samples, before.notes);
    }

    void sweep(const SweepStep& step) {
        if (session_.stopped() || is_lost(step.probe, step.title)) return;
        const Seconds until = deadline(kSweepShare);
        const auto probe = prepared(step.probe, step.working_sets.back(), step.title);
        if (!probe) {
            shares_ -= kLevelsOfSweep * kCeilingShare;
            return;
        }
        const SweepRun found = run_sweep(*probe, step, until, session_);
        out_.sweeps.push_back(found.sweep);
        const Seconds levels_until = deadline(kLevelsOfSweep * kCeilingShare);
        const Seconds each = (levels_until - session_.device().now()) / kLevelsOfSweep;
        for (const LevelWindow& window : found.sweep.windows) level_of(*probe, step, found, window, each);
    }

    void level_of(PreparedProbe& probe, const SweepStep& step, const SweepRun& run, const LevelWindow& window,
                  Seconds time) {
        const MeasuredSweep& sweep = run.sweep;
        if (session_.stopped() || !covers(step, window) || is_lost(step.probe, step.title)) return;
        const auto plateau = std::find_if(sweep.plateaus.begin(), sweep.plateaus.end(),
                                          [&](const Plateau& p) { return p.level == window.level; });
        CeilingStep at{step.probe, {}};
        at.probe.level = window.level;
        std::optional<Bytes> set;
        std::vector<std::string> remarks;
        if (plateau != sweep.plateaus.end()) set = best_set(sweep, *plateau, step.least_set);
        if (set) {
            remarks = plateau_remarks(sweep, *plateau, *set, step.least_set);
        } else if (!shown_by_later(step, window)) {
            set = set_beyond_caches(sweep, window);
            remarks = {"the sweep shows no plateau here, so it is measured on the largest working set"};
        }
        if (!set) {
            out_.skipped.push_back(
                {fmt::format("{} ({})", title(at.probe), step.title), "the sweep shows no such level", "", ""});
            return;
        }
        at.working_set = *set;
        // The sweep ran the same probe on the same set: what it saw is evidence too.
        const auto known = run.samples.find(*set);
        measure_ceiling(probe, at, &window, session_.device().now() + time,
                        known == run.samples.end() ? nullptr : &known->second, remarks);
    }

    // Whether a sweep still to come, on as many units, can show the level.
    [[nodiscard]] bool shown_by_later(const SweepStep& step, const LevelWindow& window) const {
        return std::any_of(plan_.sweeps.begin(), plan_.sweeps.end(), [&](const SweepStep& other) {
            return &other > &step && other.probe.units == step.probe.units &&
                   std::any_of(other.windows.begin(), other.windows.end(),
                               [&](const LevelWindow& w) { return w.level == window.level && covers(other, w); });
        });
    }

    // The sweep must enter the level far enough to be able to show it.
    static bool covers(const SweepStep& step, const LevelWindow& window) {
        const double from = std::max(window.from, step.working_sets.front().value());
        const double to = std::min(window.to, step.working_sets.back().value());
        return to >= 2 * from;
    }

    Session session_;
    Plan plan_;
    Measurement out_;
    std::vector<MeasuredStep> taken_;  // of each ceiling, to run it again
    double shares_ = 0;
};

}  // namespace

Measurement characterize(Device& device, const MeasureOptions& options) {
    Measurement result = Characterization(device, options).run();
    if (device.info().kind != DeviceKind::simulated)
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
