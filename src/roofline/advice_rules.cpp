#include "roofline/advice_rules.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/embedded.hpp"

namespace gambrel::roofline_detail {
namespace {

using AdviceJson = nlohmann::json;
const std::vector<std::string> kRuleFields = {"id",   "names",   "not_names", "rows",     "gain_s",  "of",
                                              "when", "at_most", "text",      "evidence", "rests_on"};

std::optional<Expression> expression_of(const AdviceJson& rule, const char* key) {
    if (!rule.contains(key)) return std::nullopt;
    auto parsed = Expression::parse(rule.at(key).get<std::string>());
    if (!parsed) throw std::invalid_argument(fmt::format("{}: {}", key, parsed.error().front().what));
    return *parsed;
}

std::vector<std::string> list_of(const AdviceJson& rule, const char* key) {
    return rule.contains(key) ? rule.at(key).get<std::vector<std::string>>() : std::vector<std::string>{};
}

AdviceRule rule_of(const AdviceJson& object) {
    for (const auto& item : object.items())
        if (std::find(kRuleFields.begin(), kRuleFields.end(), item.key()) == kRuleFields.end())
            throw std::invalid_argument(
                fmt::format("unknown field \"{}\"{}", item.key(), did_you_mean(item.key(), kRuleFields)));
    AdviceRule rule;
    rule.id = object.at("id");
    rule.text = object.at("text");
    rule.evidence = object.at("evidence");
    rule.of = object.value("of", "whole_s");
    rule.names = list_of(object, "names");
    rule.not_names = list_of(object, "not_names");
    rule.rests_on = list_of(object, "rests_on");
    rule.rows = expression_of(object, "rows");
    rule.gain = expression_of(object, "gain_s");
    rule.when = expression_of(object, "when");
    rule.at_most = object.value("at_most", false);
    if (!rule.gain) throw std::invalid_argument("gain_s is missing");
    return rule;
}

}  // namespace

Result<std::vector<AdviceRule>> parse_advice_rules(std::string_view text, const std::string& where) {
    std::vector<AdviceRule> rules;
    Errors errors;
    const auto document = AdviceJson::parse(text, nullptr, false);
    if (document.is_discarded() || !document.contains("rules")) return failure(where, "expected an object with rules");
    for (const AdviceJson& object : document["rules"]) {
        const std::string id = object.is_object() ? object.value("id", "rule without id") : "rule";
        try {
            rules.push_back(rule_of(object));
        } catch (const std::exception& e) {
            errors.push_back({fmt::format("{}: {}", where, id), e.what()});
        }
    }
    if (!errors.empty()) return tl::unexpected(std::move(errors));
    return rules;
}

const std::vector<AdviceRule>& advice_rules() {
    static const std::vector<AdviceRule> rules = [] {
        for (const auto& [name, text] : embedded("advice"))
            if (name == "rules") {
                auto parsed = parse_advice_rules(text, "data/advice/rules.json");
                if (!parsed) throw std::logic_error(to_text(parsed.error()));
                return std::move(*parsed);
            }
        throw std::logic_error("data/advice/rules.json is not in the binary");
    }();
    return rules;
}

std::vector<std::string> template_names(const std::string& text) {
    std::vector<std::string> out;
    for (std::size_t at = text.find('{'); at != std::string::npos; at = text.find('{', at + 1)) {
        const std::size_t end = text.find_first_of(":}", at);
        if (end != std::string::npos) out.push_back(text.substr(at + 1, end - at - 1));
    }
    return out;
}

}  // namespace gambrel::roofline_detail
