// The first sentence of every view of an analysis: how long, how long at the roofs, and what to work on first.
#pragma once

#include <string>
#include <vector>

#include <gambrel/roofline.hpp>

namespace gambrel::report_detail {

// "332 ms; 132 ms at the roofs. First: dgrad2d_grouped_direct (-59 ms, 1.22x), col2im (-16 ms, 1.05x)." "" where no row
// could be judged, and where the time itself is the roofs' (a simulation).
std::string answer_text(const Analysis& analysis);
// "advice: Keep tensors in ... (evidence) Saves 19.6 ms, 1.06x.", one for each rule that applies, the largest gain
// first.
std::vector<std::string> advice_texts(const Analysis& analysis);

}  // namespace gambrel::report_detail
