#include "report/fields.hpp"

#include <algorithm>
#include <array>

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

// Whether a text is all printable ASCII. This sees every byte of a table, so that it goes by blocks, which compilers
// make vector instructions of: of unsigned bytes they have the larger one, but no comparison. The last block overlaps
// the one before it.
bool is_printable_ascii(std::string_view text) {
    constexpr std::size_t kBlock = 16;
    const auto above_space = [](char c) { return static_cast<unsigned char>(c - ' '); };
    const auto is_odd = [](unsigned char above) { return above > '~' - ' '; };
    if (text.size() < kBlock)
        return std::none_of(text.begin(), text.end(), [&](char c) { return is_odd(above_space(c)); });
    std::array<unsigned char, kBlock> most{};
    const auto look_at = [&](const char* block) {
        for (std::size_t i = 0; i < kBlock; ++i) most[i] = std::max(most[i], above_space(block[i]));
    };
    for (std::size_t at = 0; at + kBlock <= text.size(); at += kBlock) look_at(text.data() + at);
    look_at(text.data() + text.size() - kBlock);
    unsigned odd = 0;
    for (const unsigned char above : most) odd |= is_odd(above) ? 1U : 0U;
    return odd == 0;
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
    if (!is_printable_ascii(text) || may_begin_a_formula(text.front()))
        line += csv_field(text);
    else if (text.find(',') != std::string_view::npos || text.find('"') != std::string_view::npos)
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
    if (!is_printable_ascii(fields)) return false;
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
