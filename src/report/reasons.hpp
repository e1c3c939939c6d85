// Why a row is incomplete or suspect, in the words that CSV, table and chart share.
#pragma once

#include <string>

#include <gambrel/roofline.hpp>

namespace gambrel::report_detail {

// With the remedies (long lists of counters) only where there is room for them.
inline std::string reason_text(const AnalysisRow& row, bool with_remedies) {
    std::string out;
    const auto add = [&](const std::string& text) { out += (out.empty() ? "" : "; ") + text; };
    for (const auto& reason : row.kernel.reasons) add(reason.str());
    for (const auto& finding : row.verdict.findings) add(finding);
    if (with_remedies)
        for (const auto& remedy : row.kernel.remedies) add("to collect it: " + remedy.str());
    return out;
}

}  // namespace gambrel::report_detail
