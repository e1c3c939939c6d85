#include "report/fields.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/csv_guard.hpp"
#include "chart/text.hpp"

namespace gambrel::report_detail {
namespace {

std::string csv_field(std::string_view text) {
    std::u32string characters = chart_detail::decode_utf8(text);
    for (char32_t& c : characters)
        if (c == 0) c = 0xFFFD;
    const std::string field = base_detail::csv_guarded(chart_detail::encode_utf8(characters));
    if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
    std::string out = "\"";
    for (const char c : field) {
        if (c == '"') out += '"';
        out += c;
    }
    return out + '"';
}

// The high bit of every byte that is no printable ASCII or a quote; eight at a time, as this sees every byte of a
// table.
std::uint64_t unprintable_or_quote(std::uint64_t bytes) {
    constexpr std::uint64_t kOnes = 0x0101010101010101u, kHighs = 0x8080808080808080u;
    const std::uint64_t below = bytes - 0x20 * kOnes;  // below 0x20; a borrow marks the next byte too
    const std::uint64_t above = bytes + kOnes;         // 0x7F
    const std::uint64_t quote = (bytes ^ 0x22 * kOnes) - kOnes;
    return (below | above | quote | bytes) & kHighs;
}

// Printable ASCII without quotes. May refuse what is: the slow way gives the same.
bool is_simple(std::string_view text) {
    std::uint64_t odd = 0, bytes = 0;
    while (text.size() >= 8) {
        std::memcpy(&bytes, text.data(), 8);
        odd |= unprintable_or_quote(bytes);
        text.remove_prefix(8);
    }
    bytes = 0x6161616161616161u;
    if (!text.empty()) std::memcpy(&bytes, text.data(), text.size());
    return (odd | unprintable_or_quote(bytes)) == 0;
}

bool may_begin_a_formula(char c) { return c == '=' || c == '+' || c == '-' || c == '@' || c == '\''; }

// Needs neither quotes nor a guard, as nearly every cell of a long table.
bool is_plain(std::string_view text) {
    if (text.empty()) return true;
    return !may_begin_a_formula(text.front()) && text.find(',') == std::string_view::npos && is_simple(text);
}

// Whether the cells lie in memory as they were read, with a comma between each and the next.
bool lie_side_by_side(std::span<const std::string_view> cells) {
    for (std::size_t i = 0; i + 1 < cells.size(); ++i) {
        const char* const end = cells[i].data() + cells[i].size();
        if (cells[i + 1].data() != end + 1 || *end != ',') return false;
    }
    return true;
}

}  // namespace

void add_csv_cell(std::string& line, std::string_view text) {
    if (is_plain(text))
        line += text;
    else
        line += csv_field(text);
}

void add_csv_cells(std::string& line, std::span<const std::string_view> cells, std::size_t columns) {
    if (!cells.empty() && cells.size() == columns && lie_side_by_side(cells)) {
        const std::string_view all(
            cells.front().data(),
            static_cast<std::size_t>(cells.back().data() - cells.front().data()) + cells.back().size());
        const auto guarded = [](std::string_view cell) { return !cell.empty() && may_begin_a_formula(cell.front()); };
        if (is_simple(all) && std::none_of(cells.begin(), cells.end(), guarded)) {
            line += all;
            return;
        }
    }
    for (std::size_t i = 0; i < columns; ++i) {
        if (i > 0) line += ',';
        if (i < cells.size()) add_csv_cell(line, cells[i]);
    }
}

std::string csv_line(const std::vector<std::string>& fields) {
    std::string line;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (i > 0) line += ',';
        add_csv_cell(line, fields[i]);
    }
    line += '\n';
    return line;
}

std::string markdown_escaped(std::string_view text) {
    std::string out;
    for (const char c : chart_detail::printable(text)) {
        if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else if (c == '&')
            out += "&amp;";
        else
            out += (std::string_view("|*_`[]\\").find(c) == std::string_view::npos ? "" : "\\") + std::string(1, c);
    }
    return out;
}

}  // namespace gambrel::report_detail
