#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <gambrel/report.hpp>

#include "chart/text.hpp"
#include "report/compare_words.hpp"
#include "report/numbers.hpp"
#include "report/telling_phases.hpp"

namespace gambrel {
namespace {

using namespace chart_detail;
using namespace report_detail;

std::vector<Level> levels_of(const Comparison& c) {
    std::vector<Level> out;
    for (const Level l : all_levels())
        if (std::any_of(c.pairs.begin(), c.pairs.end(), [l](const ComparedPair& p) { return p.bytes[l].ratio(); }))
            out.push_back(l);
    return out;
}

// A column that says nothing in any row is left out.
bool any_change(const Comparison& c, Change ComparedPair::*what) {
    return std::any_of(c.pairs.begin(), c.pairs.end(), [&](const ComparedPair& p) {
        const auto ratio = (p.*what).ratio();
        return ratio && std::fabs(*ratio - 1) > 1e-3;
    });
}

struct ShownColumns {
    std::vector<Level> levels;
    bool timed = true, counts = false, clocks = false;
};

std::string seconds(const std::optional<double>& v) { return v ? to_text(Seconds{*v}, 3) : "-"; }

std::vector<TableCell> cells_of(std::string first, const ComparedPair& p, const Comparison& c,
                                const ShownColumns& shown) {
    const auto& [levels, timed, counts, clocks] = shown;
    std::vector<TableCell> cells{std::move(first), seconds(p.time.before), seconds(p.time.after)};
    if (timed) cells.push_back(change_text(shown_ratio(p.time, c)));
    if (counts) cells.push_back(change_text(shown_ratio(p.launches, c)));
    if (clocks) cells.push_back(change_text(shown_ratio(p.clock, c)));
    cells.push_back(change_text(shown_ratio(p.flop, c)));
    for (const Level l : levels) cells.push_back(change_text(shown_ratio(p.bytes[l], c)));
    for (const Level l : levels) cells.push_back(change_text(shown_ratio(p.intensity[l], c)));
    if (timed) cells.push_back(explained_text(p));
    return cells;
}

Table table_of(const Comparison& c, const TextStyle& style) {
    const ShownColumns shown{levels_of(c), times_compare(c), any_change(c, &ComparedPair::launches),
                             any_change(c, &ComparedPair::clock)};
    const auto& [levels, timed, counts, clocks] = shown;
    std::vector<TableColumn> columns{{"kernel", false, 100, 16}, {"before", true, 80}, {"after", true, 80}};
    if (timed) columns.push_back({c.is_prediction ? "error" : "change", true, 90});
    if (counts) columns.push_back({"count", true, 65});
    if (clocks) columns.push_back({"clock", true, 66});
    columns.push_back({"FLOP", true, 40});
    for (const Level l : levels) columns.push_back({std::string(name(l)), true, 70});
    for (const Level l : levels) columns.push_back({fmt::format("AI {}", name(l)), true, 20});
    if (timed) columns.push_back({"explained by", false, 85});
    columns.push_back({"phase", false, 75});
    Table table(columns);
    std::vector<const Kernel*> kernels;
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < std::min(c.pairs.size(), style.max_rows); ++i) {
        kernels.push_back(&shown_kernel(c.pairs[i], c));
        names.emplace_back(kernels.back()->name.str());
    }
    const std::vector<std::string> phases = phase_cells(kernels);
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        const ComparedPair& p = c.pairs[i];
        std::vector<TableCell> cells = cells_of(printable(short_name(names[i]), !style.unicode), p, c, shown);
        if (timed && (!p.before || !p.after)) cells[3] = p.before ? "only before" : "only after";
        cells.push_back(printable(phases[i], !style.unicode));
        table.add({std::move(cells), p.before && p.after ? "" : "faint", {}});
    }
    std::vector<TableCell> all = cells_of("all", c.total, c, shown);
    if (times_compare(c)) all.back() = {};  // a sum has no roof that binds
    table.total = std::move(all);
    const std::vector<std::string> shorts =
        short_names(names, static_cast<std::size_t>(first_column_width(table, style)));
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        const ComparedPair& p = c.pairs[i];
        std::string first = shorts[i] + (p.by_base_name ? " (template)" : "");
        if (!timed && !(p.before && p.after)) first = (p.before ? "only before: " : "only after: ") + first;
        table.rows[i].cells.front() = printable(first, !style.unicode);
    }
    return table;
}

}  // namespace

std::string comparison_text(std::span<const Comparison> comparisons, const TextStyle& style) {
    std::string out;
    const auto line = [&](const std::string& text, std::string_view color) {
        for (auto& l : wrapped(printable(text, !style.unicode), style.width))
            out += painted(std::move(l), color, style.color) + "\n";
    };
    for (const auto& c : comparisons) {
        if (!out.empty()) out += "\n";
        line(fmt::format("{} -> {}", c.before.title, c.after.title), "1");
        for (const auto& sentence : summary_of(c)) line(sentence, "");
        out += "\n" + terminal_text(table_of(c, style), style);
        if (c.pairs.size() > style.max_rows)
            line(fmt::format("{} more pairs; --top N shows them, --csv has all.", c.pairs.size() - style.max_rows),
                 "2");
    }
    return out;
}

}  // namespace gambrel
