#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/compare_words.hpp"
#include "report/numbers.hpp"
#include "report/page_json.hpp"
#include "report/roofline_plot.hpp"

namespace gambrel::report_detail {
namespace {

ChartSeries at_level(const Comparison& c, Level level) {
    ChartSeries series{std::string(name(level)), {}, false, std::string(name(level))};
    for (const ComparedPair& p : c.pairs) {
        const Change& bytes = p.bytes[level];
        if (!positive(bytes.before.value_or(0)) || !positive(bytes.after.value_or(0))) continue;
        const Kernel& kernel = shown_kernel(p, c);
        series.marks.push_back({*bytes.before,
                                *bytes.after,
                                {},
                                {},
                                fmt::format("{} at {}: {}", short_name(kernel.name.str(), 64), name(level),
                                            change_text(shown_ratio(bytes, c)))});
    }
    return series;
}

}  // namespace

Chart traffic_chart(const Comparison& c) {
    Chart chart;
    chart.title = "Bytes of each pair";
    chart.subtitle = fmt::format("{} against {}", origins_text(c.after), origins_text(c.before));
    chart.note = "On the line the two sides agree; above it the second moves more.";
    chart.x = {fmt::format("Bytes in {}", c.before.title), "B", true, false};
    chart.y = {fmt::format("Bytes in {}", c.after.title), "B", true, false};
    double low = 0, high = 0;
    for (const Level level : all_levels()) {
        ChartSeries series = at_level(c, level);
        for (const ChartMark& m : series.marks) {
            low = low == 0 ? std::min(m.x, m.y) : std::min({low, m.x, m.y});
            high = std::max({high, m.x, m.y});
        }
        if (!series.marks.empty()) chart.series.push_back(std::move(series));
    }
    if (!chart.series.empty())
        chart.series.insert(chart.series.begin(),
                            {"equal", {{low, low, {}, {}, ""}, {high, high, {}, {}, ""}}, true, {}, false});
    return chart;
}

}  // namespace gambrel::report_detail
