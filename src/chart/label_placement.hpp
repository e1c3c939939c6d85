// Where to write beside points so that nothing covers anything: candidates around each anchor, the cheapest that
// overlaps no obstacle wins, in the order of the requests. A label that fits nowhere is not placed. Pixels; y grows
// downwards.
#pragma once

#include <optional>
#include <vector>

namespace gambrel::chart_detail {

struct Box {
    double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
    [[nodiscard]] bool overlaps(const Box& b, double margin = 0) const {
        return x0 - margin < b.x1 && b.x0 < x1 + margin && y0 - margin < b.y1 && b.y0 < y1 + margin;
    }
    [[nodiscard]] bool holds(const Box& b) const { return b.x0 >= x0 && b.x1 <= x1 && b.y0 >= y0 && b.y1 <= y1; }
    [[nodiscard]] double width() const { return x1 - x0; }
    [[nodiscard]] double height() const { return y1 - y0; }
};

struct Segment {
    double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
};
bool crosses(const Segment& a, const Segment& b);
bool crosses(const Segment& a, const Box& b);

struct Anchor {
    double x = 0, y = 0, radius = 0;
};

struct LabelRequest {
    std::vector<Anchor> anchors;  // the label may stand beside any of them
    double width = 0, height = 0;
    double short_width = 0;  // of the fallback text, where the whole does not fit
};

struct PlacedLabel {
    Box box;
    bool shortened = false;
    std::optional<Segment> leader;
};

struct Surroundings {
    Box area;                    // labels stay inside
    std::vector<Box> obstacles;  // are never covered
    std::vector<Segment> lines;  // are better not crossed
};

std::vector<std::optional<PlacedLabel>> place_labels(const std::vector<LabelRequest>& requests, Surroundings around);

}  // namespace gambrel::chart_detail
