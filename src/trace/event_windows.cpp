#include "trace/event_windows.hpp"

namespace gambrel::trace_detail {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::size_t kLongestHead = std::size_t{1} << 20;

std::size_t after_blanks(std::string_view text, std::size_t at) {
    const auto found = text.find_first_not_of(kBlanks, at);
    return found == std::string_view::npos ? text.size() : found;
}

// Behind the closing quote of the string whose first character is at `at`.
std::size_t after_string(std::string_view text, std::size_t at) {
    while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
    return at + 1;
}

// The bracket that opens traceEvents at the first level of an object.
std::optional<std::size_t> opening_of_events(std::string_view head) {
    std::size_t depth = 0;
    for (std::size_t at = 0; at < head.size(); ++at) {
        const char c = head[at];
        if (c == '{' || c == '[') ++depth;
        if (c == '}' || c == ']') depth -= depth > 0 ? 1 : 0;
        if (c != '"') continue;
        const std::size_t begin = at + 1, end = after_string(head, begin);
        if (end > head.size()) return std::nullopt;
        at = end - 1;
        if (depth != 1 || head.substr(begin, end - 1 - begin) != "traceEvents") continue;
        const std::size_t colon = after_blanks(head, end);
        if (colon >= head.size() || head[colon] != ':') continue;  // a value
        const std::size_t bracket = after_blanks(head, colon + 1);
        if (bracket < head.size() && head[bracket] == '[') return bracket;
        return std::nullopt;
    }
    return std::nullopt;
}

std::string_view indent_before(std::string_view text, std::size_t at) {
    std::size_t begin = at;
    while (begin > 0 && (text[begin - 1] == ' ' || text[begin - 1] == '\t')) --begin;
    return text.substr(begin, at - begin);
}

}  // namespace

std::optional<EventList> event_list(std::string_view text) {
    const std::string_view head = text.substr(0, kLongestHead);
    const std::size_t first = after_blanks(head, 0);
    if (first >= head.size()) return std::nullopt;
    const auto bracket = head[first] == '[' ? std::optional(first) : opening_of_events(head);
    if (!bracket) return std::nullopt;
    const std::size_t begin = after_blanks(head, *bracket + 1);
    if (begin >= head.size() || head[begin] != '{') return std::nullopt;
    return EventList{begin, indent_before(text, begin)};
}

std::optional<std::size_t> end_of_event(std::string_view text, std::size_t from, const EventList& list) {
    for (std::size_t at = text.find('}', from); at != std::string_view::npos; at = text.find('}', at + 1)) {
        const std::size_t comma = after_blanks(text, at + 1);
        if (comma >= text.size() || text[comma] != ',') continue;
        const std::size_t next = after_blanks(text, comma + 1);
        // What lies deeper is indented further, unless the writer indents nothing.
        if (next < text.size() && text[next] == '{' && indent_before(text, next) == list.indent) return at + 1;
    }
    return std::nullopt;
}

std::size_t next_event(std::string_view text, std::size_t end) {
    return after_blanks(text, after_blanks(text, end) + 1);
}

}  // namespace gambrel::trace_detail
