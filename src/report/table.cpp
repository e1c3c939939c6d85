#include "report/table.hpp"

#include <algorithm>
#include <numeric>

#include "report/text.hpp"

namespace gambrel::report_detail {
namespace {

constexpr int kGap = 2;

int needed(const std::vector<int>& widths) {
    int sum = 0;
    for (const int w : widths)
        if (w > 0) sum += w + (sum > 0 ? kGap : 0);
    return sum;
}

// A width of 0 takes the column out. Flexible columns give way to their least width before any other column leaves.
void fit(std::vector<int>& widths, const std::vector<Column>& columns, int available) {
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

}  // namespace

std::vector<int> Table::widths(int available) const {
    std::vector<int> widths(columns_.size(), 0);
    const auto widen = [&](const std::vector<std::string>& cells) {
        for (std::size_t i = 0; i < cells.size() && i < widths.size(); ++i)
            widths[i] = std::max(widths[i], display_width(cells[i]));
    };
    for (const auto& row : rows_) widen(row.cells);
    widen(total_);
    for (std::size_t i = 0; i < widths.size(); ++i)
        if (widths[i] > 0 || i == 0) widths[i] = std::max(widths[i], display_width(columns_[i].title));
    fit(widths, columns_, available);
    return widths;
}

int Table::first_width(const TextStyle& style) const { return widths(style.width).front(); }

std::string Table::text(const TextStyle& style) const {
    const std::vector<int> width = widths(style.width);
    const auto line = [&](const auto& cell) {
        std::string out;
        for (std::size_t i = 0; i < width.size(); ++i) {
            if (width[i] == 0) continue;
            if (!out.empty()) out.append(kGap, ' ');
            out += aligned(truncated(cell(i), width[i], !style.unicode), width[i], columns_[i].right);
        }
        out.erase(out.find_last_not_of(' ') + 1);
        return out;
    };
    std::string rule;
    for (int i = 0; i < needed(width); ++i) rule += style.unicode ? "─" : "-";
    rule = painted(rule, "2", style.color) + "\n";

    std::string out = painted(line([&](std::size_t i) { return columns_[i].title; }), "1", style.color) + "\n" + rule;
    for (const auto& row : rows_) {
        out += painted(line([&](std::size_t i) { return row.cells[i]; }), row.color, style.color) + "\n";
        for (const auto& below : row.below) out += painted(below, "2", style.color) + "\n";
    }
    if (!total_.empty()) out += rule + painted(line([&](std::size_t i) { return total_[i]; }), "1", style.color) + "\n";
    return out;
}

}  // namespace gambrel::report_detail
