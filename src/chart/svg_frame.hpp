// What all drawings have in common: the root element, the heading, ticks and titles of axes, a legend, sentences below.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chart/label_placement.hpp"
#include "chart/palette.hpp"
#include "chart/scale.hpp"
#include "chart/svg_writer.hpp"

namespace gambrel::chart_detail {

inline constexpr double kMargin = 24, kCaptionSize = 10.5, kCaptionLine = 15;

struct Heading {
    std::string_view title, subtitle;
    std::string description{};  // for those who cannot see the drawing
};
// Opens <svg>, paints the ground and writes the heading, which ends 60 pixels below the top.
void open_drawing(SvgWriter& svg, const Heading& heading, double width, double height, const Palette& colors);

void draw_line(SvgWriter& svg, const Segment& line, std::string_view color, double width, std::string_view dashes = {});
// With a halo, so that it stays readable where a line passes behind it.
void draw_label(SvgWriter& svg, std::string_view text, double x, double y, std::string_view color, double size,
                const Palette& colors, double angle = 0);

// Grid lines, ticks and titles around `plot`. An axis without a label is not drawn.
void draw_axes(SvgWriter& svg, const Box& plot, const Scale& x, const Scale& y, const Palette& colors);

// Swatches and names from (x, y) to `right`, in as many lines as they need; returns the height of these.
using Legend = std::vector<std::pair<std::string, std::string_view>>;  // name, colour
double legend_height(const Legend& legend, double x, double right);
void draw_legend(SvgWriter& svg, const Legend& legend, double x, double y, double right, const Palette& colors);

std::vector<std::string> caption_lines(std::string_view text, double width);
void draw_caption(SvgWriter& svg, const std::vector<std::string>& lines, double x, double y, const Palette& colors);

}  // namespace gambrel::chart_detail
