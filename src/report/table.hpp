// A table that fits its width: columns of low priority are left out, then the first column is cut. Knows no kernel.
#pragma once

#include <string>
#include <vector>

#include <gambrel/report.hpp>

namespace gambrel::report_detail {

struct Column {
    std::string title;
    bool right = false;
    int priority = 0;  // the lowest leaves first; a column that is empty in all rows is never shown
    int least = 0;     // how narrow it may be cut; 0: never cut
};

struct TableRow {
    std::vector<std::string> cells;  // printable text
    std::string color;               // SGR of the whole row, "" for none
    std::vector<std::string> below;  // lines under the row, already as narrow as the style asks
};

class Table {
public:
    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
    void add(TableRow row) { rows_.push_back(std::move(row)); }
    void add_total(std::vector<std::string> cells) { total_ = std::move(cells); }
    // For cells that can say the same in fewer columns: how wide the first column will be, and another text for it.
    [[nodiscard]] int first_width(const TextStyle& style) const;
    void set_first(std::size_t row, std::string cell) { rows_[row].cells.front() = std::move(cell); }
    // Every line ends with a newline and has at most style.width columns.
    [[nodiscard]] std::string text(const TextStyle& style) const;

private:
    [[nodiscard]] std::vector<int> widths(int available) const;
    std::vector<Column> columns_;
    std::vector<TableRow> rows_;
    std::vector<std::string> total_;
};

}  // namespace gambrel::report_detail
