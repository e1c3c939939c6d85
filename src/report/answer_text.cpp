#include "report/answer_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <gambrel/roofline.hpp>

#include "report/numbers.hpp"
#include "report/telling_phases.hpp"

namespace gambrel::report_detail {
namespace {

constexpr std::size_t kMostItems = 3;
constexpr double kMuchUnjudged = 0.05;

// Names of these rows: those that differ look different, and those that are equal have their phase.
std::vector<std::string> row_names(const Analysis& analysis, const std::vector<std::size_t>& rows) {
    std::vector<std::string_view> names;
    for (const std::size_t row : rows) names.emplace_back(analysis.rows[row].kernel.name.str());
    std::vector<std::string> out = short_names(names, 40);
    std::vector<const Kernel*> all;
    for (const AnalysisRow& row : analysis.rows) all.push_back(&row.kernel);
    const std::vector<std::string> phases = telling_phases(all);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Kernel& k = analysis.rows[rows[i]].kernel;
        if (analysis.grouping == Grouping::phase && !k.phase.empty())
            out[i] = k.phase.str();
        else if (!phases[rows[i]].empty())
            out[i] += " in " + phases[rows[i]];
    }
    return out;
}

}  // namespace

std::string answer_text(const Analysis& analysis) {
    const Answer a = answer(analysis);
    if (a.time <= Seconds{} || a.unjudged >= a.time || analysis.origin == Origin::simulated) return {};
    std::string text = fmt::format("{}; {} at the roofs.", to_text(a.time, 3), to_text(a.at_roofs, 3));
    std::vector<std::size_t> first;
    for (std::size_t i = 0; i < std::min(a.first.size(), kMostItems); ++i) first.push_back(a.first[i].row);
    const std::vector<std::string> names = row_names(analysis, first);
    for (std::size_t i = 0; i < first.size(); ++i)
        text += fmt::format("{} {} (-{}, {:.2f}x)", i == 0 ? " First:" : ",", names[i], to_text(a.first[i].headroom, 3),
                            a.first[i].step_speedup);
    text += a.first.empty() ? " No kernel is far from its roof: only less work would save time." : ".";
    if (a.unjudged > kMuchUnjudged * a.time)
        text += fmt::format(" {} of the time could not be judged.", percent_text(a.unjudged / a.time));
    return text;
}

std::vector<std::string> advice_texts(const Analysis& analysis) {
    std::vector<std::string> out;
    for (const Advice& a : advice(analysis))
        out.push_back(fmt::format("{} {} Saves {}{} (step {:.2f}x).", a.text, a.evidence, a.at_most ? "at most " : "",
                                  to_text(a.gain, 3), a.step_speedup));
    return out;
}

}  // namespace gambrel::report_detail
