// What stands behind one row: the rule and origin of each amount, the shortest time under each roof, the findings.
#pragma once

#include <string>
#include <vector>

#include <gambrel/report.hpp>

namespace gambrel::report_detail {

// Lines of at most style.width columns.
std::vector<std::string> explanation(const AnalysisRow& row, const TextStyle& style);

}  // namespace gambrel::report_detail
