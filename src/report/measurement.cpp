// A Measurement as text and CSV: what was reached beside what theory promises, what failed, and which probes the device
// does not have.
#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gambrel/report.hpp>

#include "chart/text.hpp"
#include "report/ceiling_value.hpp"
#include "report/fields.hpp"
#include "report/numbers.hpp"

namespace gambrel {

namespace report_detail {

std::string ceiling_value(const MeasuredCeiling& c, double value, int digits) {
    switch (c.kind) {
        case CeilingKind::compute: {
            std::string text = to_text(FlopRate{value}, digits);
            if (c.pipe && is_integer(*c.pipe)) text.replace(text.find("FLOP"), 4, "OP");
            return text;
        }
        case CeilingKind::bandwidth:
        case CeilingKind::link:
            return to_text(Bandwidth{value}, digits);
        case CeilingKind::latency:
        case CeilingKind::launch:
            return to_text(Seconds{value}, digits);
    }
    return {};
}

std::string percent_of_theory(const MeasuredCeiling& c) {
    return c.theoretical && *c.theoretical > 0 ? fmt::format("{:.1f} %", 100 * c.value.median / *c.theoretical) : "";
}

std::string range_text(const MeasuredCeiling& c) {
    if (!(c.value.median > 0) || !c.value.has_interval()) return {};
    return fmt::format("{:+.1f} {:+.1f} %", 100 * (c.value.low / c.value.median - 1),
                       100 * (c.value.high / c.value.median - 1));
}

std::string device_text(const Measurement& m) {
    std::string text = fmt::format("{} ({}), {}", m.device.name, name(m.device.kind), m.device.id);
    if (!m.device.detail.empty()) text += ", " + m.device.detail;
    text += fmt::format(", {}", plural(static_cast<std::uint64_t>(m.device.units),
                                       m.device.kind == DeviceKind::host ? "core" : "compute unit"));
    if (m.device.clock) text += ", " + to_text(*m.device.clock, 3);
    return text;
}

namespace {

void add_once(std::vector<std::string>& all, const std::string& one) {
    if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
}

// "mma, wgmma of Tensor FP8, Tensor FP4": a line for every pair of them would be forty.
std::vector<std::string> pairs_text(const std::vector<const Skipped*>& pairs) {
    std::vector<std::pair<std::string, std::vector<std::string>>> ways_of;  // by subject, in order
    for (const Skipped* s : pairs) {
        auto at = std::find_if(ways_of.begin(), ways_of.end(), [&](auto& one) { return one.first == s->subject; });
        if (at == ways_of.end()) at = ways_of.insert(at, {s->subject, {}});
        add_once(at->second, s->way);
    }
    std::vector<std::pair<std::string, std::vector<std::string>>> subjects_of;  // by what they lack
    for (const auto& [subject, ways] : ways_of) {
        const std::string text = fmt::format("{}", fmt::join(ways, ", "));
        auto at = std::find_if(subjects_of.begin(), subjects_of.end(), [&](auto& one) { return one.first == text; });
        if (at == subjects_of.end()) at = subjects_of.insert(at, {text, {}});
        at->second.push_back(subject);
    }
    std::vector<std::string> texts;
    for (const auto& [ways, subjects] : subjects_of)
        texts.push_back(fmt::format("{} of {}", ways, fmt::join(subjects, ", ")));
    return texts;
}

}  // namespace

// Old GPUs lack many probes: those that are missing for the same reason share one sentence.
std::vector<std::string> skipped_sentences(const Measurement& m) {
    std::map<std::string, std::vector<const Skipped*>> by_reason;
    for (const Skipped& s : m.skipped) by_reason[s.reason].push_back(&s);
    std::vector<std::string> sentences;
    for (const auto& [reason, all] : by_reason) {
        std::vector<std::string> titles;
        std::vector<const Skipped*> pairs;
        for (const Skipped* s : all) s->way.empty() ? titles.push_back(s->title) : pairs.push_back(s);
        for (std::string& text : pairs_text(pairs)) titles.push_back(std::move(text));
        sentences.push_back(fmt::format("Not measured, {}: {}.", reason, fmt::join(titles, "; ")));
    }
    return sentences;
}

}  // namespace report_detail

namespace {

using namespace chart_detail;
using namespace report_detail;

std::vector<std::string> lines_below(const MeasuredCeiling& c, const TextStyle& style) {
    std::vector<std::string> lines;
    const auto add = [&](const std::string& text) {
        for (auto& line : wrapped(printable(text, !style.unicode), style.width - 4))
            lines.push_back("    " + std::move(line));
    };
    if (c.fault) add("FAILED: " + *c.fault);
    for (const std::string& note : c.notes) add(note);
    return lines;
}

}  // namespace

std::string measurement_text(const Measurement& m, const TextStyle& wanted) {
    TextStyle style = wanted;
    style.width = std::clamp(style.width, 40, 250);
    const bool sustained = std::any_of(m.ceilings.begin(), m.ceilings.end(), [](auto& c) { return c.sustained; });
    Table table({{"ceiling", false, 100, 16},
                 {"measured", true, 95},
                 {"theoretical", true, 70},
                 {"of it", true, 80},
                 {sustained ? "sustained" : "", true, 75},
                 {"95 % interval", true, 50},
                 {"best", true, 55},
                 {"samples", true, 20},
                 {"working set", true, 60},
                 {"clock", true, 30},
                 {"", false, 90}});
    for (const MeasuredCeiling& c : m.ceilings) {
        const bool rate = c.kind != CeilingKind::latency && c.kind != CeilingKind::launch;
        table.add({{printable(c.title, !style.unicode), c.fault ? "failed" : ceiling_value(c, c.value.median, 4),
                    c.theoretical ? ceiling_value(c, *c.theoretical, 4) : "", c.fault ? "" : percent_of_theory(c),
                    c.sustained ? ceiling_value(c, c.sustained->median, 4) : "", c.fault ? "" : range_text(c),
                    c.fault ? "" : ceiling_value(c, rate ? c.value.maximum : c.value.minimum, 4),
                    count_text(c.samples.count), c.working_set ? binary_text(*c.working_set) : "",
                    c.clock ? fmt::format("{:.0f} MHz", c.clock->value() / 1e6) : "", c.primary ? "roof" : ""},
                   c.fault ? "bad" : "",
                   lines_below(c, style)});
    }
    std::string text;
    const auto paragraph = [&](const std::string& words) {
        for (auto& line : wrapped(printable(words, !style.unicode), style.width)) text += line + "\n";
    };
    paragraph(device_text(m));
    text += "\n" + terminal_text(table, style) + "\n";
    for (const std::string& sentence : skipped_sentences(m)) paragraph(sentence);
    if (m.interrupted) paragraph("Interrupted: these results are partial.");
    return text;
}

std::string measurement_csv(const Measurement& m) {
    std::string out =
        "title,kind,action,pipe,level,units,working_set_bytes,ceiling,median,low,high,minimum,maximum,samples,unit,"
        "theoretical,sustained,realistic,clock_hz,roof,fault,disturbed,partial\n";
    constexpr std::string_view kKinds[] = {"compute", "bandwidth", "latency", "launch", "link"};
    constexpr std::string_view kUnits[] = {"FLOP/s", "B/s", "s", "s", "B/s"};
    for (const MeasuredCeiling& c : m.ceilings) {
        const auto kind = static_cast<std::size_t>(c.kind);
        std::vector<std::string> cells{c.title,
                                       std::string(kKinds[kind]),
                                       std::string(name(c.action)),
                                       c.pipe ? std::string(name(*c.pipe)) : "",
                                       c.level ? std::string(name(*c.level)) : "",
                                       std::to_string(c.units),
                                       c.working_set ? exact(c.working_set->value()) : "",
                                       exact(c.value.median),
                                       exact(c.samples.median),
                                       exact(c.samples.low),
                                       exact(c.samples.high),
                                       exact(c.samples.minimum),
                                       exact(c.samples.maximum),
                                       std::to_string(c.samples.count),
                                       std::string(kUnits[kind]),
                                       c.theoretical ? exact(*c.theoretical) : "",
                                       c.sustained ? exact(c.sustained->median) : "",
                                       c.realistic ? exact(c.realistic->median) : "",
                                       c.clock ? exact(c.clock->value()) : "",
                                       c.primary ? "1" : "0",
                                       c.fault.value_or(""),
                                       c.disturbed ? "1" : "0",
                                       m.interrupted ? "1" : "0"};
        out += csv_line(cells);
    }
    return out;
}

Analysis machine_analysis(Machine machine, std::string title) {
    Analysis alone;
    alone.title = std::move(title);
    alone.partial = !machine.partial.empty();
    alone.machines.push_back(std::move(machine));
    alone.roofs = Roofs::measured;
    return alone;
}

}  // namespace gambrel
