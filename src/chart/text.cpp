#include "chart/text.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace gambrel::chart_detail {
namespace {

struct Span {
    char32_t first, last;
};
// Wide and zero-width ranges of Unicode 15 (EastAsianWidth.txt W and F, combining marks), coarse where blocks are
// uniform. Not wcwidth(): that depends on the locale of the process, and equal input must give equal bytes.
constexpr std::array<Span, 18> kWide{{{0x1100, 0x115F},
                                      {0x231A, 0x231B},
                                      {0x2329, 0x232A},
                                      {0x23E9, 0x23EC},
                                      {0x25FD, 0x25FE},
                                      {0x2614, 0x2615},
                                      {0x26A1, 0x26A1},
                                      {0x2705, 0x2705},
                                      {0x2E80, 0x303E},
                                      {0x3041, 0xA4CF},
                                      {0xA960, 0xA97F},
                                      {0xAC00, 0xD7A3},
                                      {0xF900, 0xFAFF},
                                      {0xFE30, 0xFE6F},
                                      {0xFF00, 0xFF60},
                                      {0xFFE0, 0xFFE6},
                                      {0x1F300, 0x1FAFF},
                                      {0x20000, 0x3FFFD}}};
constexpr std::array<Span, 10> kZero{{{0x0300, 0x036F},
                                      {0x0483, 0x0489},
                                      {0x0591, 0x05BD},
                                      {0x064B, 0x065F},
                                      {0x0E34, 0x0E3A},
                                      {0x1AB0, 0x1AFF},
                                      {0x1DC0, 0x1DFF},
                                      {0x20D0, 0x20FF},
                                      {0xFE00, 0xFE0F},
                                      {0xFE20, 0xFE2F}}};

template <std::size_t N>
bool within(const std::array<Span, N>& spans, char32_t c) {
    return std::any_of(spans.begin(), spans.end(), [c](Span s) { return c >= s.first && c <= s.last; });
}

int columns(char32_t c) {
    if (c < 0x300) return 1;
    if (within(kZero, c)) return 0;
    return within(kWide, c) ? 2 : 1;
}

}  // namespace

int display_width(std::string_view text) {
    int width = 0;
    for (const char32_t c : decode_utf8(text)) width += columns(c);
    return width;
}

std::string truncated(std::string_view text, int width, bool ascii) {
    if (width <= 0) return {};
    if (display_width(text) <= width) return std::string(text);
    const int mark = ascii ? std::min(2, width) : 1;
    std::u32string kept;
    int used = 0;
    for (const char32_t c : decode_utf8(text)) {
        if (used + columns(c) > width - mark) break;
        kept.push_back(c), used += columns(c);
    }
    return encode_utf8(kept) + (ascii ? std::string(static_cast<std::size_t>(mark), '.') : "…");
}

std::string aligned(std::string text, int width, bool right) {
    const int missing = width - display_width(text);
    if (missing <= 0) return text;
    const std::string blanks(static_cast<std::size_t>(missing), ' ');
    return right ? blanks + text : text + blanks;
}

std::vector<std::string> wrapped(std::string_view text, int width, int indent) {
    width = std::max(width, 4);
    indent = std::clamp(indent, 0, width / 2);
    std::vector<std::string> lines;
    std::u32string line;
    int used = 0;
    const auto flush = [&] {
        while (!line.empty() && line.back() == U' ') line.pop_back();
        lines.push_back(encode_utf8(line));
        line.assign(static_cast<std::size_t>(indent), U' ');
        used = indent;
    };
    const std::u32string all = decode_utf8(text);
    for (std::size_t i = 0; i < all.size();) {
        std::size_t end = std::min(all.find(U' ', i), all.size());
        if (end + 1 < all.size() && all[end + 1] == U'%') end = std::min(all.find(U' ', end + 1), all.size());
        int word = 0;
        for (std::size_t k = i; k < end; ++k) word += columns(all[k]);
        const int start = lines.empty() ? 0 : indent;
        if (used > start && used + word > width) flush();
        for (; i < end; ++i) {
            if (used + columns(all[i]) > width) flush();
            line.push_back(all[i]), used += columns(all[i]);
        }
        if (i < all.size()) {
            if (used < width) line.push_back(U' '), ++used;
            ++i;
        }
    }
    if (lines.empty() || used > indent) flush();
    return lines;
}

std::string painted(std::string text, std::string_view code, bool on) {
    if (!on || code.empty() || text.empty()) return text;
    return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

}  // namespace gambrel::chart_detail
