#include "network/row_cells.hpp"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "network/text.hpp"

namespace gambrel::network_detail {

std::optional<double> number_from(std::string_view text) {
    double value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
    return value;
}

namespace {

// Nearly all cells are a few plain digits: 1 to 15, so that the number is exact as a floating point number, too. Below
// 0: it is not.
std::int64_t few_digits(std::string_view text) {
    if (text.empty() || text.size() > 15) return -1;
    std::int64_t value = 0;
    for (const char c : text) {
        const auto digit = static_cast<unsigned char>(c - '0');
        if (digit > 9) return -1;
        value = value * 10 + digit;
    }
    return value;
}

}  // namespace

// Tables written by way of floating point have "128.0".
std::int64_t RowCells::read_integer(Column column, std::optional<std::int64_t> if_empty) {
    if (const std::int64_t whole = few_digits(columns_.raw_cell(cells_, column)); whole >= 0) return whole;
    const std::string_view cell = text(column);
    if (cell.empty()) {
        if (!if_empty) fault(fmt::format("{} is empty, expected a whole number", name(column)));
        return if_empty.value_or(1);
    }
    const auto value = number_from(cell);
    if (value && *value == std::floor(*value) && std::abs(*value) < 0x1p53) return static_cast<std::int64_t>(*value);
    fault(fmt::format("{} \"{}\": expected a whole number", name(column), cell));
    return 1;
}

bool RowCells::read_flag(Column column) {
    const std::string cell = lower(text(column));
    if (cell.empty() || cell == "0" || cell == "no" || cell == "false") return false;
    if (cell != "1" && cell != "yes" && cell != "true")
        fault(fmt::format("{} \"{}\": expected 1 or 0, yes or no", name(column), cell));
    return true;
}

}  // namespace gambrel::network_detail
