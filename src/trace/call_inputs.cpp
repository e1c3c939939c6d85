#include "trace/call_inputs.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace gambrel::trace_detail {
namespace {

using Json = nlohmann::json;
using Dims = OperatorInput::Dims;
constexpr std::size_t kMostArguments = 4096;       // of a call; fused optimizers take thousands of tensors
constexpr std::int64_t kMostElements = 1LL << 48;  // of a side: more is not a size

Json list_of(std::string_view text) {
    if (text.empty() || text.size() > (std::size_t{1} << 24)) return Json::array();
    std::size_t depth = 0, deepest = 0;
    for (const char c : text) {
        depth += c == '[' || c == '{' ? 1 : 0;
        deepest = std::max(deepest, depth);
        depth -= (c == ']' || c == '}') && depth > 0 ? 1 : 0;
    }
    if (deepest > 16) return Json::array();
    Json list = Json::parse(text, nullptr, false);
    return list.is_array() ? list : Json::array();
}

bool is_numbers(const Json& list) {
    return std::all_of(list.begin(), list.end(), [](const Json& v) { return v.is_number_integer(); });
}

Dims numbers(const Json& list) {
    Dims out;
    for (const Json& v : list) out.push_back(std::clamp<std::int64_t>(v.get<std::int64_t>(), -1, kMostElements));
    return out;
}

std::vector<Dims> tensors_of(const Json& item) {
    if (!item.is_array()) return {};
    if (is_numbers(item)) return {numbers(item)};
    std::vector<Dims> out;
    for (const Json& inner : item)
        if (inner.is_array() && is_numbers(inner)) out.push_back(numbers(inner));
    return out;
}

std::string text_of(const Json& list, std::size_t i) {
    if (i >= list.size()) return {};
    if (list[i].is_string()) return list[i].get<std::string>();
    return list[i].is_null() ? std::string{} : list[i].dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool is_tensor(const std::string& type) {
    static constexpr std::array<std::string_view, 9> kOthers = {"Scalar", "ScalarList", "GenericList", "Int", "Bool",
                                                                "Double", "Device",     "String",      "None"};
    return std::find(kOthers.begin(), kOthers.end(), type) == kOthers.end();
}

}  // namespace

std::vector<OperatorInput> inputs_of(std::string_view dims, std::string_view types, std::string_view strides,
                                     std::string_view values) {
    const Json d = list_of(dims), t = list_of(types), s = list_of(strides), v = list_of(values);
    std::vector<OperatorInput> out;
    for (std::size_t i = 0; i < std::min(kMostArguments, std::max(d.size(), t.size())); ++i) {
        OperatorInput input;
        input.type = text_of(t, i);
        input.value = text_of(v, i);
        if (i < d.size()) input.tensors = tensors_of(d[i]);
        if (i < s.size()) input.strides = tensors_of(s[i]);
        // A tensor of no dimensions and no tensor at all are both []: the type tells, and without it nothing does.
        const bool empty = input.tensors.size() == 1 && input.tensors.front().empty();
        if (!is_tensor(input.type) || (empty && (input.type.empty() || t.empty()))) input.tensors.clear();
        if (input.strides.size() != input.tensors.size()) input.strides.clear();
        out.push_back(std::move(input));
    }
    return out;
}

Dims first_image(std::string_view dims) {
    for (const Json& item : list_of(dims))
        for (Dims& tensor : tensors_of(item))
            if (tensor.size() >= 3) return std::move(tensor);
    return {};
}

}  // namespace gambrel::trace_detail
