// One self-contained, interactive HTML page for results of any origin, in views that the reader switches between. Plain
// structs that every command can fill; a part that is empty is not shown. Computes no verdict, makes no network
// request, and equal input gives equal bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gambrel/base.hpp>
#include <gambrel/compare.hpp>
#include <gambrel/roofline.hpp>

namespace gambrel {

// One layer of a network, in the order in which it runs.
struct PageLayer {
    std::string name;
    std::string detail;              // shape, tile: whatever explains it, on one line
    Seconds time{};                  // its width in the strip
    std::string bottleneck;          // its colour: "DRAM", "L2", "Tensor FP16", "DRAM latency"
    std::optional<std::size_t> row;  // of the view's analysis: a click isolates that kernel
};

// A chart of curves or points beside the Roofline. A sweep: x = working set, y = bandwidth, one guide for each level
// that was detected. Sensitivity: x = factor on a resource, y = speed-up, one series for each resource. A Pareto front:
// a series of all designs without a line, and one of the front with a line.
struct PageMark {
    double x = 0, y = 0;
    std::optional<double> low, high;  // spread of y
    std::string label;                // shown on hover: a design's name, a bottleneck
    bool chosen = false;              // drawn larger and named: the design that the reader is led to
};
struct PageSeries {
    std::string name;
    std::vector<PageMark> marks;
    bool line = true;            // joined, in the order given
    std::optional<Level> level;  // its colour is that of the level
};
struct PageGuide {  // a level line at y = value, over all x or a part
    std::string label;
    double value = 0;
    std::optional<double> from, to;
    std::optional<Level> level;
};
struct PageLimit {  // an upright line at x = value: where a capacity ends
    std::string label;
    double value = 0;
    std::optional<Level> level;
};
struct PageAxis {
    std::string label;         // "Working set"
    std::string unit;          // "B", "B/s", "FLOP/s", "s"; prefixes are added to it. Empty: a plain number
    bool log = false;          // values that are not positive are then left out
    bool powers_of_2 = false;  // KiB, MiB
};
struct PageChart {
    std::string title, note;
    PageAxis x, y;
    std::vector<PageSeries> series;
    std::vector<PageGuide> guides;
    std::vector<PageLimit> limits{};
};

// Lines of bars side by side, each of one or several parts: elasticities, the time of designs by what it waits for.
struct PageBar {
    std::string label, note;    // note: on hover
    std::vector<double> parts;  // in the order of PageBars::parts
};
struct PageBars {
    std::string title, note;
    PageAxis x;
    std::vector<std::string> parts;  // names; coloured as the bottlenecks of these names are
    std::vector<PageBar> bars;
    bool stacked = true;  // else the parts lie under each other, each from zero
};

// A table that is sorted by its heads. The value of a cell is what sorting goes by, and, in a shaded column, how dark
// its ground is from 0 to 1; without one the text.
struct PageCell {
    std::string text;
    std::optional<double> value;
};
struct PageColumn {
    std::string title;
    bool number = false, shaded = false;
};
struct PageTableRow {
    enum class State : std::uint8_t { plain, good, bad };
    std::vector<PageCell> cells;
    State state = State::plain;
};
struct PageTable {
    std::string title;
    std::vector<std::string> notes;  // sentences under it
    std::vector<PageColumn> columns;
    std::vector<PageTableRow> rows;
};

// A view as a page holds it, read back by read_page: shown as it was, whatever command made it.
struct SavedView {
    std::string title, json;
};

struct PageView {
    std::string title;                       // on its tab
    const Analysis* analysis = nullptr;      // must outlive the call
    const Comparison* comparison = nullptr;  // in place of an analysis
    std::vector<PageLayer> layers;
    std::vector<PageChart> charts;
    std::vector<PageBars> bars{};
    std::vector<PageTable> tables{};
    std::string command{};             // that made it, where that is not the page's
    std::optional<SavedView> saved{};  // in place of all the above but the title
};

struct PageInput {
    std::string title;
    std::string command;  // that made it, as one would type it
    bool dark = false;    // else as the reader's system has it; the page can be switched
    std::vector<PageView> views;
    bool overview = false;  // a first tab that tells of all views
};
std::string html_page(const PageInput& input);

// The views of a page that html_page made with this version's format. Every index and type that the page's scripts rely
// on is checked; all faults at once.
Result<std::vector<SavedView>> read_page(std::string_view html, const std::string& source);
bool is_page(std::string_view text);

}  // namespace gambrel
