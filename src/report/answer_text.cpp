#include "report/answer_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <gambrel/roofline.hpp>

#include "report/numbers.hpp"

namespace gambrel::report_detail {
namespace {

constexpr std::size_t kMostItems = 3;
constexpr double kMuchUnjudged = 0.05;

std::string row_name(const Analysis& analysis, std::size_t row) {
    const Kernel& k = analysis.rows[row].kernel;
    return analysis.grouping == Grouping::phase && !k.phase.empty() ? k.phase.str() : short_name(k.name.str(), 40);
}

}  // namespace

std::string answer_text(const Analysis& analysis) {
    const Answer a = answer(analysis);
    if (a.time <= Seconds{} || a.unjudged >= a.time || analysis.origin == Origin::simulated) return {};
    std::string text = fmt::format("{}; {} at the roofs.", to_text(a.time, 3), to_text(a.at_roofs, 3));
    for (std::size_t i = 0; i < std::min(a.first.size(), kMostItems); ++i)
        text += fmt::format("{} {} (-{}, {:.2f}x)", i == 0 ? " First:" : ",", row_name(analysis, a.first[i].row),
                            to_text(a.first[i].headroom, 3), a.first[i].step_speedup);
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
