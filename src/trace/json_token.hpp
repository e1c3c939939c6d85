// Values of a JSON file as the bytes that stand there: numbers to integers without rounding, strings without quotes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gambrel::trace_detail {

// A token up to the next one, with its quotes and the white space behind it, to what is inside.
std::string_view bare(std::string_view token);
// Escapes replaced; text without any is returned as it is, else put into `room`.
std::string_view unescaped(std::string_view raw, std::string& room);
// Microseconds with a fraction to whole nanoseconds: doubles lose the last digits of a time since 1970.
std::optional<std::int64_t> nanoseconds(std::string_view microseconds);
std::optional<std::int64_t> integer(std::string_view text);

// The text up to the end of the last whole event, closed, of a file that ends too early; empty if there is none.
std::string closed_after_last_event(std::string_view text);
// Every byte that is not ASCII and every control character replaced: for names that are not UTF-8 or not escaped.
std::string as_plain(std::string_view text);

}  // namespace gambrel::trace_detail
