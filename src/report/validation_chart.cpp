#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <gambrel/validation_report.hpp>

#include "report/palette.hpp"
#include "report/svg_writer.hpp"
#include "report/text.hpp"

namespace gambrel {
namespace {

using namespace report_detail;

constexpr double kPanel = 380, kPlot = 300, kLeft = 56, kTop = 64;

struct Range {
    double low = 0, high = 1;  // decades
    [[nodiscard]] double at(double value) const { return (std::log10(value) - low) / (high - low) * kPlot; }
};

std::vector<std::size_t> quantities(const Validation& v) {
    std::vector<std::size_t> found;
    for (std::size_t q = 0; q < kValidatedQuantities; ++q)
        if (std::any_of(v.rows.begin(), v.rows.end(), [&](const auto& row) { return row.measured[q] > 0; }))
            found.push_back(q);
    return found;
}

Range range_of(const Validation& v, std::size_t q) {
    double low = 1e300, high = 0;
    for (const ValidationRow& row : v.rows) {
        if (row.measured[q] <= 0) continue;
        low = std::min(low, row.measured[q]);
        high = std::max(high, row.measured[q]);
    }
    Range r{std::floor(std::log10(low)), std::ceil(std::log10(high))};
    if (r.high - r.low < 1) r.high = r.low + 1;
    return r;
}

std::string tick_text(std::size_t q, double decade) {
    const double value = std::pow(10.0, decade);
    return static_cast<ValidatedQuantity>(q) == ValidatedQuantity::time ? to_text(Seconds{value}, 3) : to_text(Bytes{value}, 3);
}

std::string_view color_of(const Palette& p, std::size_t q) {
    switch (static_cast<ValidatedQuantity>(q)) {
        case ValidatedQuantity::l1:
            return p.level[Level::l1];
        case ValidatedQuantity::l2:
            return p.level[Level::l2];
        case ValidatedQuantity::dram:
            return p.level[Level::dram];
        case ValidatedQuantity::time:
            break;
    }
    return p.level[Level::shared];
}

void axes(SvgWriter& svg, const Palette& p, const Range& r, std::size_t q) {
    for (double decade = r.low; decade <= r.high; ++decade) {
        const double x = (decade - r.low) / (r.high - r.low) * kPlot, y = kPlot - x;
        svg.empty("line", {{"x1", x}, {"y1", 0.0}, {"x2", x}, {"y2", kPlot}, {"stroke", p.grid}});
        svg.empty("line", {{"x1", 0.0}, {"y1", y}, {"x2", kPlot}, {"y2", y}, {"stroke", p.grid}});
        svg.text_element(
            "text", tick_text(q, decade),
            {{"x", x}, {"y", kPlot + 16}, {"text-anchor", "middle"}, {"fill", p.muted}, {"font-size", 11.0}});
        svg.text_element("text", tick_text(q, decade),
                         {{"x", -6.0}, {"y", y + 4}, {"text-anchor", "end"}, {"fill", p.muted}, {"font-size", 11.0}});
    }
    svg.empty("rect",
              {{"x", 0.0}, {"y", 0.0}, {"width", kPlot}, {"height", kPlot}, {"fill", "none"}, {"stroke", p.frame}});
    svg.empty("line", {{"x1", 0.0}, {"y1", kPlot}, {"x2", kPlot}, {"y2", 0.0}, {"stroke", p.ink}});
    // Within 10 % of measured.
    const double tenth = std::log10(1.1) / (r.high - r.low) * kPlot;
    for (const double shift : {tenth, -tenth})
        svg.empty("line", {{"x1", std::max(0.0, -shift)},
                           {"y1", std::min(kPlot, kPlot - shift)},
                           {"x2", std::min(kPlot, kPlot - shift)},
                           {"y2", std::max(0.0, -shift)},
                           {"stroke", p.muted},
                           {"stroke-dasharray", "3 3"}});
}

}  // namespace

std::string validation_svg(const Validation& v, const std::string& title, Theme theme) {
    const Palette p = palette(theme);
    const std::vector<std::size_t> shown = quantities(v);
    const double width = std::max<double>(1, static_cast<double>(shown.size())) * kPanel + 16,
                 height = kTop + kPlot + 56;
    SvgWriter svg;
    svg.open("svg", {{"xmlns", "http://www.w3.org/2000/svg"},
                     {"width", width},
                     {"height", height},
                     {"viewBox", fmt::format("0 0 {} {}", svg_number(width), svg_number(height))},
                     {"font-family", "system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"}});
    svg.empty("rect", {{"width", width}, {"height", height}, {"fill", p.background}});
    svg.text_element("text", printable(title) + ": predicted (up) against measured (right); dashed: 10 % off",
                     {{"x", 16.0}, {"y", 26.0}, {"fill", p.ink}, {"font-size", 15.0}});
    for (std::size_t i = 0; i < shown.size(); ++i) {
        const std::size_t q = shown[i];
        const Range r = range_of(v, q);
        const ErrorSummary s = summary(v.rows, static_cast<ValidatedQuantity>(q), EstimateSource::gambrel);
        svg.open("g",
                 {{"transform", fmt::format("translate({} {})", svg_number(kLeft + static_cast<double>(i) * kPanel),
                                            svg_number(kTop))}});
        svg.text_element("text",
                         fmt::format("{}: {} rows, mean error {:.1f} %, bias {:+.1f} %", name(static_cast<ValidatedQuantity>(q)),
                                     s.rows, 100 * s.mean, 100 * s.bias),
                         {{"x", 0.0}, {"y", -10.0}, {"fill", p.ink}, {"font-size", 13.0}});
        axes(svg, p, r, q);
        svg.open("g", {{"fill", color_of(p, q)}, {"fill-opacity", v.rows.size() > 2000 ? "0.25" : "0.6"}});
        for (const ValidationRow& row : v.rows) {
            const double ours = row.predicted[static_cast<std::size_t>(EstimateSource::gambrel)][q];
            if (row.measured[q] <= 0 || ours <= 0) continue;
            const double y = std::clamp(kPlot - r.at(ours), 0.0, kPlot);
            svg.empty("circle", {{"cx", r.at(row.measured[q])}, {"cy", y}, {"r", v.rows.size() > 2000 ? 1.5 : 3.0}});
        }
        svg.close();
        svg.close();
    }
    svg.close();
    return svg.take();
}

}  // namespace gambrel
