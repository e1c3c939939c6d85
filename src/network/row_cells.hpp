// The cells of one row of a layer table as numbers and flags. Faults are collected, so that a row reports all of them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gambrel/network.hpp>

#include "network/layer_columns.hpp"

namespace gambrel::network_detail {

std::optional<double> number_from(std::string_view text);

// Nearly all cells are a few plain digits: 1 to 15, so that the number is exact as a floating point number, too. Below
// 0: it is not.
inline std::int64_t few_digits(std::string_view text) {
    if (text.empty() || text.size() > 15) return -1;
    std::int64_t value = 0;
    for (const char c : text) {
        const auto digit = static_cast<unsigned char>(c - '0');
        if (digit > 9) return -1;
        value = value * 10 + digit;
    }
    return value;
}

class RowCells {
public:
    RowCells(std::span<const std::string_view> cells, const LayerColumns& columns) : cells_(cells), columns_(columns) {}

    // Most columns are in few tables: those that a table lacks cost no call.
    [[nodiscard]] std::string_view text(Column column) const {
        return columns_.has(column) ? given(column) : std::string_view();
    }
    [[nodiscard]] bool has(Column column) const { return !text(column).empty(); }
    // A fault where the cell is not a whole number, or where it is empty and nothing stands in for it.
    std::int64_t integer(Column column, std::optional<std::int64_t> if_empty) {
        if (if_empty && !columns_.has(column)) return *if_empty;
        const std::int64_t whole = few_digits(columns_.raw_cell(cells_, column));
        return whole >= 0 ? whole : read_integer(column, if_empty);
    }
    bool flag(Column column) { return columns_.has(column) && read_flag(column); }
    void fault(std::string what) { faults_.push_back(std::move(what)); }

    [[nodiscard]] const LayerColumns& columns() const { return columns_; }
    std::vector<std::string>& faults() { return faults_; }

private:
    [[nodiscard]] std::string_view given(Column column) const;
    bool read_flag(Column column);
    std::int64_t read_integer(Column column, std::optional<std::int64_t> if_empty);

    std::span<const std::string_view> cells_;
    const LayerColumns& columns_;
    std::vector<std::string> faults_;
};

}  // namespace gambrel::network_detail
