#include "chart/scale.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include <gambrel/units.hpp>

namespace gambrel::chart_detail {
namespace {

std::string three_digits(double v) {
    std::string text =
        fmt::format("{:.{}f}", v, std::clamp(2 - static_cast<int>(std::floor(std::log10(std::fabs(v)))), 0, 6));
    if (text.find('.') == std::string::npos) return text;
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text;
}

std::string prefixed(double v, const std::string& unit) {
    struct Prefix {
        double factor;
        std::string_view text;
    };
    static constexpr std::array<Prefix, 9> kPrefixes{
        {{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}, {1e-3, "m"}, {1e-6, "u"}, {1e-9, "n"}}};
    // 999.6 is 1 k: what counts is the number as it is written, with three digits.
    for (const Prefix& p : kPrefixes)
        if (std::fabs(v) / p.factor >= 0.9995) return fmt::format("{} {}{}", three_digits(v / p.factor), p.text, unit);
    return fmt::format("{:.3g} {}", v, unit);
}

constexpr double kLog2 = 0.30102999566398119521;

std::vector<double> linear_ticks(double low, double high, double most) {
    const double rough = (high - low) / std::max(1.0, most), power = std::pow(10.0, std::floor(std::log10(rough)));
    double step = 10 * power;
    for (const double m : {5.0, 2.0, 1.0})
        if (m * power >= rough * 0.999) step = m * power;
    std::vector<double> out;
    // Counted, not summed, and from a whole number that is never -0.
    for (auto i = static_cast<long>(std::ceil(low / step - 1e-9));
         i <= static_cast<long>(std::floor(high / step + 1e-9)); ++i)
        out.push_back(static_cast<double>(i) * step);
    return out;
}

std::vector<double> log_ticks(const Scale& s, double most) {
    // Powers of 2 or 10, thinned out where there are too many; 1, 2 and 5 of each decade where there is room.
    const double base = s.axis.powers_of_2 ? kLog2 : 1;
    const int first = static_cast<int>(std::ceil(s.low / base - 1e-9)),
              last = static_cast<int>(std::floor(s.high / base + 1e-9));
    const int step = std::max(1, static_cast<int>(std::ceil((last - first + 1) / most)));
    std::vector<double> out;
    if (!s.axis.powers_of_2 && 3 * (s.high - s.low) <= most) {
        for (int d = first - 1; d <= last; ++d)
            for (const int digit : {1, 2, 5}) out.push_back(digit * std::pow(10.0, d));
    } else {
        for (int p = first; p <= last; ++p)
            if (p % step == 0) out.push_back(s.axis.powers_of_2 ? std::exp2(p) : std::pow(10.0, p));
    }
    std::erase_if(out, [&](double v) { return std::log10(v) < s.low - 1e-9 || std::log10(v) > s.high + 1e-9; });
    // Less than a decade: round values between, as on a linear axis.
    return out.size() > 2 || s.axis.powers_of_2 ? out
                                                : linear_ticks(std::pow(10.0, s.low), std::pow(10.0, s.high), most);
}

}  // namespace

std::string value_text(double v, const ChartAxis& axis) {
    if (!std::isfinite(v)) return {};
    if (v == 0) return axis.unit.empty() ? "0" : "0 " + axis.unit;
    if (axis.powers_of_2) return binary_text(Bytes{v});
    if (!axis.unit.empty()) return prefixed(v, axis.unit);
    const double a = std::fabs(v);
    return a >= 1e6 || a < 1e-4 ? fmt::format("{:.2e}", v) : three_digits(v);
}

bool usable(double value, const ChartAxis& axis) { return std::isfinite(value) && (!axis.log || value > 0); }

double Scale::at(double value) const {
    return from + ((axis.log ? std::log10(value) : value) - low) / (high - low) * (to - from);
}

std::vector<Tick> Scale::ticks(double room) const {
    const double most = std::max(2.0, std::fabs(to - from) / room);
    std::vector<Tick> out;
    for (const double v : axis.log ? log_ticks(*this, most) : linear_ticks(low, high, most))
        out.push_back({at(v), value_text(v, axis)});
    return out;
}

Scale scale_of(const std::vector<double>& values, const ChartAxis& axis, double from, double to) {
    Scale s{axis, 0, 1, from, to};
    bool any = false;
    for (const double value : values) {
        if (!usable(value, axis)) continue;
        const double v = axis.log ? std::log10(value) : value;
        s.low = any ? std::min(s.low, v) : v, s.high = any ? std::max(s.high, v) : v, any = true;
    }
    // A front from cost 1 to 2 needs all the room; bars bring their zero with them.
    if (!axis.log && s.low > 0 && s.low < 0.2 * s.high) s.low = 0;
    double pad = s.high > s.low ? 0.05 * (s.high - s.low) : 0.5;
    // Designs that differ by a thousandth are equal to the eye, and to a tick of three digits.
    if (!axis.log && any && s.high > s.low) pad = std::max(pad, 0.5 * (0.1 * std::fabs(s.high) - (s.high - s.low)));
    if (axis.log || s.low != 0) s.low -= pad;
    s.high += pad;
    return s;
}

std::vector<double> x_values(const Chart& chart) {
    std::vector<double> out;
    for (const ChartSeries& s : chart.series)
        for (const ChartMark& m : s.marks)
            if (usable(m.x, chart.x) && usable(m.y, chart.y)) out.push_back(m.x);
    return out;
}

std::vector<double> y_values(const Chart& chart) {
    std::vector<double> out;
    for (const ChartSeries& s : chart.series)
        for (const ChartMark& m : s.marks) {
            if (!usable(m.x, chart.x) || !usable(m.y, chart.y)) continue;
            out.push_back(m.y);
            for (const auto& end : {m.low, m.high})
                if (end && usable(*end, chart.y) && *end > m.y / 10 && *end < m.y * 10) out.push_back(*end);
        }
    for (const ChartGuide& g : chart.guides)
        if (usable(g.value, chart.y)) out.push_back(g.value);
    return out;
}

const NamedColor& series_color(const Chart& chart, std::size_t series) {
    const auto& all = chart.series;
    if (!all[series].color.empty()) return color_of(all[series].color, series);
    if (std::any_of(all.begin(), all.end(), [](const ChartSeries& s) { return !s.color.empty(); }))
        return color_of("faint");
    const auto first =
        std::find_if(all.begin(), all.end(), [&](const ChartSeries& s) { return s.name == all[series].name; });
    return color_of("", static_cast<std::size_t>(first - all.begin()));
}

}  // namespace gambrel::chart_detail
