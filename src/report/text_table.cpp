#include <algorithm>
#include <string>
#include <unordered_map>

#include <fmt/format.h>

#include <gambrel/report.hpp>

#include "chart/text.hpp"
#include "report/answer_text.hpp"
#include "report/explain.hpp"
#include "report/json_values.hpp"
#include "report/numbers.hpp"
#include "report/reasons.hpp"
#include "report/telling_phases.hpp"
#include "report/timeline_text.hpp"

namespace gambrel {
namespace {

using namespace chart_detail;
using namespace report_detail;

constexpr std::size_t kNameWidth = 56;

struct Units {
    ColumnUnit time, rate;
    double whole_time = 0;
};

Units units_of(const std::vector<const Kernel*>& kernels, double whole_time) {
    std::vector<double> times, rates;
    for (const Kernel* k : kernels) {
        if (k->time) times.push_back(k->time->value.value());
        if (const auto rate = flop_rate(*k)) rates.push_back(rate->value());
    }
    return {column_unit(times, "s", true), column_unit(rates, "FLOP/s", false), whole_time};
}

// Priorities say which column goes first when the terminal is narrow: the lowest.
std::vector<TableColumn> columns(const Units& units, std::string_view what, int width) {
    return {{std::string(what), false, 100, std::clamp(width / 4, 12, 30)},
            {"launches", true, 30},
            {fmt::format("time [{}]", units.time.text), true, 95},
            {"% time", true, 55},
            {units.rate.text, true, 50},
            {"AI L1", true, 20},
            {"AI L2", true, 25},
            {"AI DRAM", true, 40},
            {"bound", false, 80},
            {"% roof", true, 90},
            {"phase", false, 70}};
}

std::vector<TableCell> cells(const Kernel& k, const Units& units, std::string name_cell) {
    const auto ai = [&](Level level) {
        const auto value = intensity(k, level);
        return value ? intensity_text(value->value()) : std::string{};
    };
    const auto rate = flop_rate(k);
    std::string share;
    if (k.time && units.whole_time > 0) share = fmt::format("{:.1f}", 100 * k.time->value.value() / units.whole_time);
    return {std::move(name_cell),
            count_text(k.launches),
            k.time ? units.time.format(k.time->value.value()) : "",
            std::move(share),
            rate ? units.rate.format(rate->value()) : "",
            ai(Level::l1),
            ai(Level::l2),
            ai(Level::dram),
            "",
            "",
            ""};
}

std::string name_cell(const AnalysisRow& row, Grouping grouping, bool ascii, std::size_t width = kNameWidth) {
    if (grouping == Grouping::phase) {
        const std::string& phase = row.kernel.phase.empty() ? row.kernel.name.str() : row.kernel.phase.str();
        return printable(phase.empty() ? "(no phase)" : phase, ascii);
    }
    return printable(short_name(row.kernel.name.str(), width), ascii);
}

void add_rows(Table& table, const Analysis& analysis, const Units& units, std::size_t shown, const TextStyle& style) {
    const bool ascii = !style.unicode;
    std::vector<const Kernel*> kernels;
    for (std::size_t i = 0; i < shown; ++i) kernels.push_back(&analysis.rows[i].kernel);
    const bool by_phase = analysis.grouping == Grouping::phase;  // the first column has it
    const std::vector<std::string> phases = by_phase ? std::vector<std::string>(shown) : phase_cells(kernels);
    for (std::size_t i = 0; i < shown; ++i) {
        const AnalysisRow& row = analysis.rows[i];
        auto line = cells(row.kernel, units, name_cell(row, analysis.grouping, ascii));
        line[8] = bound_text(row.verdict.bound) + (row.verdict.by_profiler ? " (ncu)" : "");
        if (bound_text(row.verdict.bound).empty())
            line[8] = row.kernel.reasons.empty() && row.verdict.findings.empty() ? "" : "?";
        if (row.verdict.of_roof) line[9] = fmt::format("{:.1f}", 100 * *row.verdict.of_roof);
        line[10] = printable(phases[i], ascii);
        table.add({std::move(line), std::string(bound_color(row.verdict.bound)),
                   style.explain ? explanation(row, style) : std::vector<std::string>{}});
    }
    auto sum = cells(analysis.total, units, "total");
    table.total = std::move(sum);
    // Shortened by what matters in a name, now that the room is known, rather than cut at its end.
    const auto width = static_cast<std::size_t>(first_column_width(table, style));
    if (by_phase) return;
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < shown; ++i) names.emplace_back(analysis.rows[i].kernel.name.str());
    const std::vector<std::string> shorts = short_names(names, width);
    for (std::size_t i = 0; i < shown; ++i) table.rows[i].cells.front() = printable(shorts[i], ascii);
}

void add_wrapped(std::string& out, std::string_view text, const TextStyle& style, int indent = 2) {
    for (const auto& line : wrapped(printable(text, !style.unicode), style.width, indent)) out += line + "\n";
}

std::string hidden_text(const Analysis& analysis, std::size_t shown, double whole_time) {
    double time = 0;
    for (std::size_t i = shown; i < analysis.rows.size(); ++i)
        if (const auto& t = analysis.rows[i].kernel.time) time += t->value.value();
    const std::string noun = analysis.grouping == Grouping::launch ? "launche" : grouping_name(analysis.grouping);
    std::string text = "... " + plural(analysis.rows.size() - shown, "more " + noun);
    if (analysis.grouping == Grouping::launch && analysis.rows.size() - shown == 1) text.pop_back();
    if (whole_time > 0) text += fmt::format(", {} of time", percent_text(time / whole_time));
    return text + "; --csv - has all";
}

std::string phases_table(const Analysis& analysis, const TextStyle& style, double whole_time) {
    std::vector<const Kernel*> sums;
    for (const auto& phase : analysis.phases) sums.push_back(&phase.sum);
    const Units units = units_of(sums, whole_time);
    auto all = columns(units, "phase", style.width);
    all[8] = {"zero-FLOP", true, 45};
    all[9] = {"% zero", true, 46};
    Table table(std::move(all));
    for (const auto& phase : analysis.phases) {
        auto line =
            cells(phase.sum, units, printable(phase.phase.empty() ? "(none)" : phase.phase.str(), !style.unicode));
        line[8] = count_text(phase.zero_flop_launches);
        const double time = phase.sum.time ? phase.sum.time->value.value() : 0;
        if (time > 0) line[9] = fmt::format("{:.1f}", 100 * phase.zero_flop_time.value() / time);
        table.add({std::move(line), "", {}});
    }
    return terminal_text(table, style);
}

// A reason that many rows share is said once, with the number of rows that have it.
std::string findings_text(const Analysis& analysis, const TextStyle& style) {
    struct Finding {
        std::string reason;
        const AnalysisRow* first;
        std::size_t rows = 0;
    };
    std::vector<Finding> seen;
    std::unordered_map<std::string, std::size_t> index;
    for (const auto& row : analysis.rows) {
        std::string reason = reason_text(row, false);
        if (reason.empty()) continue;
        const auto [at, fresh] = index.emplace(reason, seen.size());
        if (fresh) seen.push_back({std::move(reason), &row});
        ++seen[at->second].rows;
    }
    constexpr std::size_t kMost = 12, kMostLines = 4;
    std::string out;
    for (std::size_t i = 0; i < std::min(seen.size(), kMost); ++i) {
        const auto& [reason, first, rows] = seen[i];
        const std::string others = rows > 1 ? fmt::format(" and {} more", count_text(rows - 1)) : "";
        const std::string who = short_name(first->kernel.name.str(), 40);
        auto lines = wrapped(printable(fmt::format("  {}{}: {}", who, others, reason), !style.unicode), style.width, 4);
        // A list of forty counters would push the table off the screen.
        if (lines.size() > kMostLines) {
            lines.resize(kMostLines);
            lines.back() =
                truncated(lines.back() + "  ", style.width - 2, !style.unicode) + (style.unicode ? "…" : "..");
        }
        for (const auto& line : lines) out += line + "\n";
    }
    if (seen.size() > kMost) add_wrapped(out, fmt::format("  ... {} more findings", seen.size() - kMost), style);
    const bool curable = std::any_of(analysis.rows.begin(), analysis.rows.end(),
                                     [](const auto& r) { return !r.kernel.remedies.empty(); });
    if (curable)
        add_wrapped(out, "  `gambrel profile` collects what is missing; --explain and --csv show the ncu flags for it",
                    style, 4);
    return out;
}

std::string advice_text(const Analysis& analysis, const TextStyle& style) {
    constexpr std::size_t kMost = 3;
    const auto lines = advice_texts(analysis);
    const std::size_t shown = style.explain ? lines.size() : std::min(kMost, lines.size());
    std::string out;
    for (std::size_t i = 0; i < shown; ++i) add_wrapped(out, "advice: " + lines[i], style);
    if (shown < lines.size())
        add_wrapped(out, fmt::format("{} of advice with --explain", plural(lines.size() - shown, "more piece")), style);
    return out;
}

// What is known of the longest kernels that no roof explains. --explain says it of every row instead.
std::string waits_text(const Analysis& analysis, std::size_t shown, const TextStyle& style) {
    constexpr std::size_t kMost = 3;
    std::string out;
    std::size_t said = 0;
    for (std::size_t i = 0; i < shown && said < kMost; ++i) {
        const AnalysisRow& row = analysis.rows[i];
        if (!std::holds_alternative<OffRoof>(row.verdict.bound)) continue;
        ++said;
        add_wrapped(out,
                    fmt::format("{}: {}: {}", short_name(row.kernel.name.str(), 40), bound_text(row.verdict.bound),
                                row.verdict.why),
                    style);
    }
    return out;
}

}  // namespace

std::string text_table(const Analysis& analysis, const TextStyle& given) {
    TextStyle style = given;
    style.width = std::clamp(given.width, 40, 250);
    const std::size_t shown = std::min(analysis.rows.size(), style.max_rows);
    const double whole_time = known_time(analysis).value();

    std::vector<const Kernel*> kernels{&analysis.total};
    for (std::size_t i = 0; i < shown; ++i) kernels.push_back(&analysis.rows[i].kernel);
    const Units units = units_of(kernels, whole_time);
    Table table(columns(units, analysis.grouping == Grouping::launch ? "kernel" : grouping_name(analysis.grouping),
                        style.width));
    add_rows(table, analysis, units, shown, style);

    std::string out;
    if (!analysis.title.empty()) {
        for (const auto& line : wrapped(printable(analysis.title, !style.unicode), style.width, 2))
            out += painted(line, "1", style.color) + "\n";
    }
    std::string origins = origins_text(analysis);
    if (analysis.partial) origins += origins.empty() ? "partial result" : "; partial result";
    if (!origins.empty()) add_wrapped(out, origins, style);
    if (analysis.timeline) out += timeline_text(*analysis.timeline, style) + "\n";
    if (const std::string first = answer_text(analysis); !first.empty()) add_wrapped(out, first, style);
    out += advice_text(analysis, style);
    out += terminal_text(table, style);
    if (shown < analysis.rows.size()) add_wrapped(out, hidden_text(analysis, shown, whole_time), style);
    if (const auto census = zero_flop_text(analysis); !census.empty()) {
        add_wrapped(out, "zero-FLOP kernels: " + census, style);
    }
    if (!style.explain) out += waits_text(analysis, shown, style);
    if (!analysis.phases.empty() && analysis.grouping != Grouping::phase)
        out += "\n" + phases_table(analysis, style, whole_time);
    if (const auto findings = findings_text(analysis, style); !findings.empty() && !style.explain)
        out += "\nfindings\n" + findings;
    return out;
}

}  // namespace gambrel
