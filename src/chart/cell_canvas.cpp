#include "chart/cell_canvas.hpp"

#include <algorithm>
#include <cmath>

#include "chart/text.hpp"

namespace gambrel::chart_detail {

CellCanvas::CellCanvas(int columns, int rows, bool unicode)
    : columns_(columns), rows_(rows), unicode_(unicode), cells_(static_cast<std::size_t>(columns * rows)) {}

void CellCanvas::line(double x0, double y0, double x1, double y1, std::string_view color, bool dashed) {
    // Bit of each dot of a braille cell, U+2800 + bits, by column and row.
    static constexpr unsigned char kDot[2][4] = {{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}};
    const int steps = 1 + static_cast<int>(std::max(std::fabs(x1 - x0) * 2, std::fabs(y1 - y0) * 4) * 1.5);
    const bool flat = std::fabs(y1 - y0) < 0.01;
    for (int i = 0; i <= steps; ++i) {
        const double t = static_cast<double>(i) / steps;
        const double x = x0 + (x1 - x0) * t, y = y0 + (y1 - y0) * t;
        const int column = static_cast<int>(std::floor(x)), row = static_cast<int>(std::floor(y));
        if (column < 0 || row < 0 || column >= columns_ || row >= rows_) continue;
        const int dx = static_cast<int>(std::floor((x - column) * 2)), dy = static_cast<int>(std::floor((y - row) * 4));
        const int along = static_cast<int>(std::floor(x * 2));
        if (dashed && (unicode_ ? along % 4 == 3 : column % 3 == 2)) continue;
        Cell& cell = at(column, row);
        cell.dots = static_cast<unsigned char>(cell.dots | kDot[dx][dy]);
        cell.stroke = flat ? '-' : '/';
        cell.color = color;
    }
}

bool CellCanvas::is_free(int column, int row, int width) const {
    if (row < 0 || row >= rows_ || column < 0 || column + width > columns_) return false;
    for (int i = 0; i < width; ++i)
        if (at(column + i, row).glyph != 0) return false;
    return true;
}

bool CellCanvas::put(int column, int row, std::u32string_view text, std::string_view color, bool over) {
    const int width = static_cast<int>(text.size());
    if (row < 0 || row >= rows_ || column < 0 || column + width > columns_) return false;
    if (!over && !is_free(column, row, width)) return false;
    for (int i = 0; i < width; ++i) {
        Cell& cell = at(column + i, row);
        cell.glyph = text[static_cast<std::size_t>(i)];
        cell.color = color;
    }
    return true;
}

std::vector<std::string> CellCanvas::lines(bool color) const {
    std::vector<std::string> out;
    for (int row = 0; row < rows_; ++row) {
        std::string line, run;
        std::string_view run_color;
        const auto flush = [&] {
            line += painted(std::move(run), run_color, color);
            run.clear();
        };
        for (int column = 0; column < columns_; ++column) {
            const Cell& cell = at(column, row);
            char32_t glyph = cell.glyph;
            if (glyph == 0 && cell.dots != 0)
                glyph = unicode_ ? 0x2800 + cell.dots : static_cast<char32_t>(cell.stroke);
            const std::string_view wanted = glyph == 0 ? std::string_view{} : cell.color;
            if (wanted != run_color) flush();
            run_color = wanted;
            if (glyph == 0) glyph = U' ';
            run += encode_utf8(std::u32string_view(&glyph, 1));
        }
        flush();
        line.erase(line.find_last_not_of(' ') + 1);
        out.push_back(std::move(line));
    }
    return out;
}

}  // namespace gambrel::chart_detail
