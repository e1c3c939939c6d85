#include "base/printable.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

namespace gambrel::base_detail {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

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

bool is_binary(std::string_view text) {
    text = text.substr(0, 4096);
    // Most files are plain ASCII, of which nothing needs to be decoded.
    const auto plain = [](char c) { return (c >= 0x20 && c < 0x7F) || c == '\n' || c == '\t' || c == '\r'; };
    if (std::all_of(text.begin(), text.end(), plain)) return false;
    const std::u32string head = decode_utf8(text);
    const auto strange = [](char32_t c) {
        const bool usual = c == U'\t' || c == U'\n' || c == U'\r' || c == 0x1B || c == 0xFEFF;
        return c == kReplacement || (is_unsafe(c) && !usual);
    };
    const auto count = static_cast<std::size_t>(std::count_if(head.begin(), head.end(), strange));
    constexpr std::size_t kFewest = 64;  // a few bytes say nothing
    return head.size() >= kFewest && 4 * count > head.size();
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

}  // namespace gambrel::base_detail
