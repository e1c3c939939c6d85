#include "app/parser.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace gambrel::app {
namespace {

// A check that says what it found and what was expected; CLI11's own say less, and cut 2.5 off to 2.
template <class Accepts>
CLI::Validator check(std::string expected, Accepts accepts) {
    return {[expected = std::move(expected), accepts](std::string& text) {
                return accepts(text) ? std::string() : fmt::format("\"{}\" found; expected {}", text, expected);
            },
            "", ""};
}

template <class Number>
std::optional<Number> number_of(const std::string& text) {
    Number value{};
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    return fault == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

}  // namespace

Option Option::one_of(const std::vector<std::string>& known) {
    return Option(option_->check(check(fmt::format("{}", fmt::join(known, ", ")), [known](const std::string& text) {
        return std::find(known.begin(), known.end(), text) != known.end();
    })));
}
Option Option::range(std::int64_t least, std::int64_t most) {
    return Option(option_->check(
        check(fmt::format("a whole number from {} to {}", least, most), [least, most](const std::string& text) {
            const auto value = number_of<std::int64_t>(text);
            return value && least <= *value && *value <= most;
        })));
}
Option Option::not_negative() {
    return Option(option_->check(check("a number of 0 or more", [](const std::string& text) {
        const auto value = number_of<double>(text);
        return value && *value >= 0;
    })));
}
Option Option::count() {
    return Option(option_->check(check("a whole number from 1", [](const std::string& text) {
        const auto value = number_of<std::int64_t>(text);
        return value && *value >= 1;
    })));
}
Option Option::required() { return Option(option_->required()); }
Option Option::one_value() { return Option(option_->allow_extra_args(false)); }
Option Option::optional_value(const char* otherwise) { return Option(option_->expected(0, 1)->default_str(otherwise)); }
Option Option::excludes(const char* other) { return Option(option_->excludes(other)); }

Option Parser::add_option(const char* names, std::string& text) { return Option(command_.add_option(names, text)); }
Option Parser::add_option(const char* names, std::vector<std::string>& texts) {
    return Option(command_.add_option(names, texts));
}
Option Parser::add_option(const char* names, int& number) { return Option(command_.add_option(names, number)); }
Option Parser::add_option(const char* names, unsigned& number) { return Option(command_.add_option(names, number)); }
Option Parser::add_option(const char* names, std::int64_t& number) {
    return Option(command_.add_option(names, number));
}
Option Parser::add_option(const char* names, std::uint64_t& number) {
    return Option(command_.add_option(names, number));
}
Option Parser::add_option(const char* names, std::optional<std::uint64_t>& number) {
    return Option(command_.add_option(names, number));
}
Option Parser::add_option(const char* names, double& number) { return Option(command_.add_option(names, number)); }
Option Parser::add_flag(const char* names, bool& on) { return Option(command_.add_flag(names, on)); }

}  // namespace gambrel::app
