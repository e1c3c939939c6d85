#include "report/fields.hpp"

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

// Printable ASCII that needs neither quotes nor a guard, as nearly every cell of a long table.
bool is_plain(std::string_view text) {
    if (text.empty()) return true;
    if (text.front() == '\'' || base_detail::begins_like_a_formula(text)) return false;
    unsigned odd = 0;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        odd |= static_cast<unsigned>(byte < 0x20) | static_cast<unsigned>(byte > 0x7E) |
               static_cast<unsigned>(c == ',') | static_cast<unsigned>(c == '"');
    }
    return odd == 0;
}

}  // namespace

void add_csv_cell(std::string& line, std::string_view text) {
    if (is_plain(text))
        line += text;
    else
        line += csv_field(text);
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
