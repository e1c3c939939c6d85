#include <algorithm>

#include <fmt/format.h>

#include <gambrel/report.hpp>

#include "chart/text.hpp"
#include "report/compare_words.hpp"
#include "report/numbers.hpp"

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

std::string seconds(const std::optional<double>& v) { return v ? to_text(Seconds{*v}, 3) : "-"; }

std::vector<TableCell> cells_of(std::string first, const ComparedPair& p, const Comparison& c,
                                const std::vector<Level>& levels) {
    const bool timed = times_compare(c);
    std::vector<TableCell> cells{std::move(first), seconds(p.time.before), seconds(p.time.after)};
    if (timed) cells.push_back(change_text(shown_ratio(p.time, c)));
    cells.push_back(change_text(shown_ratio(p.flop, c)));
    for (const Level l : levels) cells.push_back(change_text(shown_ratio(p.bytes[l], c)));
    for (const Level l : levels) cells.push_back(change_text(shown_ratio(p.intensity[l], c)));
    if (timed) cells.push_back(explained_text(p));
    return cells;
}

Table table_of(const Comparison& c, const TextStyle& style) {
    const std::vector<Level> levels = levels_of(c);
    const bool timed = times_compare(c);
    std::vector<TableColumn> columns{{"kernel", false, 100, 16}, {"before", true, 80}, {"after", true, 80}};
    if (timed) columns.push_back({c.is_prediction ? "error" : "change", true, 90});
    columns.push_back({"FLOP", true, 40});
    for (const Level l : levels) columns.push_back({std::string(name(l)), true, 70});
    for (const Level l : levels) columns.push_back({fmt::format("AI {}", name(l)), true, 20});
    if (timed) columns.push_back({"explained by", false, 60});
    Table table(columns);
    for (std::size_t i = 0; i < std::min(c.pairs.size(), style.max_rows); ++i) {
        const ComparedPair& p = c.pairs[i];
        std::string first = short_name(shown_kernel(p, c).name.str(), 48);
        if (!p.after) first = "only before: " + first;
        if (!p.before) first = "only after: " + first;
        table.add({cells_of(printable(first, !style.unicode), p, c, levels), p.before && p.after ? "" : "faint", {}});
    }
    std::vector<TableCell> all = cells_of("all", c.total, c, levels);
    if (times_compare(c)) all.back() = {};  // a sum has no roof that binds
    table.total = std::move(all);
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
