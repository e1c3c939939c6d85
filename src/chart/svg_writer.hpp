// Writes SVG elements: escapes every text and value, spells numbers in few and always the same digits. Knows no chart.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gambrel::chart_detail {

// For element content and attribute values: valid XML 1.0 whatever the bytes were.
std::string xml_escaped(std::string_view text);
std::string svg_number(double value);  // at most two decimals

struct Attribute {
    std::string_view name;
    std::string value;
    Attribute(std::string_view n, std::string_view v) : name(n), value(v) {}
    Attribute(std::string_view n, double v) : name(n), value(svg_number(v)) {}
};
using Attributes = std::vector<Attribute>;

class SvgWriter {
public:
    void open(std::string_view element, const Attributes& attributes = {});
    void close();
    void empty(std::string_view element, const Attributes& attributes);
    void text_element(std::string_view element, std::string_view content, const Attributes& attributes = {});
    // Every open element must have been closed.
    [[nodiscard]] std::string take() { return std::move(out_); }

private:
    void start(std::string_view element, const Attributes& attributes);
    std::string out_;
    std::vector<std::string> open_;
};

}  // namespace gambrel::chart_detail
