// What the GPU time of a trace is made of, for the terminal.
#pragma once

#include <string>

#include <gambrel/report.hpp>

namespace gambrel::report_detail {

std::string timeline_text(const TimelineSummary& timeline, const TextStyle& style);

}  // namespace gambrel::report_detail
