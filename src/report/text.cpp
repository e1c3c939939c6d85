#include "report/text.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace gambrel::report_detail {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

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

bool is_unsafe(char32_t c) {
    const bool control = c < 0x20 || (c >= 0x7F && c <= 0x9F);
    const bool reorders = (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F);
    return control || reorders || c == 0xFEFF || c == 0x61C || (c >= 0xFFF9 && c <= 0xFFFB) || c >= 0xE0000;
}

// How many continuation bytes follow, or -1; `low` and `high` bound the first of them (no overlong, no surrogates).
int sequence(unsigned char lead, unsigned char& low, unsigned char& high) {
    low = 0x80, high = 0xBF;
    if (lead < 0x80) return 0;
    if (lead >= 0xC2 && lead <= 0xDF) return 1;
    if (lead >= 0xE0 && lead <= 0xEF) {
        if (lead == 0xE0) low = 0xA0;
        if (lead == 0xED) high = 0x9F;
        return 2;
    }
    if (lead >= 0xF0 && lead <= 0xF4) {
        if (lead == 0xF0) low = 0x90;
        if (lead == 0xF4) high = 0x8F;
        return 3;
    }
    return -1;
}

}  // namespace

std::u32string decode_utf8(std::string_view bytes) {
    std::u32string out;
    out.reserve(bytes.size());
    for (std::size_t i = 0; i < bytes.size();) {
        const auto lead = static_cast<unsigned char>(bytes[i++]);
        unsigned char low = 0, high = 0;
        const int more = sequence(lead, low, high);
        char32_t c = more <= 0 ? lead : static_cast<char32_t>(lead & (0x3F >> more));
        bool good = more >= 0;
        for (int k = 0; good && k < more; ++k) {
            const auto next = i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0;
            good = next >= low && next <= high;
            if (!good) break;
            c = (c << 6) | (next & 0x3F), ++i;
            low = 0x80, high = 0xBF;
        }
        out.push_back(good ? c : kReplacement);
    }
    return out;
}

std::string encode_utf8(std::u32string_view text) {
    std::string out;
    out.reserve(text.size());
    const auto put = [&](char32_t v) { out.push_back(static_cast<char>(v)); };
    for (const char32_t c : text) {
        if (c < 0x80) {
            put(c);
        } else if (c < 0x800) {
            put(0xC0 | (c >> 6)), put(0x80 | (c & 0x3F));
        } else if (c < 0x10000) {
            put(0xE0 | (c >> 12)), put(0x80 | ((c >> 6) & 0x3F)), put(0x80 | (c & 0x3F));
        } else {
            put(0xF0 | (c >> 18)), put(0x80 | ((c >> 12) & 0x3F)), put(0x80 | ((c >> 6) & 0x3F)),
                put(0x80 | (c & 0x3F));
        }
    }
    return out;
}

std::string printable(std::string_view text, bool ascii) {
    std::string out;
    for (const char32_t c : decode_utf8(text)) {
        const auto code = static_cast<std::uint32_t>(c);
        if (c == U'\n') {
            out += "\\n";
        } else if (c == U'\t') {
            out += "\\t";
        } else if (ascii && c == U'…') {
            out += "..";
        } else if (ascii && c == U'·') {
            out += "-";
        } else if (is_unsafe(c) || (ascii && c > 0x7E)) {
            out += code < 0x100 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
        } else {
            out += encode_utf8(std::u32string_view(&c, 1));
        }
    }
    return out;
}

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

}  // namespace gambrel::report_detail
