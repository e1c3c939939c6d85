#include "chart/font_metrics.hpp"

#include <array>

#include "chart/text.hpp"

namespace gambrel::chart_detail {
namespace {

// Advance widths of DejaVu Sans 2.37 in thousandths of the font size, U+0020 to U+007E.
constexpr std::array<short, 95> kAdvance{
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361,  318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635,  611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352,  635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592,  525, 636, 337, 636, 838};

double advance(char32_t c) {
    if (c >= 0x20 && c <= 0x7E) return kAdvance[c - 0x20] / 1000.0;
    return c < 0x1100 ? 0.7 : 1.03;
}

}  // namespace

double text_width(std::string_view utf8, double font_size) {
    double ems = 0;
    for (const char32_t c : decode_utf8(utf8)) ems += advance(c);
    return ems * font_size;
}

std::string fitted(std::string_view utf8, double font_size, double width) {
    if (text_width(utf8, font_size) <= width) return std::string(utf8);
    std::u32string kept;
    double used = 1.0;  // the ellipsis
    for (const char32_t c : decode_utf8(utf8)) {
        if ((used += advance(c)) * font_size > width) break;
        kept.push_back(c);
    }
    return encode_utf8(kept) + "…";
}

std::vector<std::string> wrapped_to(std::string_view utf8, double font_size, double width) {
    std::vector<std::string> lines;
    std::string line;
    while (!utf8.empty()) {
        const auto end = std::min(utf8.find(' '), utf8.size());
        const std::string_view word = utf8.substr(0, end);
        utf8.remove_prefix(std::min(end + 1, utf8.size()));
        const std::string longer = line.empty() ? std::string(word) : line + " " + std::string(word);
        if (!line.empty() && text_width(longer, font_size) > width) {
            lines.push_back(line);
            line = word;
        } else {
            line = longer;
        }
    }
    if (!line.empty()) lines.push_back(line);
    for (auto& l : lines) l = fitted(l, font_size, width);
    return lines;
}

}  // namespace gambrel::chart_detail
