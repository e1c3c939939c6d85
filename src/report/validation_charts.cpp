#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <gambrel/report.hpp>

#include "report/numbers.hpp"

namespace gambrel {
namespace {

using namespace report_detail;

Chart chart_of(const Validation& v, ValidatedQuantity quantity) {
    const auto q = static_cast<std::size_t>(quantity), ours = static_cast<std::size_t>(EstimateSource::gambrel);
    const bool time = quantity == ValidatedQuantity::time;
    const ErrorSummary s = summary(v.rows, quantity, EstimateSource::gambrel);
    Chart chart;
    chart.title = fmt::format("{}: {}, mean error {:.1f} %, bias {:+.1f} %", name(quantity), plural(s.rows, "row"),
                              100 * s.mean, 100 * s.bias);
    chart.subtitle = "modelled against measured";
    chart.x = {"Measured", time ? "s" : "B", true, false}, chart.y = {"Predicted", time ? "s" : "B", true, false};
    ChartSeries rows{"rows", {}, false, time ? "latency" : std::string(name(quantity))};
    double low = 0, high = 0;
    for (const ValidationRow& row : v.rows) {
        const double measured = row.measured[q], predicted = row.predicted[ours][q];
        if (!(measured > 0) || !(predicted > 0)) continue;
        rows.marks.push_back({measured, predicted, {}, {}, fmt::format("line {}, {}", row.line, row.name)});
        low = low == 0 ? measured : std::min(low, measured), high = std::max(high, measured);
    }
    chart.series.push_back(std::move(rows));
    for (const auto& [label, factor] : {std::pair{"equal", 1.0}, {"+10 %", 1.1}, {"-10 %", 1 / 1.1}})
        chart.series.push_back(
            {label, {{low, low * factor, {}, {}, ""}, {high, high * factor, {}, {}, ""}}, true, {}, false});
    return chart;
}

}  // namespace

std::vector<Chart> validation_charts(const Validation& v) {
    std::vector<Chart> charts;
    for (std::size_t q = 0; q < kValidatedQuantities; ++q)
        if (std::any_of(v.rows.begin(), v.rows.end(), [q](const ValidationRow& row) { return row.measured[q] > 0; }))
            charts.push_back(chart_of(v, static_cast<ValidatedQuantity>(q)));
    return charts;
}

std::string validation_svg(const Validation& v, const std::string& title, Theme theme) {
    ChartStyle style;
    style.theme = theme;
    return svg(title, fmt::format("predicted (modelled) against measured{}", v.partial ? " · partial result" : ""),
               validation_charts(v), style);
}

}  // namespace gambrel
