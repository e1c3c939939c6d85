// The Roofline in pixels: frame, roofs with their labels, points, names beside them, caption. Holds all geometry, so
// that what draws it decides nothing but strokes, and tests can ask whether anything overlaps.
#pragma once

#include <string>
#include <vector>

#include <gambrel/chart.hpp>

#include "chart/label_placement.hpp"
#include "report/roofline_plot.hpp"

namespace gambrel::report_detail {

using namespace chart_detail;

inline constexpr double kLabelSize = 10.5, kRoofLabelSize = 11, kTickSize = 11;

struct SceneRoof {
    const PlottedRoof* roof = nullptr;
    Segment line;
    double label_x = 0, label_y = 0, angle = 0;  // start of the label's baseline; degrees
    std::vector<Box> label_boxes;                // a slanted label is a chain of small boxes
};

struct ScenePoint {
    Level level = Level::dram;
    double x = 0, y = 0;
    bool above = false;
};

struct SceneKernel {
    const PlottedKernel* kernel = nullptr;
    int number = 0;  // 1 for the longest-running; 0: not among the named
    double radius = 0;
    std::vector<ScenePoint> points;  // by rising x
    std::string label;
    std::optional<PlacedLabel> placed;
    std::vector<std::pair<Level, Segment>> arrows;  // from before to after
};

struct DecadeTick {
    double at = 0;  // pixels
    int decade = 0;
    bool major = false, labelled = false;
};

struct Scene {
    double width = 0, height = 0;
    Box plot;
    Box panel;  // empty if the chart is too narrow for one
    std::vector<DecadeTick> x_ticks, y_ticks;
    std::vector<SceneRoof> roofs;
    std::vector<Anchor> ridges;
    std::vector<SceneKernel> kernels;
    std::vector<std::string> caption;
    double longest = 0;  // time of the kernel with the largest mark
};

// The kernel's name, readable and at most `width` pixels wide.
std::string chart_name(const Kernel& kernel, double font_size, double width);

// Area is time: the mark of a kernel that ran for `time`. Below a least size a mark could not be seen.
double mark_radius(double time, double longest);

// Refers to `data`, which must outlive it.
Scene chart_scene(const RooflinePlot& data, const ChartStyle& style);

}  // namespace gambrel::report_detail
