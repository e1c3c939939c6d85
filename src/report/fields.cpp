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

}  // namespace

std::string csv_line(const std::vector<std::string>& fields) {
    std::string line;
    for (std::size_t i = 0; i < fields.size(); ++i) line += (i == 0 ? "" : ",") + csv_field(fields[i]);
    return line + "\n";
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
