// Names that a spreadsheet would run as a formula: text that begins with = + - @, a tab or a carriage return. They are
// written behind an apostrophe, which spreadsheets take for "this is text", and read back without it. Numbers stay as
// they are. Invariant: csv_unguarded(csv_guarded(text)) == text.
#pragma once

#include <charconv>
#include <string>
#include <string_view>

namespace gambrel::base_detail {

// Behind any number of apostrophes, so that one that was part of the name is not lost.
inline bool begins_like_a_formula(std::string_view text) {
    const auto first = text.find_first_not_of('\'');
    return first != std::string_view::npos && std::string_view("=+-@\t\r").find(text[first]) != std::string_view::npos;
}

inline std::string csv_guarded(std::string text) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_number = error == std::errc{} && end == text.data() + text.size();
    if (!is_number && begins_like_a_formula(text)) text.insert(text.begin(), '\'');
    return text;
}

inline std::string_view csv_unguarded(std::string_view text) {
    if (text.starts_with('\'') && begins_like_a_formula(text)) text.remove_prefix(1);
    return text;
}

}  // namespace gambrel::base_detail
