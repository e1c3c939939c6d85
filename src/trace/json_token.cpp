#include "trace/json_token.hpp"

#include <charconv>
#include <cmath>

namespace gambrel::trace_detail {
namespace {

void append_utf8(std::string& out, std::uint32_t c) {
    const auto byte = [&](std::uint32_t b) { out += static_cast<char>(b); };
    if (c < 0x80) {
        byte(c);
    } else if (c < 0x800) {
        byte(0xC0U | (c >> 6U)), byte(0x80U | (c & 0x3FU));
    } else {
        byte(0xE0U | (c >> 12U)), byte(0x80U | ((c >> 6U) & 0x3FU)), byte(0x80U | (c & 0x3FU));
    }
}

// The year 2065; sums and differences of two such times in nanoseconds are still int64.
constexpr std::int64_t kMostMicroseconds = 3'000'000'000'000'000;

}  // namespace

std::string_view bare(std::string_view token) {
    if (token.starts_with('"')) {
        const auto end = token.rfind('"');
        return end == 0 ? std::string_view{} : token.substr(1, end - 1);
    }
    const auto end = token.find_last_not_of(" \t\r\n");
    return token.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

std::string_view unescaped(std::string_view raw, std::string& room) {
    if (raw.find('\\') == std::string_view::npos) return raw;
    room.clear();
    for (std::size_t i = 0; i < raw.size(); ++i) {
        if (raw[i] != '\\' || i + 1 == raw.size()) {
            room += raw[i];
            continue;
        }
        const char c = raw[++i];
        if (c == 'u' && i + 4 < raw.size()) {
            std::uint32_t code = 0;
            std::from_chars(raw.data() + i + 1, raw.data() + i + 5, code, 16);
            append_utf8(room, code >= 0xD800 && code < 0xE000 ? 0xFFFD : code);
            i += 4;
        } else {
            room += c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
        }
    }
    return room;
}

std::optional<std::int64_t> nanoseconds(std::string_view text) {
    const char* at = text.data();
    const char* const end = at + text.size();
    const bool negative = at != end && *at == '-';
    if (negative) ++at;
    std::int64_t whole = 0, fraction = 0;
    const char* const first = at;
    for (; at != end && *at >= '0' && *at <= '9'; ++at) {
        whole = whole * 10 + (*at - '0');
        if (whole > kMostMicroseconds) return std::nullopt;
    }
    if (at == first) return std::nullopt;
    if (at != end && *at == '.') {
        ++at;
        int digits = 0;
        for (; at != end && *at >= '0' && *at <= '9'; ++at, ++digits) {
            if (digits < 3) fraction = fraction * 10 + (*at - '0');
            if (digits == 3 && *at >= '5') ++fraction;
        }
        for (; digits < 3; ++digits) fraction *= 10;
    }
    if (at != end) {  // 1.6e15: no profiler writes it, other tools that rewrite traces do
        double value = 0;
        const auto [stop, fault] = std::from_chars(text.data(), end, value);
        if (fault != std::errc{} || stop != end || !(std::abs(value) < static_cast<double>(kMostMicroseconds)))
            return std::nullopt;
        return std::llround(value * 1000);
    }
    const std::int64_t ns = whole * 1000 + fraction;
    return negative ? -ns : ns;
}

std::optional<std::int64_t> integer(std::string_view text) {
    std::int64_t value = 0;
    const auto [stop, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc{}) return std::nullopt;
    if (stop != text.data() + text.size() && *stop != '.') return std::nullopt;
    return value;
}

std::string closed_after_last_event(std::string_view text) {
    std::size_t last = 0;
    std::string closers;           // of what is open
    std::string closers_of_last;   // of what was open behind the last event
    std::size_t events_depth = 0;  // of the list of events; 0: not met yet
    std::string_view key;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '"') {
            const std::size_t begin = i + 1;
            for (++i; i < text.size() && text[i] != '"'; ++i)
                if (text[i] == '\\') ++i;
            if (i >= text.size()) break;
            if (closers.size() == 1) key = text.substr(begin, i - begin);
        } else if (c == '{' || c == '[') {
            closers += c == '{' ? '}' : ']';
            if (closers.size() > 1000) break;
            if (c == '[' && (closers.size() == 1 || (closers.size() == 2 && key == "traceEvents")))
                events_depth = closers.size();
        } else if (c == '}' || c == ']') {
            if (closers.empty() || closers.back() != c) break;
            closers.pop_back();
            if (c == '}' && events_depth > 0 && closers.size() == events_depth) last = i + 1, closers_of_last = closers;
        }
    }
    if (last == 0) return {};
    std::string out(text.substr(0, last));
    out.append(closers_of_last.rbegin(), closers_of_last.rend());
    return out;
}

std::string as_plain(std::string_view text) {
    std::string out(text);
    for (char& c : out) {
        const auto byte = static_cast<unsigned char>(c);
        c = byte >= 0x80 ? '?' : byte < 0x20 ? ' ' : c;
    }
    return out;
}

}  // namespace gambrel::trace_detail
