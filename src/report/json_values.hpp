// How amounts and choices are spelled in JSON, by the result that is read back and by the page's data alike.
#pragma once

#include <cctype>
#include <cmath>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include <gambrel/roofline.hpp>

namespace gambrel::report_detail {

using Json = nlohmann::ordered_json;

// Not finite is unknown: JSON has no spelling for it.
inline Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
inline Json number(const std::optional<double>& value) { return value ? number(*value) : Json(nullptr); }
template <class Q>
Json number(const std::optional<Q>& value) {
    return value ? number(value->value()) : Json(nullptr);
}
template <class Q>
Json value_of(const Known<Q>& known) {
    return known ? number(known->value.value()) : Json(nullptr);
}

constexpr const char* grouping_name(Grouping grouping) {
    switch (grouping) {
        case Grouping::launch:
            return "launch";
        case Grouping::kernel:
            return "kernel";
        case Grouping::phase:
            return "phase";
        case Grouping::op:
            return "operator";
        case Grouping::module:
            return "module";
        case Grouping::rank:
            return "rank";
    }
    return "";
}
constexpr const char* roofs_name(Roofs roofs) { return roofs == Roofs::measured ? "measured" : "theoretical"; }

inline std::string level_key(Level level) {
    std::string key(name(level));
    for (char& c : key) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return key;
}

// Names come from files: bytes that are not UTF-8 are replaced, never a reason to throw.
inline std::string dumped(const Json& json, int indent) {
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace gambrel::report_detail
