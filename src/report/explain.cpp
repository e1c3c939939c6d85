#include "report/explain.hpp"

#include <fmt/format.h>

#include "chart/text.hpp"
#include "report/numbers.hpp"

namespace gambrel::report_detail {

using namespace chart_detail;

namespace {

template <class Q>
std::string amount_text(std::string_view what, const Amount<Q>& amount) {
    const std::string rule = amount.rule.empty() ? "" : " by " + amount.rule.str();
    return fmt::format("{} {}: {}{}", what, to_text(amount.value, 4), name(amount.origin), rule);
}

template <class Verdict>
std::string roof_text(std::string_view what, const Verdict& v) {
    const std::string cite = v.ceiling_cite.empty() ? "" : ": " + v.ceiling_cite;
    return fmt::format("{} roof: {} of {} = {}, shortest time {} ({}{})", what, to_text(v.achieved, 4),
                       to_text(v.ceiling, 4), percent_text(v.of_ceiling), to_text(v.shortest, 4),
                       name(v.ceiling_origin), cite);
}

// Integer work is not FLOP.
std::string in_units_of(Pipe pipe, std::string text) {
    if (!is_integer(pipe)) return text;
    for (std::size_t at = text.find("FLOP"); at != std::string::npos; at = text.find("FLOP", at)) text.erase(at, 2);
    return text;
}

}  // namespace

std::vector<std::string> explanation(const AnalysisRow& row, const TextStyle& style) {
    std::vector<std::string> lines;
    const auto add = [&](std::string_view text) {
        for (auto& line : wrapped("    " + printable(text, !style.unicode), style.width, 8))
            lines.push_back(std::move(line));
    };
    const Kernel& k = row.kernel;
    const Roofline& v = row.verdict;
    if (short_name(k.name.str()) != k.name.str()) add(k.name.str());
    if (k.time) add(amount_text("time", *k.time));
    for (const Pipe p : all_pipes())
        if (k.work[p] && k.work[p]->value.value() > 0) add(in_units_of(p, amount_text(title(p), *k.work[p])));
    for (const Level l : all_levels())
        if (k.bytes[l]) add(amount_text(name(l), *k.bytes[l]));
    if (k.clock) add(amount_text("clock", *k.clock));
    for (const auto& p : v.pipes) add(in_units_of(p.pipe, roof_text(title(p.pipe), p)));
    for (const auto& l : v.levels) add(roof_text(name(l.level), l));
    if (v.clock) add("roofs at " + to_text(*v.clock, 4));
    if (v.headroom) add("headroom " + to_text(*v.headroom, 4));
    if (!v.why.empty()) add(fmt::format("bound {}: {}", bound_text(v.bound), v.why));
    for (const auto& reason : k.reasons) add("reason: " + reason.str());
    for (const auto& remedy : k.remedies) add("to collect it: " + remedy.str());
    for (const auto& finding : v.findings) add("finding: " + finding);
    return lines;
}

}  // namespace gambrel::report_detail
