#include "measure/follow_up.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace gambrel::measure_detail {
namespace {

constexpr double kUneven = 0.05;                  // groups whose times differ by more are worth a remark
constexpr double kLeastShare = 0.9, kLeak = 0.1;  // of the bytes: at least from the level itself, at most from beyond

bool has_ended(const Standing& run) { return run.session.stopped() || run.session.device().lost(); }

std::string share_text(const char* level, const std::optional<Bytes>& bytes, Bytes moved) {
    return bytes ? fmt::format("{:.0f} % at {}", 100 * (*bytes / moved), level) : fmt::format("{} not counted", level);
}

// The fastest instruction of its type.
bool is_best_product(const MeasuredCeiling& c, const std::vector<MeasuredCeiling>& all) {
    if (c.fault || c.action != ProbeAction::mma || !c.pipe) return false;
    return std::none_of(all.begin(), all.end(), [&](const MeasuredCeiling& other) {
        return !other.fault && other.action == ProbeAction::mma && other.pipe == c.pipe &&
               other.value.median > c.value.median;
    });
}

}  // namespace

void sustain(const Standing& run, Seconds time) {
    for (std::size_t i = 0; i < run.steps.size(); ++i) {
        MeasuredCeiling& c = run.result.ceilings[i];
        if (!c.primary || has_ended(run)) continue;
        const CeilingStep& step = run.steps[i].step;
        const auto again = run.session.device().prepare(step.probe, step.working_set);
        if (!again || !again->probe) continue;
        Repeated held = sustained(*again->probe, step.probe, step.working_set, time, run.session);
        if (held.fault)
            c.notes.push_back("sustained: " + *held.fault);
        else
            c.sustained = held.samples.all();
        for (std::string& note : held.notes) c.notes.push_back("sustained: " + note);
        // Between samples results are checked: a GPU that rests meanwhile stays cooler than one that does not.
        if (!held.fault && run.result.device.kind != DeviceKind::host)
            c.notes.push_back(fmt::format("sustained: the device was busy {:.0f} % of the time", 100 * held.busy));
    }
}

void try_realistic_operands(const Standing& run) {
    if (run.result.device.kind != DeviceKind::cuda) return;
    for (std::size_t i = 0; i < run.steps.size(); ++i) {
        MeasuredCeiling& c = run.result.ceilings[i];
        if (!is_best_product(c, run.result.ceilings) || has_ended(run)) continue;
        CeilingStep step = run.steps[i].step;
        step.probe.random = true;
        const auto prepared = run.session.device().prepare(step.probe, step.working_set);
        if (!prepared || !prepared->probe) continue;
        const Repeated found =
            repeated(*prepared->probe, step.probe, step.working_set, run.session.device().now(), run.session);
        if (found.fault) {
            c.notes.push_back("random operands: " + *found.fault);
            continue;
        }
        c.realistic = found.samples.estimate().value;
        c.notes.push_back(
            fmt::format("random operands: {:.1f} % of this rate", 100 * c.realistic->median / c.value.median));
    }
}

void prove_by_counters(const Standing& run) {
    Bytes cached{0};
    for (const DeviceLevel& l : run.result.device.levels)
        if (l.level == Level::l2) cached = l.capacity;
    for (std::size_t i = 0; i < run.steps.size(); ++i) {
        MeasuredCeiling& c = run.result.ceilings[i];
        if (c.kind != CeilingKind::bandwidth || !c.level || c.fault || has_ended(run)) continue;
        const CeilingStep& step = run.steps[i].step;
        const auto prepared = run.session.device().prepare(step.probe, step.working_set);
        if (!prepared || !prepared->probe) continue;
        run.session.tell(title(step.probe) + ", counters");
        const Calibration calibration = calibrated(*prepared->probe, step.working_set, run.session);
        if (calibration.fault) continue;
        const auto counted =
            run.session.device().counted(step.probe, *prepared->probe, step.working_set, calibration.repetitions);
        if (!counted) {  // the same for every other ceiling
            run.result.skipped.push_back({"proof by counters", one_line(counted.error()), "", ""});
            return;
        }
        const Bytes moved = counted->sample.bytes;
        const LevelBytes& bytes = counted->bytes;
        c.notes.push_back(fmt::format("counters: of the bytes {}, {}, {}", share_text("L1", bytes.l1, moved),
                                      share_text("L2", bytes.l2, moved), share_text("DRAM", bytes.dram, moved)));
        const std::string wrong = contradiction(*c.level, c.action != ProbeAction::load, moved, bytes, cached);
        if (wrong.empty()) continue;
        c.fault = "counters: " + wrong;
        c.primary = false;
    }
}

std::vector<std::string> group_remarks(const std::vector<GroupTime>& groups) {
    if (groups.size() < 2) return {};
    const auto [fast, slow] = std::minmax_element(
        groups.begin(), groups.end(), [](const GroupTime& a, const GroupTime& b) { return a.cycles < b.cycles; });
    if (fast->cycles == 0) return {};
    const double more = static_cast<double>(slow->cycles) / static_cast<double>(fast->cycles) - 1;
    if (more <= kUneven) return {};
    return {fmt::format("uneven: the slowest of {} groups (SM {}) took {:.0f} % longer than the fastest (SM {})",
                        groups.size(), slow->unit, 100 * more, fast->unit)};
}

std::string contradiction(Level level, bool writes, Bytes moved, const LevelBytes& counted, Bytes cached) {
    const auto too_few = [&](const char* name, const std::optional<Bytes>& bytes, Bytes left = {}) -> std::string {
        if (!bytes || *bytes + left >= moved * kLeastShare) return "";
        return fmt::format("only {:.0f} % of the bytes passed through {}", 100 * (*bytes / moved), name);
    };
    const auto leak = [&](const char* name, const std::optional<Bytes>& bytes) -> std::string {
        if (!bytes || *bytes <= moved * kLeak) return "";
        return fmt::format("{:.0f} % of the bytes came from {}", 100 * (*bytes / moved), name);
    };
    const auto first = [](std::initializer_list<std::string> all) {
        for (const std::string& text : all)
            if (!text.empty()) return text;
        return std::string{};
    };
    switch (level) {
        case Level::shared:
            return leak("L2", counted.l2);
        case Level::l1:
            return first({too_few("L1", counted.l1), leak("L2", counted.l2)});
        case Level::l2:
        case Level::l3:
            return first({too_few("L2", counted.l2), leak("DRAM", counted.dram)});
        case Level::dram:
            return too_few("DRAM", counted.dram, writes ? cached : Bytes{0});
    }
    return "";
}

}  // namespace gambrel::measure_detail
