#include "measure/characterize.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "measure/plan.hpp"
#include "measure/runner.hpp"
#include "measure/sweep.hpp"

namespace gambrel::measure_detail {
namespace {

// Shares of the time: a sweep is many points, and each may find three levels.
constexpr double kSweepShare = 10, kCeilingShare = 1, kLevelsOfSweep = 3;
constexpr double kUnsteady = 0.05;

class Characterization {
public:
    Characterization(Device& device, const MeasureOptions& options)
        : session_(device, options), plan_(plan_for(device.info(), options.quick)) {
        out_.device = device.info();
        shares_ = static_cast<double>(plan_.first.size() + plan_.last.size()) * kCeilingShare +
                  static_cast<double>(plan_.sweeps.size()) * (kSweepShare + kLevelsOfSweep * kCeilingShare);
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
        if (!preparation->probe) out_.skipped.push_back({what, preparation->reason});
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
        const Seconds until = deadline(kCeilingShare);
        session_.tell(title(step.probe));
        const auto probe = prepared(step.probe, step.working_set, title(step.probe));
        if (probe) measure_ceiling(*probe, step, window, until);
    }

    void measure_ceiling(PreparedProbe& probe, const CeilingStep& step, const LevelWindow* window, Seconds until) {
        MeasuredCeiling c = described(step.probe, title(step.probe));
        if (step.working_set.value() > 0) c.working_set = step.working_set;
        Repeated result = repeated(probe, step.probe, step.working_set, until, session_);
        c.value = result.value;
        c.clock = result.clock;
        c.fault = std::move(result.fault);
        c.notes = std::move(result.notes);
        if (!c.fault && window)
            if (std::string why = misfit(step.working_set, *window); !why.empty()) c.fault = std::move(why);
        if (!c.fault && c.value.relative_interval() > kUnsteady)
            c.notes.push_back(fmt::format("unsteady: the 95 % interval is {:.1f} % wide after {} samples",
                                          100 * c.value.relative_interval(), c.value.count));
        compare_with_theory(c, step.probe);
        out_.ceilings.push_back(std::move(c));
        steps_.resize(out_.ceilings.size());
        steps_.back() = step;
    }

    // The roofs alone, after it is known which they are: each takes this long.
    void sustain(Seconds time) {
        steps_.resize(out_.ceilings.size());
        for (std::size_t i = 0; i < out_.ceilings.size(); ++i) {
            MeasuredCeiling& c = out_.ceilings[i];
            if (!c.primary || session_.stopped()) continue;
            const auto again = session_.device().prepare(steps_[i].probe, steps_[i].working_set);
            if (!again || !again->probe) continue;
            Repeated held = sustained(*again->probe, steps_[i].probe, steps_[i].working_set, time, session_);
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

    void compare_with_theory(MeasuredCeiling& c, const Probe& probe) const {
        if (!out_.device.theoretical) return;
        const Machine& m = *out_.device.theoretical;
        const double part = static_cast<double>(c.units) / out_.device.units;
        if (c.kind == CeilingKind::compute) {
            if (const auto roof = compute_ceiling(m, probe.pipe)) {
                const bool half = (probe.action == Action::add || probe.action == Action::multiply);
                c.theoretical = roof->value.value() * part * (half && !is_integer(probe.pipe) ? 0.5 : 1.0);
                c.theoretical_cite = roof->cite;
            }
        } else if (c.kind == CeilingKind::bandwidth && probe.level) {
            const MemoryLevel* level = m.find(*probe.level);
            if (!level || (part < 1 && !level->per_sm)) return;
            // On-chip widths are those of loads; stores have pipes of their own. What only a benchmark knows is no
            // theory.
            if (probe.action != Action::load && *probe.level != Level::dram) return;
            if (!level->width && !level->bandwidth) return;
            if (const auto roof = memory_ceiling(m, *probe.level)) {
                c.theoretical = roof->value.value() * part;
                c.theoretical_cite = roof->cite;
            }
        }
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
                {fmt::format("{} ({})", title(at.probe), step.title), "the sweep shows no such level"});
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
    std::vector<CeilingStep> steps_;  // of each ceiling, to run it again
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
