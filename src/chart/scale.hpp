// An axis of a chart: where a value lies, which ticks it has, and how a number of that axis is spelled.
#pragma once

#include <string>
#include <vector>

#include <gambrel/chart.hpp>

#include "chart/palette.hpp"

namespace gambrel::chart_detail {

// "12.4 TB/s", "128 KiB", "1.25".
std::string value_text(double value, const ChartAxis& axis);
bool usable(double value, const ChartAxis& axis);  // finite, and positive on a logarithmic axis

struct Tick {
    double at = 0;  // pixels or cells
    std::string text;
};

struct Scale {
    ChartAxis axis;
    double low = 0, high = 1;  // of the data; log10 of it on a logarithmic axis
    double from = 0, to = 1;   // of the drawing
    [[nodiscard]] double at(double value) const;
    // As many as fit if each needs `room`.
    [[nodiscard]] std::vector<Tick> ticks(double room) const;
};
// From just below the least usable value to just above the largest; from zero if they start near it, and over a tenth
// of the largest at least.
Scale scale_of(const std::vector<double>& values, const ChartAxis& axis, double from, double to);

// The values that the axes of a chart must show. An interval far from its median does not count: a point that was
// hardly measured must not squeeze the rest.
std::vector<double> x_values(const Chart& chart);
std::vector<double> y_values(const Chart& chart);
// Series of one name share a colour. Beside series whose names have colours of their own, the others are lines of
// reference and faint, because there every hue stands for a name.
const NamedColor& series_color(const Chart& chart, std::size_t series);

}  // namespace gambrel::chart_detail
