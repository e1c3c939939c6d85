// A plane to draw data on: a frame with ticks, and where a value lies. Linear or logarithmic; knows no data.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <gambrel/delta.hpp>

#include "report/palette.hpp"
#include "report/svg_writer.hpp"

namespace gambrel::report_detail {

struct Scale {
    double low = 0, high = 1;  // of the data
    double from = 0, to = 1;   // of the drawing
    bool logarithmic = false;
    [[nodiscard]] double at(double value) const;
};
// Round values from low to high: 1, 2, 5 times powers of ten, or of a logarithmic scale halves, doubles and what lies
// between.
std::vector<double> round_ticks(const Scale& scale, int wanted);

struct Plot {
    std::string title, subtitle, x_title, y_title;
    Scale x, y;
    double width = 960, height = 600;
    Palette colors;
};
// Opens the drawing: background, heading, frame, ticks. An empty title leaves the axis without ticks.
void open_plot(SvgWriter& svg, const Plot& plot);

std::string_view term_color(Term term, Theme theme);
std::string_view term_terminal_color(Term term);
// Name and box of each term that `used` says is drawn.
void draw_term_legend(SvgWriter& svg, const Plot& plot, Theme theme, const std::vector<Term>& used, double y);

}  // namespace gambrel::report_detail
