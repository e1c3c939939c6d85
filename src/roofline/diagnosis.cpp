#include "roofline/diagnosis.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gambrel {
namespace {

// Which clock would hold the point, if a known clock of the machine does.
std::string clock_hint(const Machine& m, const Roofline& verdict, double excess) {
    if (!verdict.clock || !m.clocks.boost) return "";
    const double ratio = m.clocks.boost->value / *verdict.clock;
    if (ratio * kRoofTolerance < excess) return "";
    return fmt::format(
        "the ceiling is at {}, and at the boost clock of {} it would not be exceeded: was the clock different?",
        to_text(*verdict.clock), to_text(m.clocks.boost->value));
}

std::vector<std::string> pipe_hints(const Machine& m, const Kernel& k, const Roofline& verdict, const PipeVerdict& v) {
    std::vector<std::string> hints;
    if (const std::string hint = clock_hint(m, verdict, v.of_ceiling); !hint.empty()) hints.push_back(hint);
    const auto sparse = compute_ceiling(m, v.pipe, verdict.clock, Roofs::theoretical, true);
    if (sparse && !k.sparse_work && v.achieved <= sparse->value * kRoofTolerance)
        hints.push_back(
            fmt::format("the sparse peak of {} would not be exceeded: was the work sparse?", to_text(sparse->value)));
    for (const Pipe other : all_pipes()) {
        if (other == v.pipe || is_tensor(other) != is_tensor(v.pipe)) continue;
        const auto peak = compute_ceiling(m, other, verdict.clock);
        if (peak && peak->value >= v.achieved && peak->value > v.ceiling) {
            hints.push_back(fmt::format("{} at {} would not be exceeded: is the precision right?", title(other),
                                        to_text(peak->value)));
            break;
        }
    }
    return hints;
}

std::vector<std::string> level_hints(const Machine& m, const Kernel& k, const Roofline& verdict,
                                     const LevelVerdict& v) {
    std::vector<std::string> hints;
    if (v.level != Level::dram) {
        if (const std::string hint = clock_hint(m, verdict, v.of_ceiling); !hint.empty()) hints.push_back(hint);
    }
    const Origin origin = k.bytes[v.level]->origin;
    if (origin != Origin::measured && v.level == Level::dram) {
        const auto* l2 = m.find(Level::l2);
        const double per_launch =
            k.bytes[v.level]->value.value() / static_cast<double>(std::max<std::uint64_t>(1, k.launches));
        if (l2 && l2->capacity && per_launch <= l2->capacity->value.value())
            hints.push_back(fmt::format("{} a launch fit in the L2 of {}: the bytes may never have reached DRAM",
                                        to_text(Bytes{per_launch}), binary_text(l2->capacity->value)));
    }
    if (v.ceiling_origin == Origin::measured)
        hints.emplace_back("the ceiling was measured: a kernel can be faster than a benchmark");
    return hints;
}

void add(Roofline& verdict, std::string_view what, double of_ceiling, const std::string& cite,
         const std::vector<std::string>& hints) {
    std::string text = fmt::format("{} at {:.0f} % of its ceiling ({})", what, of_ceiling * 100, cite);
    text += hints.empty() ? ": time, counters and machine do not fit together"
                          : fmt::format(": {}", fmt::join(hints, "; "));
    verdict.findings.push_back(std::move(text));
}

}  // namespace

void diagnose_above_roof(const Machine& machine, const Kernel& kernel, Roofline& verdict) {
    for (const auto& v : verdict.pipes)
        if (v.of_ceiling > kRoofTolerance)
            add(verdict, title(v.pipe), v.of_ceiling, v.ceiling_cite, pipe_hints(machine, kernel, verdict, v));
    for (const auto& v : verdict.levels)
        if (v.of_ceiling > kRoofTolerance)
            add(verdict, name(v.level), v.of_ceiling, v.ceiling_cite, level_hints(machine, kernel, verdict, v));
}

}  // namespace gambrel
