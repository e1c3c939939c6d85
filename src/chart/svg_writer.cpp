#include "chart/svg_writer.hpp"

#include <cmath>

#include <fmt/format.h>

#include "base/output_file.hpp"
#include "chart/text.hpp"

namespace gambrel::chart_detail {

std::string xml_escaped(std::string_view text) {
    std::string out;
    for (const char c : printable(text)) switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\'':
                out += "&#39;";
                break;
            default:
                out += c;
        }
    // U+FFFE and U+FFFF are valid UTF-8 but no characters of XML.
    for (const std::string_view bad : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"})
        for (auto at = out.find(bad); at != std::string::npos; at = out.find(bad, at))
            out.replace(at, 3, "\xEF\xBF\xBD");
    return out;
}

std::string svg_number(double value) {
    if (!std::isfinite(value)) return "0";
    std::string text = fmt::format("{:.2f}", value);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text == "-0" ? "0" : text;
}

void SvgWriter::start(std::string_view element, const Attributes& attributes) {
    out_.append(2 * open_.size(), ' ');
    out_ += fmt::format("<{}", element);
    for (const auto& a : attributes) out_ += fmt::format(" {}=\"{}\"", a.name, xml_escaped(a.value));
}

void SvgWriter::open(std::string_view element, const Attributes& attributes) {
    start(element, attributes);
    out_ += ">\n";
    open_.emplace_back(element);
}

void SvgWriter::close() {
    const std::string element = std::move(open_.back());
    open_.pop_back();
    out_.append(2 * open_.size(), ' ');
    out_ += fmt::format("</{}>\n", element);
    if (open_.empty()) out_ += fmt::format("{}\n", base_detail::kCommentMark);
}

void SvgWriter::empty(std::string_view element, const Attributes& attributes) {
    start(element, attributes);
    out_ += "/>\n";
}

void SvgWriter::text_element(std::string_view element, std::string_view content, const Attributes& attributes) {
    start(element, attributes);
    out_ += fmt::format(">{}</{}>\n", xml_escaped(content), element);
}

}  // namespace gambrel::chart_detail
