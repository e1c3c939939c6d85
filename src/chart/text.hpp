// Text for terminals: columns are counted as a terminal shows them, not as bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/printable.hpp"

namespace gambrel::chart_detail {

using base_detail::decode_utf8;
using base_detail::encode_utf8;
using base_detail::printable;

int display_width(std::string_view printable_text);
// At most `width` columns; the end that is cut off is marked.
std::string truncated(std::string_view printable_text, int width, bool ascii = false);
std::string aligned(std::string text, int width, bool right);

// Lines of at most `width` columns, all but the first behind `indent` blanks. A word longer than a line is cut;
// a number stays with its percent sign.
std::vector<std::string> wrapped(std::string_view printable_text, int width, int indent = 0);

// Nothing if `on` is false; `code` is an SGR parameter such as "1" or "38;5;39".
std::string painted(std::string text, std::string_view code, bool on);

}  // namespace gambrel::chart_detail
