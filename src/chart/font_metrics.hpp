// How wide a text will be in the charts' font. The widths are those of DejaVu Sans, the widest of the fonts that the
// charts ask for, so that a box computed here holds the text in any of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gambrel::chart_detail {

double text_width(std::string_view utf8, double font_size);
// Cut with an ellipsis so that it is at most `width` wide.
std::string fitted(std::string_view utf8, double font_size, double width);
std::vector<std::string> wrapped_to(std::string_view utf8, double font_size, double width);

}  // namespace gambrel::chart_detail
