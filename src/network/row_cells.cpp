#include "network/row_cells.hpp"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "network/text.hpp"

namespace gambrel::network_detail {

std::optional<double> number_from(std::string_view text) {
    if (const std::int64_t whole = few_digits(text); whole >= 0) return static_cast<double>(whole);
    double value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
    return value;
}

std::string_view RowCells::given(Column column) const { return columns_.cell(cells_, column); }

// Tables written by way of floating point have "128.0".
std::int64_t RowCells::read_integer(Column column, std::optional<std::int64_t> if_empty) {
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
