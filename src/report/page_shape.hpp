// Whether a JSON document has the shape that a specification asks for; all faults at once. A specification is JSON: an
// object has these keys ("key?": may be absent; "*level", "*pipe": any number of these), a list of one is a list of
// such, a list of several is a tuple, a text names a leaf (see leaf_fault).
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include <gambrel/base.hpp>

namespace gambrel::report_detail {

void check_shape(const nlohmann::ordered_json& value, const nlohmann::ordered_json& shape, const std::string& path,
                 Errors& errors);
// What a view of a page is; page_json.cpp and page_parts.cpp write it, web/data.ts reads it.
const nlohmann::ordered_json& view_shape();

}  // namespace gambrel::report_detail
