// JSON of others, parsed within bounds. The parser of nlohmann is iterative, but copies and dumps of its values
// recurse: a file of a hundred kilobytes of "[" would end the process. What is too deep or too large is an error that
// says so.
#pragma once

#include <string>
#include <string_view>

#include <gambrel/base.hpp>
#include <nlohmann/json.hpp>

namespace gambrel::base_detail {

inline constexpr std::size_t kJsonDepth = 200;
inline constexpr std::size_t kJsonValues = 16'000'000;  // some 100 bytes of memory each, at worst

// That there is text at all, before anything is parsed.
Result<void> check_is_json_text(std::string_view text, const std::string& source);
Result<void> check_json_bounds(std::string_view text, const std::string& source);
// "line 3, column 7: ..." without the parser's own prefix.
std::string json_fault(const nlohmann::json::exception& fault);
// A value as a message quotes it.
std::string json_excerpt(const nlohmann::json& value);

template <class Json = nlohmann::json>
Result<Json> parse_json(std::string_view text, const std::string& source) {
    if (auto wrong = check_is_json_text(text, source); !wrong) return tl::unexpected(std::move(wrong.error()));
    if (auto bounds = check_json_bounds(text, source); !bounds) return tl::unexpected(std::move(bounds.error()));
    try {
        return Json::parse(text);
    } catch (const nlohmann::json::exception& fault) {
        return failure(source, "is not valid JSON: " + json_fault(fault));
    }
}

}  // namespace gambrel::base_detail
