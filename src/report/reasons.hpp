// Why a row is incomplete or suspect, in the words that CSV, table and chart share.
#pragma once

#include <string>

#include <gambrel/analysis.hpp>

namespace gambrel::report_detail {

inline std::string reason_text(const AnalysisRow& row) {
    std::string out;
    const auto add = [&](const std::string& text) { out += (out.empty() ? "" : "; ") + text; };
    for (const auto& reason : row.kernel.reasons) add(reason.str());
    for (const auto& finding : row.verdict.findings) add(finding);
    return out;
}

}  // namespace gambrel::report_detail
