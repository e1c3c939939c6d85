#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include <gambrel/chart.hpp>

#include "chart/bars.hpp"
#include "chart/cell_canvas.hpp"
#include "chart/scale.hpp"
#include "chart/text.hpp"

namespace gambrel {
namespace {

using namespace chart_detail;

// A mark of each series, told apart without colours too.
char32_t glyph_of(std::size_t series, bool unicode) {
    constexpr std::u32string_view kUnicode = U"●○◆◇■□▲△", kAscii = U"*o+x#@%&";
    const auto& all = unicode ? kUnicode : kAscii;
    return all[series % all.size()];
}

void add_wrapped(std::string& out, std::string_view text, const TextStyle& style) {
    if (text.empty()) return;
    for (const auto& line : wrapped(printable(text, !style.unicode), style.width, 2)) out += line + "\n";
}

std::string heading(const std::string& title, const std::string& subtitle, const TextStyle& style) {
    const auto line = [&](const std::string& text) {
        return truncated(printable(text, !style.unicode), style.width, !style.unicode);
    };
    std::string out = painted(line(title), "1", style.color) + "\n";
    return subtitle.empty() ? out : out + line(subtitle) + "\n";
}

class Plot {
public:
    Plot(const Chart& chart, const TextStyle& style) : chart_(chart), style_(style) {
        y_ = scale_of(y_values(chart), chart.y, 1, 0);
        for (const Tick& t : y_.ticks(0.2)) margin_ = std::max(margin_, display_width(t.text) + 1);
        columns_ = style.width - margin_ - 1;
        rows_ = std::clamp(columns_ * 3 / 10, 12, 24);
        y_.from = rows_ - 0.5, y_.to = 0.5;
        x_ = scale_of(x_values(chart), chart.x, 0.5, columns_ - 0.5);
    }

    std::string text() {
        CellCanvas canvas(columns_, rows_, style_.unicode);
        draw(canvas);
        const auto lines = canvas.lines(style_.color);
        const auto ticks = y_.ticks(rows_ / 5.0);
        std::string out = truncated(axis_title(chart_.y), style_.width, !style_.unicode) + "\n";
        for (int row = 0; row < rows_; ++row) {
            std::string label;
            for (const Tick& t : ticks)
                if (static_cast<int>(t.at) == row) label = t.text;
            const char* axis = style_.unicode ? (label.empty() ? "│" : "┤") : (label.empty() ? "|" : "+");
            out += aligned(label, margin_, true) + axis + lines[static_cast<std::size_t>(row)] + "\n";
        }
        return out + x_axis();
    }

private:
    [[nodiscard]] std::string axis_title(const ChartAxis& axis) const {
        return printable(axis.unit.empty() ? axis.label : fmt::format("{} [{}]", axis.label, axis.unit),
                         !style_.unicode);
    }

    void draw(CellCanvas& canvas) {
        for (const ChartLimit& l : chart_.limits)
            if (usable(l.value, chart_.x))
                canvas.line(x_.at(l.value), 0, x_.at(l.value), rows_ - 0.01, terminal_color(l.color), true);
        for (std::size_t i = 0; i < chart_.series.size(); ++i) draw_series(canvas, i);
        for (const ChartGuide& g : chart_.guides) {
            if (!usable(g.value, chart_.y)) continue;
            const double from = g.from && usable(*g.from, chart_.x) ? x_.at(*g.from) : 0;
            const double to = g.to && usable(*g.to, chart_.x) ? x_.at(*g.to) : columns_ - 0.01, y = y_.at(g.value);
            canvas.line(from, y, to, y, terminal_color(g.color), false);
            put_label(canvas, g.label, (from + to) / 2, y, terminal_color(g.color));
        }
        for (const ChartLimit& l : chart_.limits)
            if (usable(l.value, chart_.x))
                put_label(canvas, l.label, x_.at(l.value), rows_ - 1, terminal_color(l.color));
    }

    void draw_series(CellCanvas& canvas, std::size_t index) {
        const ChartSeries& s = chart_.series[index];
        const std::string_view color = series_color(chart_, index).terminal;
        const char32_t glyph = glyph_of(index, style_.unicode);
        const ChartMark* last = nullptr;
        std::vector<const ChartMark*> good;
        for (const ChartMark& m : s.marks) {
            if (!usable(m.x, chart_.x) || !usable(m.y, chart_.y)) continue;
            if (s.line && last) canvas.line(x_.at(last->x), y_.at(last->y), x_.at(m.x), y_.at(m.y), color, false);
            last = &m, good.push_back(&m);
        }
        if (!s.dots && good.empty()) return;
        if (!s.dots) {
            const ChartMark* middle = good[good.size() / 2];
            return s.name.empty() ? void() : put_label(canvas, s.name, x_.at(middle->x), y_.at(middle->y), "1");
        }
        // Chosen marks first: nothing covers their names.
        for (const bool chosen : {true, false})
            for (const ChartMark* m : good) {
                if (m->chosen != chosen) continue;
                const int column = static_cast<int>(x_.at(m->x)), row = static_cast<int>(y_.at(m->y));
                canvas.put(column, row, std::u32string_view(&glyph, 1), color);
                if (chosen) put_label(canvas, m->label.substr(0, m->label.find(':')), column, row, "1");
            }
    }

    // Beside the place, above or below it; nowhere if all of that is taken.
    void put_label(CellCanvas& canvas, const std::string& label, double x, double y, std::string_view color) {
        const auto text = decode_utf8(truncated(printable(label, !style_.unicode), columns_ / 2, !style_.unicode));
        const int width = static_cast<int>(text.size()), row = static_cast<int>(y);
        const int left = std::clamp(static_cast<int>(x) - width / 2, 0, std::max(0, columns_ - width));
        for (const auto& [column, at] : {std::pair{left, row - 1},
                                         {left, row + 1},
                                         {static_cast<int>(x) + 2, row},
                                         {static_cast<int>(x) - width - 1, row},
                                         {left, row - 2},
                                         {left, row + 2}})
            if (canvas.put(column, at, text, color)) return;
    }

    [[nodiscard]] std::string x_axis() const {
        std::string rule = std::string(static_cast<std::size_t>(margin_), ' ') + (style_.unicode ? "└" : "+");
        std::string labels(static_cast<std::size_t>(margin_ + 1 + columns_), ' ');
        const auto ticks = x_.ticks(12);
        for (int c = 0; c < columns_; ++c) {
            const bool tick =
                std::any_of(ticks.begin(), ticks.end(), [c](const Tick& t) { return static_cast<int>(t.at) == c; });
            rule += style_.unicode ? (tick ? "┴" : "─") : (tick ? "+" : "-");
        }
        std::size_t free_from = 0;
        for (const Tick& t : ticks) {
            const auto at = static_cast<std::size_t>(
                std::max(0, margin_ + 1 + static_cast<int>(t.at) - static_cast<int>(t.text.size() / 2)));
            if (at < free_from || at + t.text.size() > labels.size()) continue;
            labels.replace(at, t.text.size(), t.text);
            free_from = at + t.text.size() + 1;
        }
        labels.erase(labels.find_last_not_of(' ') + 1);
        const std::string title = std::string(static_cast<std::size_t>(margin_) + 1, ' ') + axis_title(chart_.x);
        return rule + "\n" + labels + "\n" + truncated(title, style_.width, !style_.unicode) + "\n";
    }

    const Chart& chart_;
    TextStyle style_;
    Scale x_, y_;
    int margin_ = 4, columns_ = 0, rows_ = 0;
};

// The first letter or digit of its name that no other part has.
std::string letters_of(const BarChart& chart) {
    std::string letters;
    for (const std::string& part : chart.parts) {
        char letter = '#';
        for (const char c : part + "abcdefghijklmnopqrstuvwxyz") {
            const char upper = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
            if (!std::isalnum(static_cast<unsigned char>(upper)) || letters.find(upper) != std::string::npos) continue;
            letter = upper;
            break;
        }
        letters += letter;
    }
    return letters;
}

TextStyle fitting(TextStyle style) {
    style.width = std::clamp(style.width, 40, 250);
    return style;
}

}  // namespace

std::string terminal_text(const Chart& chart, const TextStyle& given) {
    const TextStyle style = fitting(given);
    std::string out = heading(chart.title, chart.subtitle, style);
    if (x_values(chart).empty()) return out + "There is nothing to draw.\n";
    out += Plot(chart, style).text();
    std::string legend;
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
        if (!chart.series[i].dots || chart.series[i].name.empty()) continue;
        const char32_t glyph = glyph_of(i, style.unicode);
        legend += fmt::format("{}{} {}", legend.empty() ? "" : "  ", encode_utf8(std::u32string_view(&glyph, 1)),
                              printable(chart.series[i].name, !style.unicode));
    }
    add_wrapped(out, legend, style);
    add_wrapped(out, chart.note, style);
    return out;
}

std::string terminal_text(const BarChart& chart, const TextStyle& given) {
    const TextStyle style = fitting(given);
    const bool ascii = !style.unicode;
    int label = 4, end = 0;
    for (const Bar& b : chart.bars) {
        label = std::max(label, std::min(18, display_width(printable(b.label, ascii))));
        end = std::max(end, display_width(bar_text(chart, b)));
    }
    const auto lengths = bar_lengths(chart);
    const double most = std::max(1e-300, *std::max_element(lengths.begin(), lengths.end()));
    const int room = std::max(10, style.width - label - 2 - std::min(end, style.width / 2));
    const bool one = chart.parts.size() < 2;
    const std::string letters = one ? "=" : letters_of(chart);
    std::string out = heading(chart.title, chart.subtitle, style);
    for (const Bar& b : chart.bars) {
        std::string line = aligned(truncated(printable(b.label, ascii), label, ascii), label, false) + " ";
        double sum = 0;
        int drawn = 0;
        for (std::size_t p = 0; p < b.parts.size(); ++p) {
            if (!chart.stacked && p > 0) {  // each part from zero, on a line of its own
                out += line + "\n";
                line = std::string(static_cast<std::size_t>(label) + 1, ' '), sum = 0, drawn = 0;
            }
            sum += std::max(0.0, std::isfinite(b.parts[p]) ? b.parts[p] : 0) / most * room;
            const int to = static_cast<int>(std::lround(sum));
            line += painted(std::string(static_cast<std::size_t>(std::max(0, to - drawn)), letters[p]),
                            part_color(chart, p).terminal, style.color);
            drawn = std::max(drawn, to);
            if (chart.stacked ? p + 1 == b.parts.size() : p == 0)
                line += " " + truncated(bar_text(chart, b), style.width - label - 2 - drawn, ascii);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + "\n";
    }
    std::string legend = chart.x.unit.empty() ? chart.x.label : fmt::format("{} [{}]", chart.x.label, chart.x.unit);
    for (std::size_t p = 0; !one && p < chart.parts.size(); ++p)
        if (is_drawn(chart, p)) legend += fmt::format(", {} {}", letters[p], chart.parts[p]);
    add_wrapped(out, legend, style);
    add_wrapped(out, chart.note, style);
    return out;
}

}  // namespace gambrel
