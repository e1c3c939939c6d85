// What a Roofline chart shows, before any pixel: which roofs, which kernels at which intensities, the axes, the words.
// Shared by SVG, terminal and page. Everything comes from the Analysis; what cannot be drawn is counted in the caption.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <gambrel/compare.hpp>
#include <gambrel/roofline.hpp>

namespace gambrel::report_detail {

// What a logarithmic axis can show.
inline bool positive(double v) { return std::isfinite(v) && v > 0; }

struct PlottedRoof {
    Bound what;        // a Level (a slope) or a Pipe (flat)
    double value = 0;  // B/s or FLOP/s
    bool measured = false;
    std::string label;  // "DRAM 897 GB/s"
};

struct PlottedPoint {
    Level level = Level::dram;
    double intensity = 0;
    bool above = false;  // the verdict says it is above a roof
};

struct PlottedKernel {
    const AnalysisRow* row = nullptr;
    double time = 0;
    double rate = 0;  // FLOP/s
    std::vector<PlottedPoint> points;
    // Where it was before, in a comparison.
    double rate_before = 0;
    std::vector<PlottedPoint> points_before;
};

struct LogRange {  // decades: log10 of the ends of an axis
    double low = 0, high = 1;
    [[nodiscard]] double span() const { return high - low; }
    [[nodiscard]] bool contains(double log) const { return log >= low && log <= high; }
};

struct RooflinePlot {
    std::string title, subtitle;
    std::vector<PlottedRoof> slopes;     // by falling bandwidth
    std::vector<PlottedRoof> flats;      // by falling peak
    std::vector<PlottedKernel> kernels;  // by falling time
    std::vector<Level> levels;           // that some point is at
    LogRange x, y;
    double whole_time = 0;
    bool any_above = false;
    std::vector<std::string> caption;  // sentences
    // What the machine gives by the other standard than the verdicts used: measured beside theoretical, or the reverse.
    // Only the page has room for both.
    std::vector<PlottedRoof> other_roofs;
    std::string clocks_differ;  // a sentence; empty if all kernels ran at one clock
};

struct PlotChoice {
    std::size_t max_kernels = static_cast<std::size_t>(-1);
    std::optional<std::size_t> machine;  // default: where most of the time was spent
    bool keep_off_axes = false;          // a page can be moved, a picture cannot
};
// Refers to rows of `analysis`, which must outlive it.
RooflinePlot roofline_plot(const Analysis& analysis, const PlotChoice& choice);

// The side after, with the points of the side before beside them.
RooflinePlot roofline_plot(const Comparison& comparison, const PlotChoice& choice);

// Fills slopes, flats and other_roofs: one line for each level and pipe, as the verdicts used them, and what the other
// standard (measured beside theoretical) says of the same. plot.levels must be known.
void add_roofs(RooflinePlot& plot, const Analysis& analysis, std::size_t machine, std::optional<Frequency> clock);

// "66.3 ms, 33.4 % of time, 83.7 TFLOP/s, AI L1 62.8 L2 85.5 DRAM 937, 70.1 % of the Tensor FP16 roof"
std::string kernel_summary(const PlottedKernel& kernel, double whole_time);

}  // namespace gambrel::report_detail
