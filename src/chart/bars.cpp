#include "chart/bars.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "chart/scale.hpp"
#include "chart/text.hpp"

namespace gambrel::chart_detail {
namespace {

double sum(const Bar& bar) { return std::accumulate(bar.parts.begin(), bar.parts.end(), 0.0); }

}  // namespace

std::string bar_text(const BarChart& chart, const Bar& bar) {
    if (!bar.text.empty()) return printable(bar.text);
    return value_text(chart.stacked ? sum(bar) : bar.parts.empty() ? 0 : bar.parts.front(), chart.x);
}

std::vector<double> bar_lengths(const BarChart& chart) {
    std::vector<double> out{0};
    for (const Bar& b : chart.bars) {
        if (chart.stacked)
            out.push_back(sum(b));
        else
            out.insert(out.end(), b.parts.begin(), b.parts.end());
    }
    return out;
}

const NamedColor& part_color(const BarChart& chart, std::size_t part) {
    return color_of(chart.stacked ? std::string_view(chart.parts[part]) : std::string_view{}, part);
}

bool is_drawn(const BarChart& chart, std::size_t part) {
    return !chart.stacked || std::any_of(chart.bars.begin(), chart.bars.end(), [part](const Bar& b) {
        return part < b.parts.size() && b.parts[part] > 0.002 * sum(b);
    });
}

}  // namespace gambrel::chart_detail
