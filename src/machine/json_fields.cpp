#include "machine/json_fields.hpp"

#include <cmath>

#include <fmt/format.h>

#include "base/json_text.hpp"

namespace gambrel::machine_detail {
namespace {

using base_detail::json_excerpt;

constexpr double kMostUnits = 1e6;

bool is_unknown(const nlohmann::json& value) { return value.is_string() && value == "unknown"; }

}  // namespace

template <class Q>
Fact<Q> FactFields::fact(const nlohmann::json* field, const std::string& key, bool with_clock,
                         std::optional<Frequency>* clock) {
    if (!field || is_unknown(*field)) return std::nullopt;
    if (!field->is_object()) {
        fault(key, fmt::format("{} has no source; write {{\"value\": ..., \"origin\": ..., \"cite\": ...}}",
                               json_excerpt(*field)));
        return std::nullopt;
    }
    const std::size_t faults_before = errors().size();
    FactFields inner(*field, path_of(key), errors());
    Sourced<Q> sourced;
    sourced.cite = inner.text("cite", true);
    if (sourced.cite.empty() && errors().size() == faults_before)
        inner.fault("cite", "is empty; say where the number comes from");
    const std::string origin = inner.text("origin", true);
    if (const auto known = origin_from(origin); known && *known != Origin::modelled)
        sourced.origin = *known;
    else
        inner.fault("origin",
                    fmt::format("\"{}\" is not an origin; expected datasheet, measured, derived, assumed or simulated",
                                origin));
    if (with_clock)
        if (const std::string text = inner.text("clock"); !text.empty()) {
            const auto parsed = parse_quantity<Frequency>(text);
            if (parsed && parsed->value() > 0)
                *clock = *parsed;
            else
                inner.fault("clock", parsed ? fmt::format("\"{}\" is not above zero", text) : parsed.error());
        }
    const auto* value = inner.any("value", true);
    inner.finish();
    if (!value) return std::nullopt;
    if constexpr (std::is_same_v<Q, double>) {
        if (value->is_number()) {
            sourced.value = value->get<double>();
            if (!std::isfinite(sourced.value) || sourced.value < 0)
                inner.fault("value", json_excerpt(*value) + " is out of range");
        } else {
            inner.fault("value", fmt::format("{} is not a number", json_excerpt(*value)));
        }
    } else if (!value->is_string()) {
        inner.fault("value",
                    fmt::format("{} has no unit; write a text such as \"{}\"", json_excerpt(*value), to_text(Q{1e3})));
    } else if (auto parsed = parse_quantity<Q>(value->template get<std::string>())) {
        sourced.value = *parsed;
        if (parsed->value() < 0) inner.fault("value", json_excerpt(*value) + " is negative");
        if (parsed->value() == 0)
            inner.fault("value", json_excerpt(*value) + " is not above zero; write \"unknown\" for what is not known");
    } else {
        inner.fault("value", parsed.error());
    }
    if (errors().size() != faults_before) return std::nullopt;
    return sourced;
}

template <class Q>
Fact<Q> FactFields::quantity(const std::string& key, bool required) {
    return fact<Q>(any(key, required), key, false, nullptr);
}

Fact<double> FactFields::number(const std::string& key, bool required) {
    return fact<double>(any(key, required), key, false, nullptr);
}

Fact<double> FactFields::count(const std::string& key, bool required) {
    const auto found = number(key, required);
    if (found && (found->value < 1 || found->value != std::floor(found->value) || found->value > kMostUnits)) {
        fault(key, fmt::format("{:g} is not a whole number from 1 to {:g}", found->value, kMostUnits));
        return std::nullopt;
    }
    return found;
}

template <class Q>
std::optional<AtClock<Q>> FactFields::at_clock(const std::string& key) {
    std::optional<Frequency> clock;
    auto ceiling = fact<Q>(any(key, false), key, true, &clock);
    if (!ceiling) return std::nullopt;
    return AtClock<Q>{std::move(*ceiling), clock};
}

#define GAMBREL_INSTANTIATE(Q)                                          \
    template Fact<Q> FactFields::quantity<Q>(const std::string&, bool); \
    template std::optional<AtClock<Q>> FactFields::at_clock<Q>(const std::string&);
GAMBREL_INSTANTIATE(Bytes)
GAMBREL_INSTANTIATE(Cycles)
GAMBREL_INSTANTIATE(Seconds)
GAMBREL_INSTANTIATE(Bandwidth)
GAMBREL_INSTANTIATE(FlopRate)
GAMBREL_INSTANTIATE(Frequency)
GAMBREL_INSTANTIATE(BytesPerCycle)
GAMBREL_INSTANTIATE(FlopPerCycle)
#undef GAMBREL_INSTANTIATE

}  // namespace gambrel::machine_detail
