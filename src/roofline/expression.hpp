// Arithmetic and conditions over named facts, as the rules of data/advice write them: "waves > 1 and share >= 0.01".
// An unknown fact makes the whole unknown, except behind an "or" that is true without it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gambrel/base.hpp>

namespace gambrel::roofline_detail {

using Facts = std::function<std::optional<double>(std::string_view name)>;

class Expression {
public:
    // Numbers, facts, + - * /, < <= > >= ==, and, or, parentheses, min(a, b), max(a, b), floor(a), ceil(a). Truth is 1.
    static Result<Expression> parse(std::string_view text);
    [[nodiscard]] std::optional<double> value(const Facts& facts) const;
    [[nodiscard]] bool holds(const Facts& facts) const { return value(facts).value_or(0) != 0; }
    [[nodiscard]] std::vector<std::string> names() const;  // of the facts that it asks for

    struct Node;

private:
    explicit Expression(std::shared_ptr<const Node> root) : root_(std::move(root)) {}
    std::shared_ptr<const Node> root_;
};

}  // namespace gambrel::roofline_detail
