#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <gambrel/report.hpp>

#include "chart/cell_canvas.hpp"
#include "chart/palette.hpp"
#include "chart/text.hpp"
#include "report/numbers.hpp"
#include "report/roofline_plot.hpp"

namespace gambrel {
namespace {

using namespace chart_detail;
using namespace report_detail;

constexpr int kTickColumns = 12;  // "100 GFLOP/s" and the axis
constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kDim = "2";

struct Frame {
    const RooflinePlot& data;
    int columns, rows;
    [[nodiscard]] double x(double log) const { return (log - data.x.low) / data.x.span() * columns; }
    [[nodiscard]] double y(double log) const { return (data.y.high - log) / data.y.span() * rows; }
    [[nodiscard]] int column(double log) const { return std::clamp(static_cast<int>(x(log)), 0, columns - 1); }
    [[nodiscard]] int row(double log) const { return std::clamp(static_cast<int>(y(log)), 0, rows - 1); }
};

char32_t level_glyph(Level level, bool unicode) {
    switch (level) {
        case Level::shared:
            return unicode ? U'◦' : U's';
        case Level::l1:
            return unicode ? U'○' : U'o';
        case Level::l2:
            return unicode ? U'◆' : U'+';
        case Level::l3:
            return unicode ? U'◇' : U'x';
        case Level::dram:
            return unicode ? U'●' : U'*';
    }
    return U'?';
}

std::u32string wide(std::string_view text) { return decode_utf8(text); }

void draw_roofs(CellCanvas& canvas, const Frame& f) {
    const auto& data = f.data;
    const double top = data.flats.empty() ? data.y.high : std::log10(data.flats.front().value);
    for (const auto& slope : data.slopes) {
        const double log = std::log10(slope.value);
        const double start = std::max(data.x.low, data.y.low - log), end = std::min(data.x.high, top - log);
        if (start >= end) continue;
        const auto color = terminal_color(bound_color(slope.what));
        canvas.line(f.x(start), f.y(start + log), f.x(end), f.y(end + log), color, false);
    }
    for (const auto& flat : data.flats) {
        const double log = std::log10(flat.value);
        double start = data.x.low;
        if (!data.slopes.empty()) start = std::max(start, log - std::log10(data.slopes.front().value));
        if (start < data.x.high) canvas.line(f.x(start), f.y(log), f.columns - 0.01, f.y(log), "", false);
    }
}

void label_roofs(CellCanvas& canvas, const Frame& f) {
    for (const auto& flat : f.data.flats) {
        const auto label = wide(flat.label);
        const int row = f.row(std::log10(flat.value)), column = f.columns - static_cast<int>(label.size());
        for (const int at : {row - 1, row + 1, row})
            if (canvas.put(column, at, label, "")) break;
    }
    for (const auto& slope : f.data.slopes) {
        const auto label = wide(slope.label);
        const double log = std::log10(slope.value);
        // Left of the line, on the first free row from its lower end; a terminal cannot slant text.
        for (int row = f.rows - 1; row >= 0; --row) {
            const double x = f.data.y.high - (row + 0.5) / f.rows * f.data.y.span() - log;
            if (!f.data.x.contains(x)) continue;
            if (canvas.put(f.column(x) - 1 - static_cast<int>(label.size()), row, label,
                           terminal_color(bound_color(slope.what))))
                break;
        }
    }
}

// The letter stands before the leftmost point, or where there is room.
void put_letter(CellCanvas& canvas, int first, int last, int row, char letter) {
    const char32_t glyph = static_cast<unsigned char>(letter);
    const std::u32string_view text(&glyph, 1);
    for (const auto& [column, at] : {std::pair{first - 1, row},
                                     {last + 1, row},
                                     {first, row - 1},
                                     {last, row - 1},
                                     {first, row + 1},
                                     {last, row + 1},
                                     {first - 2, row},
                                     {last + 2, row}})
        if (canvas.put(column, at, text, "1")) return;
}

void draw_kernels(CellCanvas& canvas, const Frame& f, std::size_t lettered, bool unicode) {
    const auto& kernels = f.data.kernels;
    const char32_t dot = unicode ? U'·' : U'.', dash = unicode ? U'─' : U'-';
    // The longest-running first: marks of the others never cover theirs.
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        const auto& k = kernels[i];
        const int row = f.row(std::log10(k.rate));
        int first = f.columns, last = 0;
        for (const auto& p : k.points) {
            const int column = f.column(std::log10(p.intensity));
            const char32_t glyph = i < lettered ? level_glyph(p.level, unicode) : dot;
            canvas.put(column, row, std::u32string_view(&glyph, 1), terminal_color(name(p.level)));
            first = std::min(first, column), last = std::max(last, column);
        }
        if (i >= lettered) continue;
        for (int c = first + 1; c < last; ++c) canvas.put(c, row, std::u32string_view(&dash, 1), kDim);
        put_letter(canvas, first, last, row, kLetters[i]);
    }
}

std::string axis_line(const Frame& f, const TextStyle& style) {
    std::string line = std::string(kTickColumns - 1, ' ') + (style.unicode ? "└" : "+");
    for (int c = 0; c < f.columns; ++c) {
        bool tick = false;
        for (int d = static_cast<int>(std::ceil(f.data.x.low)); d <= f.data.x.high; ++d)
            tick = tick || f.column(d) == c;
        line += style.unicode ? (tick ? "┴" : "─") : (tick ? "+" : "-");
    }
    return line + "\n";
}

std::string decade_line(const Frame& f) {
    std::string line(static_cast<std::size_t>(kTickColumns + f.columns), ' ');
    std::size_t free_from = 0;
    for (int d = static_cast<int>(std::ceil(f.data.x.low)); d <= f.data.x.high; ++d) {
        const std::string label = d >= -3 && d <= 4 ? fmt::format("{:g}", std::pow(10.0, d)) : fmt::format("1e{}", d);
        const auto at = static_cast<std::size_t>(kTickColumns + f.column(d)) - label.size() / 2;
        if (at < free_from || at + label.size() > line.size()) continue;
        line.replace(at, label.size(), label);
        free_from = at + label.size() + 1;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
}

std::string plot_lines(const CellCanvas& canvas, const Frame& f, const TextStyle& style) {
    std::string out;
    const auto lines = canvas.lines(style.color);
    for (int row = 0; row < f.rows; ++row) {
        std::string tick;
        for (int d = static_cast<int>(std::ceil(f.data.y.low)); d <= f.data.y.high; ++d)
            if (f.row(d) == row) tick = to_text(FlopRate{std::pow(10.0, d)}, 3);
        const std::string axis = style.unicode ? (tick.empty() ? "│" : "┤") : (tick.empty() ? "|" : "+");
        out += aligned(tick, kTickColumns - 1, true) + axis + lines[static_cast<std::size_t>(row)] + "\n";
    }
    return out;
}

std::string level_legend(const RooflinePlot& data, const TextStyle& style) {
    std::string out;
    for (const Level level : data.levels) {
        const char32_t glyph = level_glyph(level, style.unicode);
        const std::string text = encode_utf8(std::u32string_view(&glyph, 1)) + " " + std::string(name(level));
        out += (out.empty() ? "" : "  ") + painted(text, terminal_color(name(level)), style.color);
    }
    if (data.any_above) out += (out.empty() ? "" : "  ") + painted("! above its roof", "1", style.color);
    return out.empty() ? out : out + "\n";
}

std::string kernel_legend(const RooflinePlot& data, std::size_t lettered, const TextStyle& style) {
    constexpr int kFacts = 41;  // "  66.2 ms  43.2 %  78 % of Tensor FP16 !"
    const bool ascii = !style.unicode;
    const int room = std::clamp(style.width - 3 - kFacts, 10, 56);
    std::string out;
    for (std::size_t i = 0; i < lettered; ++i) {
        const auto& k = data.kernels[i];
        const std::string full = printable(short_name(k.row->kernel.name.str(), static_cast<std::size_t>(room)), ascii);
        std::string line = fmt::format("{}  {}  {:>7}", kLetters[i], aligned(truncated(full, room, ascii), room, false),
                                       to_text(Seconds{k.time}, 3));
        if (data.whole_time > 0) line += fmt::format("  {:>6}", percent_text(k.time / data.whole_time));
        if (const auto& of_roof = k.row->verdict.of_roof)
            line += fmt::format("  {:>5} of {}", percent_text(*of_roof, 0), bound_text(k.row->verdict.nearest));
        if (std::any_of(k.points.begin(), k.points.end(), [](const PlottedPoint& p) { return p.above; })) line += " !";
        out += truncated(line, style.width, ascii) + "\n";
    }
    return out;
}

}  // namespace

std::string terminal_chart(const Analysis& analysis, const TextStyle& given) {
    TextStyle style = given;
    style.width = std::clamp(given.width, 40, 250);
    const RooflinePlot data = roofline_plot(analysis, {400, {}});
    const int columns = style.width - kTickColumns - 1;
    const Frame frame{data, columns, std::clamp(columns * 3 / 10, 12, 36)};
    const std::size_t lettered = std::min({data.kernels.size(), kLetters.size(), style.max_rows, std::size_t{12}});

    CellCanvas canvas(frame.columns, frame.rows, style.unicode);
    draw_roofs(canvas, frame);
    draw_kernels(canvas, frame, lettered, style.unicode);
    label_roofs(canvas, frame);

    const auto plain = [&](std::string_view text) { return printable(text, !style.unicode); };
    std::string out = painted(truncated(plain(data.title), style.width, !style.unicode), "1", style.color) + "\n";
    out += truncated(plain(data.subtitle), style.width, !style.unicode) + "\n";
    out += plot_lines(canvas, frame, style) + axis_line(frame, style) + decade_line(frame);
    out +=
        std::string(kTickColumns, ' ') + truncated("arithmetic intensity [FLOP/byte]", columns, !style.unicode) + "\n";
    out += level_legend(data, style) + kernel_legend(data, lettered, style);
    for (const auto& sentence : data.caption)
        for (const auto& line : wrapped(plain(sentence), style.width, 2)) out += line + "\n";
    return out;
}

}  // namespace gambrel
