#include <algorithm>
#include <numeric>

#include <gambrel/chart.hpp>

#include "chart/palette.hpp"
#include "chart/text.hpp"

namespace gambrel {
namespace {

using namespace chart_detail;

constexpr int kColumnGap = 2;

int needed(const std::vector<int>& widths) {
    int sum = 0;
    for (const int w : widths)
        if (w > 0) sum += w + (sum > 0 ? kColumnGap : 0);
    return sum;
}

// A width of 0 takes the column out. Flexible columns give way to their least width before any other column leaves.
void fit(std::vector<int>& widths, const std::vector<TableColumn>& columns, int available) {
    const auto least_total = [&] {
        auto least = widths;
        for (std::size_t i = 0; i < least.size(); ++i)
            if (columns[i].least > 0) least[i] = std::min(least[i], columns[i].least);
        return needed(least);
    };
    while (least_total() > available) {
        std::size_t victim = widths.size();
        for (std::size_t i = 0; i < widths.size(); ++i)
            if (widths[i] > 0 && (victim == widths.size() || columns[i].priority < columns[victim].priority))
                victim = i;
        if (victim == widths.size()) return;
        widths[victim] = 0;
    }
    for (std::size_t i = widths.size(); i-- > 0;) {
        const int excess = needed(widths) - available;
        if (excess <= 0) return;
        if (columns[i].least > 0 && widths[i] > 0) widths[i] -= std::min(excess, widths[i] - columns[i].least);
    }
}

std::vector<int> widths_of(const Table& table, const TextStyle& style) {
    std::vector<int> widths(table.columns.size(), 0);
    const auto widen = [&](const std::vector<TableCell>& cells) {
        for (std::size_t i = 0; i < cells.size() && i < widths.size(); ++i)
            widths[i] = std::max(widths[i], display_width(printable(cells[i].text, !style.unicode)));
    };
    for (const auto& row : table.rows) widen(row.cells);
    widen(table.total);
    for (std::size_t i = 0; i < widths.size(); ++i)
        if (widths[i] > 0 || i == 0)
            widths[i] = std::max(widths[i], display_width(printable(table.columns[i].title, !style.unicode)));
    fit(widths, table.columns, style.width);
    return widths;
}

}  // namespace

int first_column_width(const Table& table, const TextStyle& style) { return widths_of(table, style).front(); }

std::string terminal_text(const Table& table, const TextStyle& style) {
    const std::vector<int> width = widths_of(table, style);
    const auto line = [&](const auto& text) {
        std::string out;
        for (std::size_t i = 0; i < width.size(); ++i) {
            if (width[i] == 0) continue;
            if (!out.empty()) out.append(kColumnGap, ' ');
            out += aligned(truncated(printable(text(i), !style.unicode), width[i], !style.unicode), width[i],
                           table.columns[i].number);
        }
        out.erase(out.find_last_not_of(' ') + 1);
        return out;
    };
    const auto cells = [&](const std::vector<TableCell>& all) {
        return line(
            [&](std::size_t i) -> std::string_view { return i < all.size() ? all[i].text : std::string_view{}; });
    };
    std::string rule;
    for (int i = 0; i < needed(width); ++i) rule += style.unicode ? "─" : "-";
    rule = painted(rule, "2", style.color) + "\n";

    std::string out =
        painted(line([&](std::size_t i) -> std::string_view { return table.columns[i].title; }), "1", style.color) +
        "\n" + rule;
    for (const auto& row : table.rows) {
        out += painted(cells(row.cells), terminal_color(row.color), style.color) + "\n";
        for (const auto& below : row.below) out += painted(below, "2", style.color) + "\n";
    }
    if (!table.total.empty()) out += rule + painted(cells(table.total), "1", style.color) + "\n";
    return out;
}

}  // namespace gambrel
