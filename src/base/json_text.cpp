#include "base/json_text.hpp"

#include <fmt/format.h>

#include "base/printable.hpp"

namespace gambrel::base_detail {

Result<void> check_is_json_text(std::string_view text, const std::string& source) {
    if (text.empty()) return failure(source, "is empty, expected JSON");
    if (is_binary(text)) return failure(source, "is not text, expected JSON");
    return {};
}

Result<void> check_json_bounds(std::string_view text, const std::string& source) {
    std::size_t depth = 0, values = 1;
    for (std::size_t i = 0; i < text.size(); ++i) switch (text[i]) {
            case '"':  // to the end of the string; an escaped quote does not end it
                for (++i; i < text.size() && text[i] != '"'; ++i)
                    if (text[i] == '\\') ++i;
                break;
            case '[':
            case '{':
                if (++depth > kJsonDepth)
                    return failure(source,
                                   fmt::format("byte {}: JSON nested deeper than {} levels, the limit", i, kJsonDepth));
                ++values;
                break;
            case ']':
            case '}':
                if (depth > 0) --depth;
                break;
            case ',':
                ++values;
                break;
            default:
                break;
        }
    if (values > kJsonValues)
        return failure(source, fmt::format("holds {} JSON values; the limit is {}", values, kJsonValues));
    return {};
}

std::string json_fault(const nlohmann::json::exception& fault) {
    std::string_view text = fault.what();
    if (const auto end = text.find("] "); text.starts_with("[json.exception.") && end != std::string_view::npos)
        text.remove_prefix(end + 2);
    if (constexpr std::string_view kPlace = "parse error at "; text.starts_with(kPlace))
        text.remove_prefix(kPlace.size());
    return std::string(text);
}

std::string json_excerpt(const nlohmann::json& value) {
    if (value.is_structured()) return value.is_array() ? "a list" : "an object";
    std::string text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    if (text.size() > 60) text = text.substr(0, 57) + "...";
    return text;
}

}  // namespace gambrel::base_detail
