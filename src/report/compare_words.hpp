// How a comparison is worded, in the table, the page and the files alike.
#pragma once

#include <string>
#include <vector>

#include <gambrel/compare.hpp>

namespace gambrel::report_detail {

// False for a model against the simulator, whose time is only the shortest that its bytes allow.
bool times_compare(const Comparison& c);
// after / before; for a prediction its error, predicted / measured.
std::optional<double> shown_ratio(const Change& change, const Comparison& c);
std::string change_text(std::optional<double> ratio);  // "+12.3 %", "x20.5", "-3.1 %"; "" if unknown
// "DRAM (87 %)", "efficiency" if no roof explains it, "" if nothing changed or a side is missing.
std::string explained_text(const ComparedPair& pair);
const Kernel& shown_kernel(const ComparedPair& pair, const Comparison& c);  // the side after, else the one before
// How it was matched, how many have no partner, what the figures are.
std::vector<std::string> summary_of(const Comparison& c);

struct SumLine {
    std::string what, before, after, change;
};
std::vector<SumLine> sums_of(const Comparison& c);  // time, FLOP, bytes at each level, of the whole

}  // namespace gambrel::report_detail
