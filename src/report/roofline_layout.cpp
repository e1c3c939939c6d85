#include "report/roofline_layout.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "chart/font_metrics.hpp"
#include "chart/svg_frame.hpp"
#include "chart/text.hpp"

namespace gambrel::report_detail {

using namespace chart_detail;

namespace {

constexpr double kLargestMark = 12, kLeastMark = 3;
constexpr double kPanelFrom = 720, kPanelWidth = 232;
constexpr double kNameOnChart = 142, kNameAmongFew = 230;

struct Mapping {
    LogRange x, y;
    Box plot;
    [[nodiscard]] double px(double log) const { return plot.x0 + (log - x.low) / x.span() * plot.width(); }
    [[nodiscard]] double py(double log) const { return plot.y1 - (log - y.low) / y.span() * plot.height(); }
};

void lay_out_frame(Scene& scene, const RooflinePlot& data) {
    const bool panel = scene.width >= kPanelFrom;
    const double top = panel ? 72 : 92;  // a narrow chart has its legend between the heading and the plot
    for (const auto& sentence : data.caption)
        for (auto& line : caption_lines(sentence, scene.width - 48)) scene.caption.push_back(std::move(line));
    const double captions = scene.caption.empty() ? 0 : 8 + 15 * static_cast<double>(scene.caption.size());
    const double right = panel ? scene.width - 24 - kPanelWidth - 20 : scene.width - 24;
    scene.plot = {104, top, right, std::max(top + 80, scene.height - 54 - captions)};
    if (panel) scene.panel = {right + 20, top, scene.width - 24, scene.plot.y1 + 40};
}

std::vector<DecadeTick> ticks(const LogRange& range, double from, double to) {
    const double per_decade = std::fabs(to - from) / range.span();
    const int step = per_decade >= 34 ? 1 : per_decade >= 17 ? 2 : 5;
    std::vector<DecadeTick> out;
    const auto at = [&](double log) { return from + (log - range.low) / range.span() * (to - from); };
    for (int d = static_cast<int>(std::floor(range.low)); d <= static_cast<int>(std::ceil(range.high)); ++d) {
        if (range.contains(d)) out.push_back({at(d), d, true, d % step == 0});
        if (per_decade < 40) continue;
        for (int m = 2; m <= 9; ++m)
            if (const double log = d + std::log10(m); range.contains(log)) out.push_back({at(log), d, false, false});
    }
    return out;
}

// The visible part of the line y = log(bandwidth) + x up to where it meets the highest flat roof.
std::optional<Segment> slope_line(const PlottedRoof& slope, const RooflinePlot& data, const Mapping& map) {
    const double log = std::log10(slope.value);
    const double top = data.flats.empty() ? data.y.high : std::log10(data.flats.front().value);
    const double start = std::max(data.x.low, data.y.low - log);
    const double end = std::min({data.x.high, data.y.high - log, top - log});
    if (start >= end) return std::nullopt;
    return Segment{map.px(start), map.py(start + log), map.px(end), map.py(end + log)};
}

// From the steepest roof to the right edge: left of it no kernel could reach this peak.
std::optional<Segment> flat_line(const PlottedRoof& flat, const RooflinePlot& data, const Mapping& map) {
    const double log = std::log10(flat.value);
    if (!data.y.contains(log)) return std::nullopt;
    double start = data.x.low;
    if (!data.slopes.empty()) start = std::max(start, log - std::log10(data.slopes.front().value));
    if (start >= data.x.high) return std::nullopt;
    return Segment{map.px(start), map.py(log), map.px(data.x.high), map.py(log)};
}

struct LabelTry {
    double x, y, angle;
    std::vector<Box> boxes;
};

LabelTry label_along(const Segment& line, double distance, double width, bool below) {
    const double length = std::hypot(line.x1 - line.x0, line.y1 - line.y0);
    const double ux = (line.x1 - line.x0) / length, uy = (line.y1 - line.y0) / length;
    // The normal that points up on the screen; below the line the baseline moves by the height of the text too.
    const double offset = below ? -(kRoofLabelSize + 1.5) : 4.5;
    LabelTry out{line.x0 + ux * distance + uy * offset,
                 line.y0 + uy * distance - ux * offset,
                 std::atan2(uy, ux) * 180 / M_PI,
                 {}};
    const double step = std::fabs(uy) < 1e-9 ? width : kRoofLabelSize * 0.6;
    for (double t = 0; t < width; t += step) {
        const double end = std::min(t + step, width), up = kRoofLabelSize * 0.8;
        const double xs[] = {out.x + ux * t, out.x + ux * end, out.x + ux * t + uy * up, out.x + ux * end + uy * up};
        const double ys[] = {out.y + uy * t, out.y + uy * end, out.y + uy * t - ux * up, out.y + uy * end - ux * up};
        out.boxes.push_back({*std::min_element(xs, xs + 4), *std::min_element(ys, ys + 4),
                             *std::max_element(xs, xs + 4), *std::max_element(ys, ys + 4)});
    }
    return out;
}

std::vector<Box> mark_boxes(const Scene& scene, bool named) {
    std::vector<Box> boxes;
    for (const auto& k : scene.kernels) {
        if ((k.number > 0) != named) continue;
        for (const auto& p : k.points) {
            const double r = k.radius * 1.1 + (p.above ? 3 : 0);
            boxes.push_back({p.x - r, p.y - r, p.x + r, p.y + r});
        }
    }
    return boxes;
}

// Slopes are labelled from their lower end, flats from their right end; the place that crosses fewest lines is taken.
void label_roofs(Scene& scene) {
    // Marks of named kernels and other labels are never covered; the faint marks of the rest only if there is no other
    // place.
    std::vector<Box> taken = mark_boxes(scene, true);
    const std::vector<Box> faint = mark_boxes(scene, false);
    std::vector<Segment> lines;
    for (const auto& roof : scene.roofs) lines.push_back(roof.line);
    for (const auto& k : scene.kernels)
        if (k.number > 0 && !k.points.empty())
            lines.push_back({k.points.front().x, k.points.front().y, k.points.back().x, k.points.back().y});
    for (auto& roof : scene.roofs) {
        const bool flat = std::holds_alternative<Pipe>(roof.roof->what);
        const double width = text_width(roof.roof->label, kRoofLabelSize);
        const double length = std::hypot(roof.line.x1 - roof.line.x0, roof.line.y1 - roof.line.y0);
        double least = 1e9;
        std::optional<LabelTry> best;
        for (double d = 8; d + width + 6 <= length; d += 10)
            for (const bool below : {false, true}) {
                LabelTry attempt = label_along(roof.line, flat ? length - width - d : d, width, below);
                // A label that covers a mark or leaves the plot would harm more than its absence.
                const bool covers = std::any_of(attempt.boxes.begin(), attempt.boxes.end(), [&](const Box& box) {
                    const auto hit = [&](const Box& other) { return box.overlaps(other, 1); };
                    return !scene.plot.holds(box) || std::any_of(taken.begin(), taken.end(), hit);
                });
                if (covers) continue;
                double cost = (below ? 0.75 : 0) + 0.004 * d;
                for (const auto& box : attempt.boxes) {
                    for (const auto& line : lines) cost += crosses(line, box) ? 1 : 0;
                    for (const auto& mark : faint) cost += box.overlaps(mark) ? 20 : 0;
                }
                if (cost < least) least = cost, best = std::move(attempt);
            }
        if (!best) continue;
        roof.label_x = best->x, roof.label_y = best->y, roof.angle = best->angle;
        roof.label_boxes = std::move(best->boxes);
        taken.insert(taken.end(), roof.label_boxes.begin(), roof.label_boxes.end());
    }
}

void add_roofs(Scene& scene, const RooflinePlot& data, const Mapping& map) {
    for (const auto& slope : data.slopes)
        if (const auto line = slope_line(slope, data, map)) scene.roofs.push_back({&slope, *line, 0, 0, 0, {}});
    for (const auto& flat : data.flats)
        if (const auto line = flat_line(flat, data, map)) scene.roofs.push_back({&flat, *line, 0, 0, 0, {}});
    for (const auto& slope : data.slopes)
        for (const auto& flat : data.flats) {
            const double y = std::log10(flat.value), x = y - std::log10(slope.value);
            if (data.x.contains(x) && data.y.contains(y)) scene.ridges.push_back({map.px(x), map.py(y), 2});
        }
}

void add_kernels(Scene& scene, const RooflinePlot& data, const ChartStyle& style, const Mapping& map) {
    for (std::size_t i = 0; i < data.kernels.size(); ++i) {
        const PlottedKernel& k = data.kernels[i];
        SceneKernel out{
            &k, i < style.max_labels ? static_cast<int>(i) + 1 : 0, mark_radius(k.time, scene.longest), {}, "", {}, {}};
        for (const auto& p : k.points)
            out.points.push_back({p.level, map.px(std::log10(p.intensity)), map.py(std::log10(k.rate)), p.above});
        std::stable_sort(out.points.begin(), out.points.end(), [](auto& a, auto& b) { return a.x < b.x; });
        for (const auto& was : k.points_before)
            for (const auto& p : out.points)
                if (p.level == was.level && data.x.contains(std::log10(was.intensity)) &&
                    data.y.contains(std::log10(k.rate_before)))
                    out.arrows.push_back(
                        {p.level, {map.px(std::log10(was.intensity)), map.py(std::log10(k.rate_before)), p.x, p.y}});
        scene.kernels.push_back(std::move(out));
    }
}

void label_kernels(Scene& scene) {
    Surroundings around;
    around.area = {scene.plot.x0 + 3, scene.plot.y0 + 3, scene.plot.x1 - 3, scene.plot.y1 - 3};
    around.obstacles = mark_boxes(scene, true);
    const auto faint = mark_boxes(scene, false);
    around.obstacles.insert(around.obstacles.end(), faint.begin(), faint.end());
    for (const auto& roof : scene.roofs) {
        around.lines.push_back(roof.line);
        around.obstacles.insert(around.obstacles.end(), roof.label_boxes.begin(), roof.label_boxes.end());
    }
    std::vector<LabelRequest> requests;
    const double room = scene.kernels.size() <= 6 ? kNameAmongFew : kNameOnChart;
    for (auto& k : scene.kernels) {
        if (k.points.size() > 1)
            around.lines.push_back({k.points.front().x, k.points.front().y, k.points.back().x, k.points.back().y});
        if (k.number == 0) continue;
        k.label = fmt::format("{} {}", k.number, chart_name(k.kernel->row->kernel, kLabelSize, room));
        LabelRequest request{
            {}, text_width(k.label, kLabelSize), kLabelSize * 1.05, text_width(std::to_string(k.number), kLabelSize)};
        for (auto p = k.points.rbegin(); p != k.points.rend(); ++p)
            request.anchors.push_back({p->x, p->y, k.radius * 1.15 + (p->above ? 3 : 0)});
        requests.push_back(std::move(request));
    }
    const auto placed = place_labels(requests, std::move(around));
    std::size_t next = 0;
    for (auto& k : scene.kernels) {
        if (k.number == 0) continue;
        k.placed = placed[next++];
        if (k.placed && k.placed->shortened) k.label = std::to_string(k.number);
    }
}

}  // namespace

std::string chart_name(const Kernel& kernel, double font_size, double width) {
    // Whole if it fits; else without template arguments; else cut by short_name, which keeps both ends.
    std::string whole = printable(short_name(kernel.name.str(), 200));
    if (text_width(whole, font_size) <= width) return whole;
    const auto bracket = whole.find('<');
    const std::string base = bracket == std::string::npos || bracket == 0 ? whole : whole.substr(0, bracket);
    for (const std::string& text : {base + "<…>", base})
        if (bracket != std::string::npos && text_width(text, font_size) <= width) return text;
    for (std::size_t columns = 48; columns >= 10; --columns) {
        std::string text = short_name(base, columns);
        if (text_width(text, font_size) <= width) return text;
    }
    return fitted(base, font_size, width);
}

double mark_radius(double time, double longest) {
    if (!(longest > 0) || !(time > 0)) return kLeastMark;
    return std::max(kLeastMark, kLargestMark * std::sqrt(std::min(1.0, time / longest)));
}

Scene chart_scene(const RooflinePlot& data, const ChartStyle& style) {
    Scene scene;
    scene.width = std::clamp(style.width, 360.0, 10000.0);
    scene.height = std::clamp(style.height, 280.0, 10000.0);
    for (const auto& k : data.kernels) scene.longest = std::max(scene.longest, k.time);
    lay_out_frame(scene, data);
    const Mapping map{data.x, data.y, scene.plot};
    scene.x_ticks = ticks(data.x, scene.plot.x0, scene.plot.x1);
    scene.y_ticks = ticks(data.y, scene.plot.y1, scene.plot.y0);
    add_roofs(scene, data, map);
    add_kernels(scene, data, style, map);
    label_roofs(scene);
    label_kernels(scene);
    return scene;
}

}  // namespace gambrel::report_detail
