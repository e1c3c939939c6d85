#include <algorithm>
#include <functional>
#include <set>

#include <fmt/format.h>
#include <gambrel/report.hpp>

#include "chart/text.hpp"
#include "report/fields.hpp"
#include "report/numbers.hpp"

namespace gambrel {
namespace {

using namespace chart_detail;
using namespace report_detail;

// One line of the study: a label for people, a column name for CSV, and where the figure comes from.
struct Line {
    std::string label, column;
    std::function<std::optional<double>(const Analysis&)> value;
    std::function<std::string(double)> text;
};

std::function<std::optional<double>(const Analysis&)> work_of(Pipe p) {
    return [p](const Analysis& a) -> std::optional<double> {
        if (!a.total.work[p]) return std::nullopt;
        return a.total.work[p]->value.value();
    };
}

std::function<std::optional<double>(const Analysis&)> bytes_of(Level l) {
    return [l](const Analysis& a) -> std::optional<double> {
        if (!a.total.bytes[l]) return std::nullopt;
        return a.total.bytes[l]->value.value();
    };
}

std::function<std::optional<double>(const Analysis&)> intensity_of(Level l) {
    return [l](const Analysis& a) -> std::optional<double> {
        const auto value = intensity(a.total, l);
        if (!value) return std::nullopt;
        return value->value();
    };
}

std::optional<double> number(const Known<Flops>& known) {
    if (!known) return std::nullopt;
    return known->value.value();
}

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

std::vector<Line> lines() {
    const auto count = [](double v) { return count_text(static_cast<std::uint64_t>(v)); };
    const auto flops = [](double v) { return to_text(Flops{v}); };
    const auto bytes = [](double v) { return to_text(Bytes{v}); };
    const auto seconds = [](double v) { return to_text(Seconds{v}); };
    const auto percent = [](double v) { return percent_text(v); };
    return {
        {"kernel names", "names", [](const Analysis& a) { return static_cast<double>(distinct_names(a)); }, count},
        {"launches", "launches", [](const Analysis& a) { return static_cast<double>(a.total.launches); }, count},
        {"GPU time", "time_s", [](const Analysis& a) { return known_time(a).value(); }, seconds},
        {"FP64", "flop_fp64", work_of(Pipe::fp64), flops},
        {"FP32", "flop_fp32", work_of(Pipe::fp32), flops},
        {"FP16", "flop_fp16", work_of(Pipe::fp16), flops},
        {"Tensor Cores", "flop_tensor", [](const Analysis& a) { return number(tensor_flop(a.total)); }, flops},
        {"all FLOP", "flop", [](const Analysis& a) { return number(flop(a.total)); }, flops},
        {"rate", "flop_per_s",
         [](const Analysis& a) -> std::optional<double> {
             const auto rate = flop_rate(a.total);
             if (!rate) return std::nullopt;
             return rate->value();
         },
         [](double v) { return to_text(FlopRate{v}); }},
        {"L1 bytes", "l1_bytes", bytes_of(Level::l1), bytes},
        {"L2 bytes", "l2_bytes", bytes_of(Level::l2), bytes},
        {"DRAM bytes", "dram_bytes", bytes_of(Level::dram), bytes},
        {"FLOP/byte at L1", "ai_l1", intensity_of(Level::l1), intensity_text},
        {"FLOP/byte at L2", "ai_l2", intensity_of(Level::l2), intensity_text},
        {"FLOP/byte at DRAM", "ai_dram", intensity_of(Level::dram), intensity_text},
        {"zero-FLOP names", "zero_flop_names", [](const Analysis& a) { return static_cast<double>(a.zero_flop_names); },
         count},
        {"zero-FLOP launches", "zero_flop_launches",
         [](const Analysis& a) { return static_cast<double>(a.zero_flop_launches); }, count},
        {"  of all launches", "zero_flop_launch_share",
         [](const Analysis& a) {
             return share(static_cast<double>(a.zero_flop_launches), static_cast<double>(a.total.launches));
         },
         percent},
        {"  of the time", "zero_flop_time_share",
         [](const Analysis& a) { return share(a.zero_flop_time.value(), known_time(a).value()); }, percent},
    };
}

constexpr int kLabel = 20, kColumn = 13;

void add_block(std::string& out, std::span<const StudyRun> runs, const TextStyle& style) {
    std::vector<TableColumn> columns{{"", false, 100, 8}};
    for (std::size_t i = 0; i < runs.size(); ++i)
        columns.push_back({runs[i].framework, true, 99 - static_cast<int>(i)});
    Table table(columns);
    const auto heading = [&](const char* label, std::string StudyRun::*field) {
        std::vector<TableCell> cells{label};
        for (const auto& run : runs)
            cells.push_back(truncated(printable(run.*field, !style.unicode), kColumn, !style.unicode));
        table.add({std::move(cells), "strong", {}});
    };
    heading("phase", &StudyRun::phase);
    heading("precision", &StudyRun::precision);
    for (const Line& line : lines()) {
        std::vector<TableCell> cells{line.label};
        for (const auto& run : runs) {
            const auto value = line.value(run.analysis);
            cells.push_back(value ? line.text(*value) : "unknown");
        }
        table.add({std::move(cells), "", {}});
    }
    out += terminal_text(table, style);
}

void add_top(std::string& out, const StudyRun& run, std::size_t top, const TextStyle& style) {
    Table table({{"kernel", false, 100, 16},
                 {"launches", true, 30},
                 {"time", true, 90},
                 {"% time", true, 95},
                 {"% FLOP", true, 60},
                 {"rate", true, 80},
                 {"AI L1", true, 20},
                 {"AI L2", true, 25},
                 {"AI DRAM", true, 40}});
    const double time = known_time(run.analysis).value();
    const auto all = flop(run.analysis.total);
    for (std::size_t i = 0; i < std::min(top, run.analysis.rows.size()); ++i) {
        const Kernel& k = run.analysis.rows[i].kernel;
        const auto ai = [&](Level l) {
            const auto value = intensity(k, l);
            return value ? intensity_text(value->value()) : std::string{};
        };
        const auto rate = flop_rate(k);
        const auto work = flop(k);
        table.add({{printable(short_name(k.name.str(), 48), !style.unicode), count_text(k.launches),
                    k.time ? to_text(k.time->value) : "",
                    k.time ? fmt::format("{:.1f}", 100 * share(k.time->value.value(), time)) : "",
                    work && all ? fmt::format("{:.1f}", 100 * share(work->value.value(), all->value.value())) : "",
                    rate ? to_text(*rate) : "", ai(Level::l1), ai(Level::l2), ai(Level::dram)},
                   "",
                   {}});
    }
    // Shortened by what matters in a name, now that the room is known, rather than cut at its end.
    const auto width = static_cast<std::size_t>(first_column_width(table, style));
    for (std::size_t i = 0; i < std::min(top, run.analysis.rows.size()); ++i)
        table.rows[i].cells.front() =
            printable(short_name(run.analysis.rows[i].kernel.name.str(), width), !style.unicode);
    out += fmt::format("\n{}, {}, {}: the longest kernels\n", run.framework, run.phase, run.precision);
    out += terminal_text(table, style);
}

std::set<Symbol> names_of(const Analysis& a) {
    std::set<Symbol> names;
    for (const auto& row : a.rows) names.insert(row.kernel.name);
    return names;
}

// The two frameworks on the same phase: how little they share.
void add_common_names(std::string& out, std::span<const StudyRun> runs) {
    for (std::size_t i = 0; i < runs.size(); ++i)
        for (std::size_t j = i + 1; j < runs.size(); ++j) {
            if (runs[i].framework == runs[j].framework || runs[i].phase != runs[j].phase) continue;
            const auto a = names_of(runs[i].analysis), b = names_of(runs[j].analysis);
            const auto common = std::count_if(a.begin(), a.end(), [&](Symbol s) { return b.contains(s); });
            out += fmt::format("{}: {} {} and {} {} have {} kernel names in common, of {} and {}\n", runs[i].phase,
                               runs[i].framework, runs[i].precision, runs[j].framework, runs[j].precision, common,
                               a.size(), b.size());
        }
}

}  // namespace

std::string study_text(std::span<const StudyRun> runs, const TextStyle& style, std::size_t top_kernels) {
    std::string out;
    // As many runs beside each other as the width takes; the others below.
    const auto fits = static_cast<std::size_t>(std::max(1, (style.width - kLabel) / (kColumn + 2)));
    for (std::size_t i = 0; i < runs.size(); i += fits) {
        if (i > 0) out += "\n";
        add_block(out, runs.subspan(i, std::min(fits, runs.size() - i)), style);
    }
    for (const auto& run : runs) add_top(out, run, top_kernels, style);
    out += "\n";
    add_common_names(out, runs);
    return out;
}

std::string study_csv(std::span<const StudyRun> runs) {
    const std::vector<Line> all = lines();
    std::vector<std::string> cells{"framework", "run", "phase", "precision"};
    for (const Line& line : all) cells.push_back(line.column);
    std::string out = csv_line(cells);
    for (const auto& run : runs) {
        cells = {run.framework, run.name, run.phase, run.precision};
        for (const Line& line : all) {
            const auto value = line.value(run.analysis);
            cells.push_back(value ? exact(*value) : "");
        }
        out += csv_line(cells);
    }
    return out;
}

}  // namespace gambrel
