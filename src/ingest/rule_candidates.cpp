#include "ingest/rule_candidates.hpp"

#include <algorithm>
#include <span>

namespace gambrel::ingest_detail {
namespace {

bool contains_any(const std::string& name, const std::vector<std::string>& parts) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](const auto& part) { return name.find(part) != std::string::npos; });
}

}  // namespace

bool RuleCandidates::applies(const Rule& rule, const Launch& launch, std::optional<ComputeCapability> cc) const {
    if (rule.flop_rule && *rule.flop_rule != flop_rule_) return false;
    if (rule.cc && (!cc || !rule.cc->holds(*cc))) return false;
    if (!rule.name_has.empty() && !contains_any(launch.name.str(), rule.name_has)) return false;
    return rule.name_lacks.empty() || !contains_any(launch.name.str(), rule.name_lacks);
}

bool RuleCandidates::possible(const Rule& rule) const {
    if (rule.constant) return true;
    const auto there = [&](MetricId m) { return there_[m] != 0; };
    bool any = false;
    for (const Term& term : rule.terms) {
        if (term.flop_rule && *term.flop_rule != flop_rule_) continue;
        if (std::any_of(term.metrics.begin(), term.metrics.end(), there) &&
            std::all_of(term.times.begin(), term.times.end(), there))
            any = true;
        else if (!term.optional)
            return any;  // a term before it may be broken, and then the quantity is refused
    }
    return any;
}

void RuleCandidates::choose(Named& named) {
    for (const MetricId metric : named.metrics) there_[metric] = 1;
    named.candidates.clear();
    auto rule = named.applicable.begin();
    for (const QuantityRules& quantity : rules_.quantities) {
        OfQuantity left{&quantity, {}};
        for (const auto end = rule + static_cast<std::ptrdiff_t>(quantity.rules.size()); rule != end; ++rule)
            if (*rule != nullptr && possible(**rule)) left.rules.push_back(*rule);
        if (!left.rules.empty()) named.candidates.push_back(std::move(left));
    }
    for (const MetricId metric : named.metrics) there_[metric] = 0;
}

const std::vector<RuleCandidates::OfQuantity>& RuleCandidates::of(const Profile& profile, const Launch& launch,
                                                                  std::optional<ComputeCapability> cc) {
    const auto [at, fresh] = named_.try_emplace(launch.name);
    Named& named = at->second;
    const bool other_rules = fresh || named.cc != cc;
    if (other_rules) {
        named.cc = cc;
        named.applicable.clear();
        for (const QuantityRules& quantity : rules_.quantities)
            for (const Rule& rule : quantity.rules)
                named.applicable.push_back(applies(rule, launch, cc) ? &rule : nullptr);
    }
    const std::span values(profile.values.data() + launch.first_value, launch.values);
    const auto same = [](MetricId metric, const MetricValue& value) { return metric == value.metric; };
    if (!other_rules && std::equal(named.metrics.begin(), named.metrics.end(), values.begin(), values.end(), same))
        return named.candidates;
    named.metrics.clear();
    for (const MetricValue& value : values) named.metrics.push_back(value.metric);
    choose(named);
    return named.candidates;
}

}  // namespace gambrel::ingest_detail
