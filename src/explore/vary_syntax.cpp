#include "explore/vary_syntax.hpp"

#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gambrel::explore_detail {
namespace {

std::optional<double> whole_number_text(std::string_view text) {
    double value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

template <class Q>
tl::expected<double, std::string> amount(std::string_view text) {
    const auto read = parse_quantity<Q>(text);
    if (!read) return tl::unexpected(read.error());
    return read->value();
}

// Things that are counted: "45 SM", "128MAC".
tl::expected<double, std::string> counted(std::string_view text, std::string_view unit) {
    std::string_view number = text;
    if (number.ends_with(unit)) number = trimmed(number.substr(0, number.size() - unit.size()));
    const auto value = number == text ? std::nullopt : whole_number_text(number);
    if (value) return *value;
    return tl::unexpected(fmt::format("\"{}\" is not a factor or a count; write 1.5 or \"60 {}\"", text, unit));
}

tl::expected<double, std::string> amount_of(Resource resource, std::string_view text) {
    switch (resource) {
        case Resource::sms:
            return counted(text, "SM");
        case Resource::macs:
            return counted(text, "MAC");
        case Resource::schedulers:
            return counted(text, "scheduler");
        case Resource::clock:
            return amount<Frequency>(text);
        case Resource::registers:
        case Resource::shared:
        case Resource::l2_capacity:
            return amount<Bytes>(text);
        default:
            return amount<Bandwidth>(text);
    }
}

}  // namespace

std::string_view trimmed(std::string_view s) {
    while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
    while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
    return s;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (std::size_t at = text.find(separator); at != std::string_view::npos; at = text.find(separator)) {
        parts.push_back(trimmed(text.substr(0, at)));
        text.remove_prefix(at + 1);
    }
    parts.push_back(trimmed(text));
    return parts;
}

std::vector<std::string_view> split_outside_braces(std::string_view text) {
    std::vector<std::string_view> parts;
    std::size_t start = 0;
    bool inside = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '{') inside = true;
        if (text[i] == '}') inside = false;
        if (text[i] != ',' || inside) continue;
        parts.push_back(text.substr(start, i - start));
        start = i + 1;
    }
    parts.push_back(text.substr(start));
    return parts;
}

tl::expected<double, std::string> factor_from(std::string_view text, Resource resource, double base) {
    text = trimmed(text);
    if (text.empty()) return tl::unexpected(std::string("a value is missing"));
    std::string_view plain = text;
    if (plain.ends_with("x")) plain.remove_suffix(1);
    double factor = 0;
    if (const auto number = whole_number_text(plain)) {
        factor = *number;
    } else {
        const auto read = amount_of(resource, text);
        if (!read) return tl::unexpected(fmt::format("{}, or a factor such as 1.5", read.error()));
        if (!(base > 0))
            return tl::unexpected(
                fmt::format("the machine does not say how much {} it has; write a factor", name(resource)));
        factor = *read / base;
    }
    if (!std::isfinite(factor) || factor <= 0 || factor > 1e6)
        return tl::unexpected(
            fmt::format("\"{}\" is {:g} times the start; expected more than 0 and at most 1e6", text, factor));
    return factor;
}

std::string unknown_resource(std::string_view found) {
    std::vector<std::string> names;
    for (const Resource r : all_resources()) names.emplace_back(name(r));
    return fmt::format("\"{}\" is not a resource; expected one of {}{}", found, fmt::join(names, ", "),
                       did_you_mean(found, names));
}

}  // namespace gambrel::explore_detail
