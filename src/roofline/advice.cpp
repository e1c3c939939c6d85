#include <gambrel/roofline.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "roofline/advice_facts.hpp"
#include "roofline/advice_rules.hpp"

namespace gambrel {
namespace roofline_detail {
namespace {

constexpr double kWorthwhileShare = 0.01;
constexpr std::size_t kMostNames = 3;

bool has_any(const std::string& name, const std::vector<std::string>& parts) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](const auto& part) { return name.find(part) != std::string::npos; });
}

bool is_meant(const AdviceRule& rule, const std::string& name) {
    return (rule.names.empty() || has_any(name, rule.names)) && !has_any(name, rule.not_names);
}

struct FiredRow {
    std::size_t row = 0;
    double gain = 0;
};

std::vector<FiredRow> fired_rows(const AdviceRule& rule, const Analysis& analysis) {
    std::vector<FiredRow> out;
    for (std::size_t i = 0; i < analysis.rows.size(); ++i) {
        const AnalysisRow& row = analysis.rows[i];
        if (!is_meant(rule, row.kernel.name.str())) continue;
        const Facts facts = row_facts(analysis, row);
        if (!rule.rows->holds(facts)) continue;
        const double gain = rule.gain->value(facts).value_or(0);
        if (gain > 0) out.push_back({i, gain});
    }
    std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.gain > b.gain; });
    return out;
}

// Sums over the rows that fired; what is not a sum is that of the row with the largest gain.
Facts sum_facts(const Analysis& analysis, const std::vector<FiredRow>& fired) {
    return [&analysis, &fired](std::string_view name) -> std::optional<double> {
        const Facts whole = whole_facts(analysis);
        const auto sum = [&](std::string_view fact) {
            double total = 0;
            for (const FiredRow& f : fired) total += row_facts(analysis, analysis.rows[f.row])(fact).value_or(0);
            return total;
        };
        if (name == "gain_s") {
            double total = 0;
            for (const FiredRow& f : fired) total += f.gain;
            return total;
        }
        if (fired.empty()) return whole(name);
        if (name == "time_s" || name == "launches") return sum(name);
        if (name == "share") return sum("time_s") / whole("whole_s").value_or(0);
        if (const auto fact = whole(name)) return fact;
        return row_facts(analysis, analysis.rows[fired.front().row])(name);
    };
}

std::string names_text(const Analysis& analysis, const std::vector<FiredRow>& fired) {
    std::vector<std::string> names;
    for (const FiredRow& f : fired) {
        std::string name = short_name(analysis.rows[f.row].kernel.name.str(), 40);
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
    }
    const std::size_t shown = std::min(names.size(), kMostNames);
    std::string out = fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<long>(shown), ", "));
    if (shown < names.size()) out += fmt::format(" and {} more", names.size() - shown);
    return out;
}

std::string filled(const std::string& pattern, const Facts& facts, const std::string& names) {
    std::string out;
    std::size_t at = 0;
    while (at < pattern.size()) {
        const std::size_t open = pattern.find('{', at), close = pattern.find('}', open);
        if (open == std::string::npos || close == std::string::npos) break;
        out += pattern.substr(at, open - at);
        const std::string inside = pattern.substr(open + 1, close - open - 1);
        const std::size_t colon = inside.find(':');
        const std::string name = inside.substr(0, colon);
        const std::string unit = colon == std::string::npos ? "" : inside.substr(colon + 1);
        const double value = name == "names" ? 0 : facts(name).value_or(0);
        if (name == "names")
            out += names;
        else if (unit == "s")
            out += to_text(Seconds{value}, 3);
        else if (unit == "%")
            out += fmt::format("{:.1f} %", 100 * value);
        else
            out += value == std::floor(value) && std::fabs(value) < 1e9 ? fmt::format("{:.0f}", value)
                                                                        : fmt::format("{:.3g}", value);
        at = close + 1;
    }
    return out + pattern.substr(at);
}

std::optional<Advice> advice_of(const AdviceRule& rule, const Analysis& analysis) {
    const std::vector<FiredRow> fired = rule.rows ? fired_rows(rule, analysis) : std::vector<FiredRow>{};
    if (rule.rows && fired.empty()) return std::nullopt;
    const Facts facts = rule.rows ? sum_facts(analysis, fired) : whole_facts(analysis);
    const auto gain = rule.rows ? facts("gain_s") : rule.gain->value(facts);
    const auto whole = whole_facts(analysis)(rule.of);
    if (!gain || !whole || *gain < kWorthwhileShare * *whole || *gain <= 0) return std::nullopt;
    if (rule.when && !rule.when->holds(facts)) return std::nullopt;
    Advice out;
    out.rule = rule.id;
    const std::string names = names_text(analysis, fired);
    out.text = filled(rule.text, facts, names);
    out.evidence = filled(rule.evidence, facts, names);
    out.rests_on = rule.rests_on;
    for (const FiredRow& f : fired) out.rows.push_back(f.row);
    out.gain = Seconds{std::min(*gain, *whole)};
    out.step_speedup = *gain < *whole ? *whole / (*whole - *gain) : INFINITY;
    out.at_most = rule.at_most;
    return out;
}

}  // namespace

std::vector<Advice> advice_by(const std::vector<AdviceRule>& rules, const Analysis& analysis) {
    std::vector<Advice> out;
    for (const AdviceRule& rule : rules)
        if (auto one = advice_of(rule, analysis)) out.push_back(std::move(*one));
    std::stable_sort(out.begin(), out.end(), [](const Advice& a, const Advice& b) { return a.gain > b.gain; });
    return out;
}

}  // namespace roofline_detail

std::vector<Advice> advice(const Analysis& analysis) {
    return roofline_detail::advice_by(roofline_detail::advice_rules(), analysis);
}

}  // namespace gambrel
