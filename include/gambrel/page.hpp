// One self-contained, interactive HTML page for results of any origin, in views that the reader switches between. Plain
// structs that every command can fill; a part that is empty is not shown. Computes no verdict, makes no network
// request, and equal input gives equal bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <gambrel/analysis.hpp>
#include <gambrel/compare.hpp>

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
};

struct PageView {
    std::string title;                       // on its tab
    const Analysis* analysis = nullptr;      // must outlive the call
    const Comparison* comparison = nullptr;  // in place of an analysis
    std::vector<PageLayer> layers;
    std::vector<PageChart> charts;
};

struct PageInput {
    std::string title;
    std::string command;  // that made it, as one would type it
    bool dark = false;    // else as the reader's system has it; the page can be switched
    std::vector<PageView> views;
};
std::string html_page(const PageInput& input);

}  // namespace gambrel
