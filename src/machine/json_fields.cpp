#include "machine/json_fields.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace gambrel::machine_detail {
namespace {

std::string shown(const nlohmann::json& value) {
    if (value.is_structured())
        return value.is_array() ? "a list" : "an object";  // dump() recurses as deep as a file likes
    std::string text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    if (text.size() > 60) text = text.substr(0, 57) + "...";
    return text;
}

bool is_unknown(const nlohmann::json& value) { return value.is_string() && value == "unknown"; }

}  // namespace

Fields::Fields(const nlohmann::json& object, std::string path, Errors& errors)
    : object_(&object), path_(std::move(path)), errors_(errors) {
    if (!object.is_object()) {
        errors_.push_back({path_, fmt::format("{} is not an object", shown(object))});
        static const nlohmann::json empty = nlohmann::json::object();
        object_ = &empty;
    }
}

std::string Fields::path_of(const std::string& key) const {
    return path_.ends_with(": ") ? path_ + key : path_ + "." + key;
}

void Fields::fault(const std::string& key, std::string what) const {
    errors_.push_back({path_of(key), std::move(what)});
}

const nlohmann::json* Fields::find(const std::string& key, bool required) {
    known_.push_back(key);
    const auto it = object_->find(key);
    if (it != object_->end()) return &*it;
    if (required) fault(key, "missing; write \"unknown\" if it is not known");
    return nullptr;
}

template <class Q>
Fact<Q> Fields::fact(const nlohmann::json* field, const std::string& key, bool with_clock,
                     std::optional<Frequency>* clock) {
    if (!field || is_unknown(*field)) return std::nullopt;
    if (!field->is_object()) {
        fault(key,
              fmt::format("{} has no source; write {{\"value\": ..., \"origin\": ..., \"cite\": ...}}", shown(*field)));
        return std::nullopt;
    }
    const std::size_t faults_before = errors_.size();
    Fields inner(*field, path_of(key), errors_);
    Sourced<Q> sourced;
    sourced.cite = inner.text("cite", true);
    if (sourced.cite.empty() && errors_.size() == faults_before)
        inner.fault("cite", "is empty; say where the number comes from");
    const std::string origin = inner.text("origin", true);
    if (const auto known = origin_from(origin); known && *known != Origin::modelled)
        sourced.origin = *known;
    else
        inner.fault(
            "origin",
            fmt::format("\"{}\" is not an origin; expected datasheet, measured, derived, assumed or simulated", origin));
    if (with_clock)
        if (const std::string text = inner.text("clock"); !text.empty()) {
            const auto parsed = parse_quantity<Frequency>(text);
            if (parsed && parsed->value() > 0)
                *clock = *parsed;
            else
                inner.fault("clock", parsed ? fmt::format("\"{}\" is not above zero", text) : parsed.error());
        }
    const auto* value = inner.find("value", true);
    inner.finish();
    if (!value) return std::nullopt;
    if constexpr (std::is_same_v<Q, double>) {
        if (value->is_number()) {
            sourced.value = value->get<double>();
            if (!std::isfinite(sourced.value) || sourced.value < 0)
                inner.fault("value", shown(*value) + " is out of range");
        } else {
            inner.fault("value", fmt::format("{} is not a number", shown(*value)));
        }
    } else if (!value->is_string()) {
        inner.fault("value",
                    fmt::format("{} has no unit; write a text such as \"{}\"", shown(*value), to_text(Q{1e3})));
    } else if (auto parsed = parse_quantity<Q>(value->template get<std::string>())) {
        sourced.value = *parsed;
        if (parsed->value() < 0) inner.fault("value", shown(*value) + " is negative");
    } else {
        inner.fault("value", parsed.error());
    }
    if (errors_.size() != faults_before) return std::nullopt;
    return sourced;
}

template <class Q>
Fact<Q> Fields::quantity(const std::string& key, bool required) {
    return fact<Q>(find(key, required), key, false, nullptr);
}

Fact<double> Fields::number(const std::string& key, bool required) {
    return fact<double>(find(key, required), key, false, nullptr);
}

template <class Q>
std::optional<AtClock<Q>> Fields::at_clock(const std::string& key) {
    std::optional<Frequency> clock;
    auto ceiling = fact<Q>(find(key, false), key, true, &clock);
    if (!ceiling) return std::nullopt;
    return AtClock<Q>{std::move(*ceiling), clock};
}

std::string Fields::text(const std::string& key, bool required) {
    const auto* field = find(key, required);
    if (!field) return "";
    if (!field->is_string()) {
        fault(key, fmt::format("{} is not a text", shown(*field)));
        return "";
    }
    return field->get<std::string>();
}

std::vector<std::string> Fields::texts(const std::string& key) {
    std::vector<std::string> out;
    const auto* list = array(key);
    if (!list) return out;
    for (const auto& item : *list)
        if (item.is_string())
            out.push_back(item.get<std::string>());
        else
            fault(key, fmt::format("{} is not a text", shown(item)));
    return out;
}

const nlohmann::json* Fields::object(const std::string& key, bool required) {
    const auto* field = find(key, required);
    if (field && !field->is_object()) {
        fault(key, fmt::format("{} is not an object", shown(*field)));
        return nullptr;
    }
    return field;
}

const nlohmann::json* Fields::array(const std::string& key, bool required) {
    const auto* field = find(key, required);
    if (field && !field->is_array()) {
        fault(key, fmt::format("{} is not a list", shown(*field)));
        return nullptr;
    }
    return field;
}

void Fields::finish() {
    for (const auto& item : object_->items())
        if (std::find(known_.begin(), known_.end(), item.key()) == known_.end())
            fault(item.key(), "unknown field" + did_you_mean(item.key(), known_));
}

#define GAMBREL_INSTANTIATE(Q)                                      \
    template Fact<Q> Fields::quantity<Q>(const std::string&, bool); \
    template std::optional<AtClock<Q>> Fields::at_clock<Q>(const std::string&);
GAMBREL_INSTANTIATE(Bytes)
GAMBREL_INSTANTIATE(Cycles)
GAMBREL_INSTANTIATE(Bandwidth)
GAMBREL_INSTANTIATE(FlopRate)
GAMBREL_INSTANTIATE(Frequency)
GAMBREL_INSTANTIATE(BytesPerCycle)
GAMBREL_INSTANTIATE(FlopPerCycle)
#undef GAMBREL_INSTANTIATE

}  // namespace gambrel::machine_detail
