#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <gambrel/explore.hpp>

#include "explore/vary_syntax.hpp"

namespace gambrel {
namespace {

using namespace explore_detail;

// "2", "2.5x".
std::optional<double> plain_number(std::string_view text) {
    if (text.ends_with("x")) text.remove_suffix(1);
    double value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status != std::errc{} || end != text.data() + text.size() || !std::isfinite(value) || value <= 0)
        return std::nullopt;
    return value;
}

tl::expected<Limit, std::string> limit_from(std::string_view text, const Machine& machine,
                                            const ModelInputs& hardware) {
    const auto sign = text.find_first_of("<>");
    if (sign == std::string_view::npos || sign + 1 >= text.size() || text[sign + 1] != '=')
        return tl::unexpected(std::string("has neither \"<=\" nor \">=\"; write a limit such as cost<=2.0"));
    const std::string_view what = trimmed(text.substr(0, sign)), value = trimmed(text.substr(sign + 2));
    Limit limit;
    limit.at_most = text[sign] == '<';
    if (what == "time") {
        limit.what = Limit::What::time;
        const auto seconds = parse_quantity<Seconds>(value);
        if (!seconds) return tl::unexpected(seconds.error());
        limit.value = seconds->value();
        return limit;
    }
    if (what == "cost" || what == "speedup") {
        limit.what = what == "cost" ? Limit::What::cost : Limit::What::speedup;
        const auto number = plain_number(value);
        if (!number)
            return tl::unexpected(fmt::format("\"{}\" is not a positive number; write one such as 2.0", value));
        limit.value = *number;
        return limit;
    }
    const auto resource = resource_from(what);
    if (!resource) return tl::unexpected(unknown_resource(what) + "; or cost, speedup, time");
    limit.what = Limit::What::resource;
    limit.resource = *resource;
    const auto factor = factor_from(value, *resource, base_value(machine, hardware, *resource));
    if (!factor) return tl::unexpected(factor.error());
    limit.value = *factor;
    return limit;
}

}  // namespace

double Limit::found(const Factors& factors, double cost, double time, double base_time) const {
    switch (what) {
        case What::time:
            return time;
        case What::speedup:
            return base_time / time;
        case What::resource:
            return factors[resource];
        case What::cost:
            break;
    }
    return cost;
}

bool Limit::holds(const Factors& factors, double cost, double time, double base_time) const {
    // A limit that is meant to be met exactly must not fail by the last bit of a sum.
    const double slack = 1e-12 * std::fabs(value), is = found(factors, cost, time, base_time);
    return at_most ? is <= value + slack : is >= value - slack;
}

Result<std::vector<Limit>> parse_limits(std::string_view text, const Machine& machine, const ModelInputs& hardware,
                                        const std::string& where) {
    std::vector<Limit> limits;
    Errors errors;
    if (trimmed(text).empty()) return limits;
    for (const std::string_view part : split(text, ',')) {
        auto limit = limit_from(part, machine, hardware);
        if (limit)
            limits.push_back(*limit);
        else
            errors.push_back({where, fmt::format("\"{}\": {}", part, limit.error())});
    }
    if (!errors.empty()) return tl::unexpected(std::move(errors));
    return limits;
}

}  // namespace gambrel
