#include "report/fields.hpp"

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

// Whether a text is all printable ASCII, and has quotes; eight bytes at a time, as this sees every byte of a table. May
// take what is printable for odd: the slow way gives the same.
struct Characters {
    bool odd = false, quotes = false;
};
Characters characters_of(std::string_view text) {
    constexpr std::uint64_t kOnes = 0x0101010101010101u, kHighs = 0x8080808080808080u;
    std::uint64_t odd = 0, quotes = 0;
    const auto look_at = [&](const char* from, std::size_t size) {
        std::uint64_t bytes = 0x6161616161616161u;
        std::memcpy(&bytes, from, size);
        const std::uint64_t below = bytes - 0x20 * kOnes;  // below 0x20; a borrow marks the next byte too
        const std::uint64_t above = bytes + kOnes;         // 0x7F
        odd |= below | above | bytes;
        quotes |= (bytes ^ 0x22 * kOnes) - kOnes;
    };
    // The last word overlaps the one before it.
    const std::size_t whole = text.size() / 8 * 8;
    for (std::size_t at = 0; at < whole; at += 8) look_at(text.data() + at, 8);
    if (text.size() > 8)
        look_at(text.data() + text.size() - 8, 8);
    else if (whole == 0 && !text.empty())
        look_at(text.data(), text.size());
    return {(odd & kHighs) != 0, (quotes & kHighs) != 0};
}

// Of printable ASCII nothing has to be decoded; the names of most kernels have commas.
void add_quoted(std::string& line, std::string_view text) {
    line += '"';
    for (std::size_t quote = text.find('"'); quote != std::string_view::npos; quote = text.find('"')) {
        line += text.substr(0, quote + 1);
        line += '"';
        text.remove_prefix(quote + 1);
    }
    line += text;
    line += '"';
}

bool may_begin_a_formula(char c) { return c == '=' || c == '+' || c == '-' || c == '@' || c == '\''; }

}  // namespace

void add_csv_cell(std::string& line, std::string_view text) {
    if (text.empty()) return;
    const Characters has = characters_of(text);
    if (has.odd || may_begin_a_formula(text.front()))
        line += csv_field(text);
    else if (has.quotes || text.find(',') != std::string_view::npos)
        add_quoted(line, text);
    else
        line += text;
}

void add_csv_cells(std::string& line, std::span<const std::string_view> cells, std::size_t columns) {
    for (std::size_t i = 0; i < columns; ++i) {
        if (i > 0) line += ',';
        if (i < cells.size()) add_csv_cell(line, cells[i]);
    }
}

bool add_canonical_csv(std::string& line, std::string_view fields) {
    if (characters_of(fields).odd) return false;
    line += fields;
    return true;
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
