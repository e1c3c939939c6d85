#include <algorithm>

#include <fmt/format.h>

#include <gambrel/report.hpp>

#include "chart/text.hpp"
#include "report/ceiling_value.hpp"
#include "report/numbers.hpp"

namespace gambrel {

using namespace chart_detail;
using namespace report_detail;

std::string cluster_text(const ClusterSummary& s, const TextStyle& wanted) {
    TextStyle style = wanted;
    style.width = std::clamp(style.width, 40, 250);
    const bool ascii = !style.unicode;
    Table table({{"ceiling", false, 100, 16},
                 {"ranks", true, 60},
                 {"median", true, 95},
                 {"lowest", true, 80},
                 {"rank", true, 50},
                 {"highest", true, 80},
                 {"rank", true, 50},
                 {"spread", true, 90}});
    std::vector<std::string> named;
    for (const CeilingSpread& c : s.ceilings) {
        const double median = c.typical.value.median;
        table.add({{printable(c.typical.title, ascii), count_text(c.ranks), ceiling_value(c.typical, median, 4),
                    ceiling_value(c.typical, c.lowest, 4), std::to_string(c.lowest_rank),
                    ceiling_value(c.typical, c.highest, 4), std::to_string(c.highest_rank),
                    median > 0 ? fmt::format("{:.1f} %", 100 * (c.highest - c.lowest) / median) : ""},
                   c.outliers.empty() ? "" : "notice",
                   {}});
        for (const Outlier& o : c.outliers)
            named.push_back(fmt::format("Outlier: rank {} ({}), {}: {:+.1f} %, {}", o.rank, o.device, c.typical.title,
                                        100 * o.relative,
                                        o.worse ? "worse than the others" : "better than the others"));
    }
    std::string out = terminal_text(table, style) + "\n";
    const auto paragraph = [&](const std::string& words) {
        for (auto& line : wrapped(printable(words, ascii), style.width)) out += line + "\n";
    };
    for (const std::string& line : named) paragraph(line);
    for (const auto& [rank, why] : s.failed) paragraph(fmt::format("Failed: rank {}: {}", rank, why));
    if (named.empty() && !s.ceilings.empty())
        paragraph(s.ceilings.front().ranks < 3 ? "It takes three ranks to name an outlier."
                                               : "No rank stands out (5 % and 3.5 robust standard deviations).");
    return out;
}

}  // namespace gambrel
