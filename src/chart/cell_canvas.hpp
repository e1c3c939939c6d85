// A grid of terminal cells to draw on: lines as braille dots (2 x 4 in a cell) or as ASCII, and text over them.
// Later text wins over earlier text, text always wins over lines. Knows no chart.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gambrel::chart_detail {

class CellCanvas {
public:
    CellCanvas(int columns, int rows, bool unicode);

    [[nodiscard]] int columns() const { return columns_; }
    [[nodiscard]] int rows() const { return rows_; }
    // In cells, fractions allowed, (0, 0) is the upper left corner. `color` is an SGR parameter that outlives the
    // canvas.
    void line(double x0, double y0, double x1, double y1, std::string_view color, bool dashed);
    // False, and nothing is written, if a cell is outside or holds text already and `over` is not set.
    bool put(int column, int row, std::u32string_view text, std::string_view color, bool over = false);
    [[nodiscard]] bool is_free(int column, int row, int width) const;

    [[nodiscard]] std::vector<std::string> lines(bool color) const;

private:
    struct Cell {
        char32_t glyph = 0;
        unsigned char dots = 0;
        char stroke = 0;  // ASCII
        std::string_view color;
    };
    [[nodiscard]] std::size_t index(int column, int row) const {
        return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(column);
    }
    [[nodiscard]] Cell& at(int column, int row) { return cells_[index(column, row)]; }
    [[nodiscard]] const Cell& at(int column, int row) const { return cells_[index(column, row)]; }
    int columns_, rows_;
    bool unicode_;
    std::vector<Cell> cells_;
};

}  // namespace gambrel::chart_detail
