// The rules of data/advice/rules.json, read and checked.
#pragma once

#include <gambrel/roofline.hpp>

#include "roofline/expression.hpp"

namespace gambrel::roofline_detail {

struct AdviceRule {
    std::string id, text, evidence, of = "whole_s";
    std::vector<std::string> names, not_names, rests_on;
    std::optional<Expression> rows;  // absent: the rule is about the whole
    std::optional<Expression> gain, when;
    bool at_most = false;
};

Result<std::vector<AdviceRule>> parse_advice_rules(std::string_view text, const std::string& where);
const std::vector<AdviceRule>& advice_rules();  // those compiled into the library
// The facts that the braces of a template ask for: "{share:%}" is "share".
std::vector<std::string> template_names(const std::string& text);

std::vector<Advice> advice_by(const std::vector<AdviceRule>& rules, const Analysis& analysis);

}  // namespace gambrel::roofline_detail
