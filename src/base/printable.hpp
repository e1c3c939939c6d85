// The one door for text of others. Whatever a file put into a name comes out as valid UTF-8 without control characters,
// so that it can neither break a line nor reach the terminal as an escape sequence.
#pragma once

#include <string>
#include <string_view>

namespace gambrel::base_detail {

// Invalid bytes become U+FFFD, one for each maximal broken part.
std::u32string decode_utf8(std::string_view bytes);
std::string encode_utf8(std::u32string_view text);

// Control and direction-changing characters are spelled out ("\n", "\x1b", "\u202e"); with `ascii`, all beyond ASCII
// too.
std::string printable(std::string_view text, bool ascii = false);

// Whether the first bytes of a file are mostly no characters, so that no reader of text should try it: an image, a
// program, zeros. Text with a stray control character or in another encoding is not.
bool is_binary(std::string_view text);

}  // namespace gambrel::base_detail
