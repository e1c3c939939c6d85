#include "chart/label_placement.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace gambrel::chart_detail {
namespace {

double cross(double ax, double ay, double bx, double by) { return ax * by - ay * bx; }

constexpr std::array<double, 9> kDistances{3, 9, 18, 30, 46, 66, 92, 124, 160};
constexpr double kLeaderFrom = 8;  // nearer than this, the eye needs no line
constexpr double kLabelMargin = 2;
constexpr int kDirections = 24;

struct Candidate {
    PlacedLabel label;
    double cost = std::numeric_limits<double>::infinity();
};

PlacedLabel candidate(const Anchor& anchor, double angle, double distance, double width, double height) {
    const double dx = std::cos(angle), dy = std::sin(angle);
    const double reach = anchor.radius + distance;
    // The box touches the ray with the side or corner that faces the anchor.
    const double cx = anchor.x + dx * reach + std::clamp(dx * 1.6, -1.0, 1.0) * width / 2;
    const double cy = anchor.y + dy * reach + std::clamp(dy * 1.6, -1.0, 1.0) * height / 2;
    PlacedLabel label{{cx - width / 2, cy - height / 2, cx + width / 2, cy + height / 2}, false, std::nullopt};
    if (distance >= kLeaderFrom) {
        const double tx = std::clamp(anchor.x, label.box.x0, label.box.x1);
        const double ty = std::clamp(anchor.y, label.box.y0, label.box.y1);
        const double length = std::hypot(tx - anchor.x, ty - anchor.y);
        if (length > anchor.radius + 2) {
            const double f = (anchor.radius + 1) / length;
            label.leader = Segment{anchor.x + (tx - anchor.x) * f, anchor.y + (ty - anchor.y) * f, tx, ty};
        }
    }
    return label;
}

class Placer {
public:
    explicit Placer(Surroundings around) : around_(std::move(around)) {}

    std::optional<PlacedLabel> place(const LabelRequest& request) {
        Candidate best = best_of(request, request.width);
        if (!std::isfinite(best.cost) && request.short_width > 0) {
            best = best_of(request, request.short_width);
            best.label.shortened = true;
        }
        if (!std::isfinite(best.cost)) return std::nullopt;
        labels_.push_back(best.label.box);
        if (best.label.leader) leaders_.push_back(*best.label.leader);
        return best.label;
    }

private:
    Candidate best_of(const LabelRequest& request, double width) const {
        Candidate best;
        for (std::size_t a = 0; a < request.anchors.size(); ++a)
            for (const double distance : kDistances)
                for (int d = 0; d < kDirections; ++d) {
                    const double angle = 2 * M_PI * d / kDirections;
                    // East first, then west, then the rest: reading goes on from the point.
                    const double preference = 2.5 * (1 - std::cos(angle)) + 2 * std::fabs(std::sin(angle));
                    const double base = distance * 0.8 + preference + 0.5 * static_cast<double>(a);
                    if (base >= best.cost) continue;
                    const PlacedLabel label = candidate(request.anchors[a], angle, distance, width, request.height);
                    if (const double cost = base + penalty(label); cost < best.cost) best = {label, cost};
                }
        return best;
    }

    [[nodiscard]] double penalty(const PlacedLabel& label) const {
        constexpr double kNever = std::numeric_limits<double>::infinity();
        if (!around_.area.holds(label.box)) return kNever;
        const auto covered = [&](const Box& b) { return label.box.overlaps(b, kLabelMargin); };
        if (std::any_of(labels_.begin(), labels_.end(), covered)) return kNever;
        if (std::any_of(around_.obstacles.begin(), around_.obstacles.end(), covered)) return kNever;
        double cost = 0;
        for (const auto& leader : leaders_)
            if (crosses(leader, label.box)) return kNever;
        for (const auto& line : around_.lines)
            if (crosses(line, label.box)) cost += 20;
        if (!label.leader) return cost;
        for (const auto& other : labels_)
            if (crosses(*label.leader, other)) return kNever;
        for (const auto& other : leaders_)
            if (crosses(*label.leader, other)) return kNever;
        for (const auto& point : around_.obstacles)
            if (crosses(*label.leader, point)) cost += 9;
        for (const auto& line : around_.lines)
            if (crosses(*label.leader, line)) cost += 4;
        return cost;
    }

    Surroundings around_;
    std::vector<Box> labels_;
    std::vector<Segment> leaders_;
};

}  // namespace

bool crosses(const Segment& a, const Segment& b) {
    const double ax = a.x1 - a.x0, ay = a.y1 - a.y0, bx = b.x1 - b.x0, by = b.y1 - b.y0;
    const double d = cross(ax, ay, bx, by);
    if (d == 0) return false;
    const double t = cross(b.x0 - a.x0, b.y0 - a.y0, bx, by) / d;
    const double u = cross(b.x0 - a.x0, b.y0 - a.y0, ax, ay) / d;
    return t >= 0 && t <= 1 && u >= 0 && u <= 1;
}

bool crosses(const Segment& a, const Box& b) {
    // Liang and Barsky: the part of the segment that is inside all four sides.
    double enter = 0, leave = 1;
    const auto clip = [&](double delta, double room) {
        if (delta == 0) return room >= 0;
        const double t = room / delta;
        if (delta < 0)
            enter = std::max(enter, t);
        else
            leave = std::min(leave, t);
        return enter <= leave;
    };
    const double dx = a.x1 - a.x0, dy = a.y1 - a.y0;
    return clip(-dx, a.x0 - b.x0) && clip(dx, b.x1 - a.x0) && clip(-dy, a.y0 - b.y0) && clip(dy, b.y1 - a.y0);
}

std::vector<std::optional<PlacedLabel>> place_labels(const std::vector<LabelRequest>& requests, Surroundings around) {
    Placer placer(std::move(around));
    std::vector<std::optional<PlacedLabel>> placed;
    placed.reserve(requests.size());
    for (const auto& request : requests) placed.push_back(placer.place(request));
    return placed;
}

}  // namespace gambrel::chart_detail
