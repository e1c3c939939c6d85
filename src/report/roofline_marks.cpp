#include "report/roofline_svg.hpp"

#include <cmath>

#include <fmt/format.h>

#include "chart/svg_writer.hpp"

namespace gambrel::report_detail {

using namespace chart_detail;

namespace {

std::string polygon(double x, double y, int corners, double radius, double inner, double turn) {
    std::string path;
    const int steps = inner > 0 ? 2 * corners : corners;
    for (int i = 0; i < steps; ++i) {
        const double r = inner > 0 && i % 2 == 1 ? radius * inner : radius;
        const double angle = turn + 2 * M_PI * i / steps;
        path += fmt::format("{}{} {}", i == 0 ? "M" : "L", svg_number(x + r * std::sin(angle)),
                            svg_number(y - r * std::cos(angle)));
    }
    return path + "Z";
}

std::string circle(double x, double y, double r) {
    const auto arc = [&](double to) {
        return fmt::format("A{} {} 0 1 1 {} {}", svg_number(r), svg_number(r), svg_number(to), svg_number(y));
    };
    return fmt::format("M{} {}{}{}Z", svg_number(x - r), svg_number(y), arc(x + r), arc(x - r));
}

std::string plus(double x, double y, double r) {
    const double a = r, b = r * 0.4;
    const double xs[] = {-b, b, b, a, a, b, b, -b, -b, -a, -a, -b}, ys[] = {-a, -a, -b, -b, b, b, a, a, b, b, -b, -b};
    std::string path;
    for (int i = 0; i < 12; ++i)
        path += fmt::format("{}{} {}", i == 0 ? "M" : "L", svg_number(x + xs[i]), svg_number(y + ys[i]));
    return path + "Z";
}

}  // namespace

std::string mark_path(int number, double x, double y, double r) {
    // Factors make each area pi r^2: sqrt(pi / area of the shape with circumradius 1).
    switch (number <= 0 ? 0 : (number - 1) % 8) {
        case 1:
            return polygon(x, y, 4, r * 1.2533, 0, M_PI / 4);  // square
        case 2:
            return polygon(x, y, 3, r * 1.5551, 0, 0);  // triangle
        case 3:
            return polygon(x, y, 4, r * 1.2533, 0, 0);  // diamond
        case 4:
            return polygon(x, y, 3, r * 1.5551, 0, M_PI);  // triangle pointing down
        case 5:
            return plus(x, y, r * 1.1078);
        case 6:
            return polygon(x, y, 5, r * 1.4622, 0.5, 0);  // star
        case 7:
            return polygon(x, y, 6, r * 1.0996, 0, 0);  // hexagon
        default:
            return circle(x, y, r);
    }
}

}  // namespace gambrel::report_detail
