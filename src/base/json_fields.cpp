#include "base/json_fields.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/json_text.hpp"

namespace gambrel::base_detail {

Fields::Fields(const nlohmann::json& object, std::string path, Errors& errors)
    : object_(&object), path_(std::move(path)), errors_(errors) {
    if (!object.is_object()) {
        errors_.push_back({path_, fmt::format("{} is not an object", json_excerpt(object))});
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

const nlohmann::json* Fields::any(const std::string& key, bool required) {
    known_.push_back(key);
    const auto it = object_->find(key);
    if (it != object_->end()) return &*it;
    if (required) fault(key, "missing");
    return nullptr;
}

std::string Fields::text(const std::string& key, bool required) {
    const auto* field = any(key, required);
    if (!field) return "";
    if (!field->is_string()) {
        fault(key, fmt::format("{} is not a text", json_excerpt(*field)));
        return "";
    }
    return field->get<std::string>();
}

std::optional<double> Fields::amount(const std::string& key, bool required) {
    const auto* field = any(key, required);
    if (!field) return std::nullopt;
    if (field->is_number() && std::isfinite(field->get<double>()) && field->get<double>() >= 0)
        return field->get<double>();
    fault(key, fmt::format("{} is not a number of 0 or more", json_excerpt(*field)));
    return std::nullopt;
}

std::vector<std::string> Fields::texts(const std::string& key) {
    std::vector<std::string> out;
    const auto* list = array(key);
    if (!list) return out;
    for (const auto& item : *list)
        if (item.is_string())
            out.push_back(item.get<std::string>());
        else
            fault(key, fmt::format("{} is not a text", json_excerpt(item)));
    return out;
}

const nlohmann::json* Fields::object(const std::string& key, bool required) {
    const auto* field = any(key, required);
    if (field && !field->is_object()) {
        fault(key, fmt::format("{} is not an object", json_excerpt(*field)));
        return nullptr;
    }
    return field;
}

const nlohmann::json* Fields::array(const std::string& key, bool required) {
    const auto* field = any(key, required);
    if (field && !field->is_array()) {
        fault(key, fmt::format("{} is not a list", json_excerpt(*field)));
        return nullptr;
    }
    return field;
}

void Fields::finish() {
    constexpr std::size_t kShown = 20;
    std::size_t unknown = 0;
    for (const auto& item : object_->items())
        if (std::find(known_.begin(), known_.end(), item.key()) == known_.end() && ++unknown <= kShown)
            fault(item.key(), "unknown field" + did_you_mean(item.key(), known_));
    if (unknown > kShown) fault("...", fmt::format("{} more unknown fields", unknown - kShown));
}

}  // namespace gambrel::base_detail
