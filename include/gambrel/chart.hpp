// What a view shows, before anything is drawn: charts of curves and points, charts of bars, tables. Plain data that
// knows no GPU. Three renderers draw each chart: terminal text, SVG, and the page's scripts (report.hpp puts it on a
// page). Renderers return text and print nothing. Equal input gives equal bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gambrel/base.hpp>

namespace gambrel {

enum class Theme : std::uint8_t { light, dark };

struct TextStyle {
    int width = 100;      // columns of the terminal; lines never exceed it
    bool color = false;   // ANSI colours
    bool unicode = true;  // box drawing and braille; plain ASCII otherwise
    std::size_t max_rows = 30;
    bool explain = false;  // under each row: the rule of each amount, the time of each roof, findings
};

struct ChartStyle {
    Theme theme = Theme::light;
    double width = 960, height = 600;  // CSS pixels
    std::size_t max_labels = 12;       // kernels named beside their points, the longest-running first
    std::size_t max_kernels = 400;     // drawn; the rest is counted in a note under the chart
};

// Wherever a `color` is a name, the same name has the same colour in all charts and renderers: "L1", "DRAM", "latency".
// An empty name, or one without a colour of its own, takes the next of the palette.

struct ChartAxis {
    std::string label;         // "Working set"
    std::string unit;          // "B", "B/s", "FLOP/s", "s"; prefixes are added to it. Empty: a plain number
    bool log = false;          // values that are not positive are then left out
    bool powers_of_2 = false;  // KiB, MiB
};
struct ChartMark {
    double x = 0, y = 0;
    std::optional<double> low, high;  // 95 % interval of y
    std::string label;                // shown on hover: a design's name, a bottleneck
    bool chosen = false;              // drawn larger and named by its label up to the first colon
};
struct ChartSeries {
    std::string name;
    std::vector<ChartMark> marks;
    bool line = true;  // joined, in the order given
    std::string color{};
    bool dots = true;  // else a line alone, which bears its name: a contour, a diagonal
};
struct ChartGuide {  // a level line at y = value, over all x or a part
    std::string label;
    double value = 0;
    std::optional<double> from, to;
    std::string color{};
};
struct ChartLimit {  // an upright line at x = value: where a capacity ends
    std::string label;
    double value = 0;
    std::string color{};
};
struct Chart {
    std::string title;
    std::string subtitle;  // on which machine, and whether it was measured, modelled, simulated or derived
    std::string note;      // sentences under the drawing
    ChartAxis x, y;
    std::vector<ChartSeries> series;
    std::vector<ChartGuide> guides{};
    std::vector<ChartLimit> limits{};
};

// Lines of bars below each other, each of one or several parts: elasticities, the time of designs by what it waits for.
struct Bar {
    std::string label, note;    // note: what the bar stands for
    std::vector<double> parts;  // in the order of BarChart::parts
    std::string text{};         // at its end; empty: the sum of its parts, or the first if they are not stacked
};
struct BarChart {
    std::string title, subtitle, note;  // as those of Chart
    ChartAxis x;
    std::vector<std::string> parts;  // names, which are also their colours
    std::vector<Bar> bars;
    bool stacked = true;  // else the parts lie under each other, each from zero
};

struct TableCell {
    std::string text;
    std::optional<double> value;  // what a page sorts by, and in a shaded column how dark the cell is, from 0 to 1
    TableCell() = default;
    TableCell(std::string t, std::optional<double> v = {}) : text(std::move(t)), value(v) {}
    TableCell(const char* t) : text(t) {}
};
struct TableColumn {
    std::string title;
    bool number = false;  // set to the right
    int priority = 0;     // in a terminal the lowest leaves first; a column that is empty in all rows is never shown
    int least = 0;        // how narrow a terminal may cut it; 0: never
    bool shaded = false;  // on a page
};
struct TableRow {
    std::vector<TableCell> cells;
    std::string color{};               // of the whole row: "good", "bad", "notice", "strong", or as those of charts
    std::vector<std::string> below{};  // lines under the row in a terminal, already as narrow as the style asks
};
struct Table {
    std::string title;
    std::vector<std::string> notes;  // sentences under it
    std::vector<TableColumn> columns;
    std::vector<TableRow> rows;
    std::vector<TableCell> total;
    Table() = default;
    explicit Table(std::vector<TableColumn> c) : columns(std::move(c)) {}
    void add(TableRow row) { rows.push_back(std::move(row)); }
};

// Terminal. Every line ends with a newline and has at most style.width columns (50 to 250 in charts).
std::string terminal_text(const Chart& chart, const TextStyle& style);
std::string terminal_text(const BarChart& chart, const TextStyle& style);
// Columns, rows and total only: title and notes belong to the text around it.
std::string terminal_text(const Table& table, const TextStyle& style);
// How wide the first column will be, for cells that can say the same in fewer columns.
int first_column_width(const Table& table, const TextStyle& style);

// SVG: one chart, or several as panels under one heading. Without charts the drawing says that there is nothing to
// draw.
std::string svg(const Chart& chart, const ChartStyle& style = {});
std::string svg(const BarChart& chart, const ChartStyle& style = {});
std::string svg(std::string_view title, std::string_view subtitle, std::span<const Chart> panels,
                const ChartStyle& style = {});

// An SVG as bytes of another format. librsvg and cairo are opened when they are first needed; where they are missing
// the error says which package has them.
Result<std::string> svg_to_png(const std::string& svg, double scale = 2.0);
Result<std::string> svg_to_pdf(const std::string& svg);

}  // namespace gambrel
