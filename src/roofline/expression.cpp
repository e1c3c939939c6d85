#include "roofline/expression.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

namespace gambrel::roofline_detail {

struct Expression::Node {
    std::string operation;  // "+", "and", "min"; "fact" or "number" for a leaf
    std::string fact;
    double number = 0;
    std::vector<std::shared_ptr<const Node>> operands;
};

namespace {

using Node = Expression::Node;
using NodePointer = std::shared_ptr<const Node>;

// By falling looseness: what stands first binds the least.
const std::array<std::vector<std::string_view>, 5> kLooseness = {
    {{"or"}, {"and"}, {"<=", ">=", "==", "<", ">"}, {"+", "-"}, {"*", "/"}}};
constexpr int kMostNesting = 64;

// Faults are thrown inside this file only; parse() turns them into errors.
class Parser {
public:
    explicit Parser(std::string_view text) : text_(text) {}

    NodePointer whole() {
        NodePointer node = binary(0);
        if (skip_space(); at_ < text_.size()) fault("an operator");
        return node;
    }

private:
    [[noreturn]] void fault(std::string_view expected) const {
        throw std::invalid_argument(fmt::format("\"{}\": expected {} at character {}", text_, expected, at_ + 1));
    }

    void skip_space() {
        while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    }

    bool take(std::string_view token) {
        skip_space();
        if (!text_.substr(at_).starts_with(token)) return false;
        at_ += token.size();
        return true;
    }

    NodePointer binary(std::size_t looseness) {
        if (looseness == kLooseness.size()) return leaf();
        NodePointer left = binary(looseness + 1);
        while (true) {
            const auto& operators = kLooseness[looseness];
            const auto found =
                std::find_if(operators.begin(), operators.end(), [&](auto token) { return take(token); });
            if (found == operators.end()) return left;
            left = std::make_shared<Node>(Node{std::string(*found), {}, 0, {left, binary(looseness + 1)}});
        }
    }

    NodePointer leaf() {
        if (++nesting_ > kMostNesting) fault("fewer parentheses");
        skip_space();
        NodePointer node;
        if (take("(")) {
            node = binary(0);
            if (!take(")")) fault("\")\"");
        } else if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) {
            node = number();
        } else {
            node = fact_or_call();
        }
        --nesting_;
        return node;
    }

    NodePointer number() {
        double value = 0;
        const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
        if (error != std::errc{}) fault("a number");
        at_ = static_cast<std::size_t>(end - text_.data());
        return std::make_shared<Node>(Node{"number", {}, value, {}});
    }

    NodePointer fact_or_call() {
        const std::size_t start = at_;
        while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) ++at_;
        if (at_ == start) fault("a fact, a number or \"(\"");
        std::string name(text_.substr(start, at_ - start));
        if (!take("(")) return std::make_shared<Node>(Node{"fact", std::move(name), 0, {}});
        const std::size_t arguments = name == "min" || name == "max" ? 2 : name == "floor" || name == "ceil" ? 1 : 0;
        if (arguments == 0) fault("min, max, floor or ceil before \"(\"");
        Node call{std::move(name), {}, 0, {}};
        for (std::size_t i = 0; i < arguments; ++i) {
            if (i > 0 && !take(",")) fault("\",\"");
            call.operands.push_back(binary(0));
        }
        if (!take(")")) fault("\")\"");
        return std::make_shared<Node>(std::move(call));
    }

    std::string_view text_;
    std::size_t at_ = 0;
    int nesting_ = 0;
};

double applied(const std::string& operation, double a, double b) {
    if (operation == "+") return a + b;
    if (operation == "-") return a - b;
    if (operation == "*") return a * b;
    if (operation == "/") return a / b;
    if (operation == "<") return a < b ? 1 : 0;
    if (operation == ">") return a > b ? 1 : 0;
    if (operation == "<=") return a <= b ? 1 : 0;
    if (operation == ">=") return a >= b ? 1 : 0;
    if (operation == "==") return a == b ? 1 : 0;
    if (operation == "and") return a != 0 && b != 0 ? 1 : 0;
    if (operation == "min") return std::min(a, b);
    if (operation == "max") return std::max(a, b);
    return operation == "floor" ? std::floor(a) : std::ceil(a);
}

std::optional<double> value_of(const Node& node, const Facts& facts) {
    if (node.operation == "number") return node.number;
    if (node.operation == "fact") return facts(node.fact);
    const auto first = value_of(*node.operands.front(), facts);
    if (node.operation == "or")
        return first.value_or(0) != 0 ? std::optional(1.0) : value_of(*node.operands.back(), facts);
    if (!first || (node.operation == "and" && *first == 0)) return first;
    const auto last = value_of(*node.operands.back(), facts);
    if (!last) return std::nullopt;
    const double result = applied(node.operation, *first, *last);
    return std::isfinite(result) ? std::optional(result) : std::nullopt;
}

void add_names(const Node& node, std::vector<std::string>& out) {
    if (node.operation == "fact") out.push_back(node.fact);
    for (const auto& operand : node.operands) add_names(*operand, out);
}

}  // namespace

Result<Expression> Expression::parse(std::string_view text) {
    try {
        return Expression(Parser(text).whole());
    } catch (const std::invalid_argument& e) {
        return failure("expression", e.what());
    }
}

std::optional<double> Expression::value(const Facts& facts) const { return value_of(*root_, facts); }

std::vector<std::string> Expression::names() const {
    std::vector<std::string> out;
    add_names(*root_, out);
    return out;
}

}  // namespace gambrel::roofline_detail
