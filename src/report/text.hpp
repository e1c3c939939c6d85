// Text for terminals: columns are counted as a terminal shows them, not as bytes. Whatever a profiler put into a name
// comes out as valid UTF-8 without control characters, so that a name can neither break a line nor inject an escape.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gambrel::report_detail {

// Invalid bytes become U+FFFD, one for each maximal broken part.
std::u32string decode_utf8(std::string_view bytes);
std::string encode_utf8(std::u32string_view text);

// Control and direction-changing characters are spelled out ("\n", "\x1b", "\u202e"); with `ascii`, all beyond ASCII
// too.
std::string printable(std::string_view text, bool ascii = false);

int display_width(std::string_view printable_text);
// At most `width` columns; the end that is cut off is marked.
std::string truncated(std::string_view printable_text, int width, bool ascii = false);
std::string aligned(std::string text, int width, bool right);

// Lines of at most `width` columns, all but the first behind `indent` blanks. A word longer than a line is cut;
// a number stays with its percent sign.
std::vector<std::string> wrapped(std::string_view printable_text, int width, int indent = 0);

// Nothing if `on` is false; `code` is an SGR parameter such as "1" or "38;5;39".
std::string painted(std::string text, std::string_view code, bool on);

}  // namespace gambrel::report_detail
