#include "report/csv_fields.hpp"

#include "report/text.hpp"

namespace gambrel::report_detail {

std::string csv_field(std::string_view text) {
    std::string field = encode_utf8(decode_utf8(text));
    if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
    std::string out = "\"";
    for (const char c : field) {
        if (c == '"') out += '"';
        out += c;
    }
    return out + '"';
}

std::string csv_line(const std::vector<std::string>& fields) {
    std::string line;
    for (std::size_t i = 0; i < fields.size(); ++i) line += (i == 0 ? "" : ",") + fields[i];
    return line + "\n";
}

}  // namespace gambrel::report_detail
