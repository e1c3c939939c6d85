#include "report/page_shape.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/json_values.hpp"

namespace gambrel::report_detail {
namespace {

constexpr std::size_t kMostFaults = 20;  // of a file that is broken throughout

std::string found(const Json& value) {
    const std::string text = dumped(value, -1);
    return text.size() > 40 ? text.substr(0, 40) + "..." : text;
}

template <class All>
bool is_name(const Json& value, const All& all) {
    return value.is_string() &&
           std::any_of(all.begin(), all.end(), [&](auto v) { return name(v) == value.template get<std::string>(); });
}

// What was expected, or "" if it is that.
const char* leaf_fault(const Json& value, const std::string& leaf) {
    if (leaf == "text") return value.is_string() ? "" : "a text";
    if (leaf == "text?") return value.is_string() || value.is_null() ? "" : "a text or null";
    if (leaf == "number") return value.is_number() ? "" : "a number";
    if (leaf == "number?") return value.is_number() || value.is_null() ? "" : "a number or null";
    if (leaf == "count") return value.is_number_unsigned() ? "" : "a count";
    if (leaf == "count?") return value.is_number_unsigned() || value.is_null() ? "" : "a count or null";
    if (leaf == "flag") return value.is_boolean() ? "" : "true or false";
    if (leaf == "level") return is_name(value, all_levels()) ? "" : "a memory level";
    if (leaf == "kind") return value == "slope" || value == "flat" ? "" : "\"slope\" or \"flat\"";
    return "something that this gambrel knows";
}

bool is_key(const std::string& key, const std::string& kind) {
    return kind == "*level" ? is_name(Json(key), all_levels()) : is_name(Json(key), all_pipes());
}

void check_object(const Json& value, const Json& shape, const std::string& path, Errors& errors) {
    if (!value.is_object()) return errors.push_back({path, fmt::format("{} found, expected an object", found(value))});
    const std::string first = shape.begin().key();
    if (first.starts_with("*")) {
        for (const auto& [key, item] : value.items()) {
            if (is_key(key, first))
                check_shape(item, shape.begin().value(), path + "." + key, errors);
            else
                errors.push_back({path, fmt::format("{} is not a {}", found(key), first.substr(1))});
        }
        return;
    }
    for (const auto& [key, part] : shape.items()) {
        const bool optional = key.ends_with("?");
        const std::string plain = optional ? key.substr(0, key.size() - 1) : key;
        const auto it = value.find(plain);
        if (it != value.end())
            check_shape(*it, part, path + "." + plain, errors);
        else if (!optional)
            errors.push_back({path + "." + plain, "missing"});
    }
}

const std::string kSum = R"({"name":"text","launches":"count","time":"number?","time_text":"text?","flop_text":"text?",
  "zero_launches":"count","zero_time":"number?","bytes?":{"*level":"text"}})";
const std::string kRoof = R"({"kind":"kind","what":"text","value":"number","measured":"flag","other":"flag",
  "label":"text"})";
const std::string kColumns = R"({"name":["count?"],"shown":["count?"],"short":["count?"],"phase":["count?"],
  "origin":["count?"],"reason":["count?"],"bound":["count?"],"nearest?":["count?"],"basis?":["count?"],"why?":["count?"],
  "machine":["count?"],"launches":["count?"],
  "time":["number?"],"flop":["number?"],"clock":["number?"],"of_roof":["number?"],"of_compute":["number?"],
  "above":["count?"],"incomplete":["count?"],"headroom":["number?"],"bytes":{"*level":["number?"]},
  "of_ceiling":{"*level":["number?"]},"work":{"*pipe":["number?"]},"texts":["text"]})";
const std::string kAxis = R"({"label":"text","unit":"text","log":"flag","binary":"flag"})";
const std::string kCharts = R"("curves":[{"title":"text","subtitle":"text","note":"text","x":)" + kAxis + R"(,"y":)" +
                            kAxis + R"(,
  "series":[{"name":"text","line":"flag","dots":"flag","color":"text",
             "marks":[["number?","number?","number?","number?","text","count"]]}],
  "guides":[{"label":"text","value":"number?","from":"number?","to":"number?","color":"text"}],
  "limits":[{"label":"text","value":"number?","color":"text"}]}],
  "bars":[{"title":"text","subtitle":"text","note":"text","x":)" +
                            kAxis + R"(,"stacked":"flag","parts":["text"],
           "bars":[{"label":"text","note":"text","text":"text","parts":["number?"]}]}],
  "tables":[{"title":"text","notes":["text"],"columns":[{"title":"text","number":"flag","shaded":"flag"}],
             "rows":[{"state":"text","texts":["text"],"values":["number?"]}]}])";
const std::string kTimeline = R"({"wall":"count","merged":"text","lanes":[["text","count"]],
  "groups":[["text","text","text"]],"steps":[["count","count","count","count"]],"lane":["count"],"gap":["count"],
  "span":["count"],"busy":["count?"],"events":["count"],"group":["count"],"row":["count?"],"name":["count"],
  "texts":["text"]})";
const std::string kView = R"({"title":"text","command":"text","version":"text","roofs?":"text","grouping?":"text",
  "answer?":"text","advice?":["text"],"side_by_side?":"flag","whole_time?":"number?","zero_flop?":{"text":"text","time":"number?"},"total?":)" +
                          kSum + R"(,
  "phases?":[)" + kSum + R"(],"notes?":["text"],
  "machines?":[{"id":"text","name":"text","about":"text","note":"text",
                "sections":[{"heading":"text","lines":[["text","text","text","text"]]}]}],
  "charts?":[{"machine":"count","subtitle":"text","x":["number","number"],"y":["number","number"],"drawn":"count",
              "levels":["level"],"roofs":[)" +
                          kRoof + R"(],"caption":["text"],"clocks_differ":"text"}],
  "rows?":)" + kColumns + R"(,
  "compared?":{"before":"text","after":"text","matched_by":"text","is_prediction":"flag","summary":["text"],
               "total":[["text","text","text","text"]],"rows":)" +
                          kColumns + R"(,"roofs":[)" + kRoof + R"(],
               "explained":["text"],"side":["number"],"share?":["number?"]},
  "timeline?":)" + kTimeline +
                          R"(,
  "model?":{"roofs":"text","near_roof":"number","machines":[{"id":"text","name":"text","numbers":["number?"]}],
            "traced?":"flag","precisions?":[{"name":"text","number":"count"}],
            "recipe?":{"configuration":"text","numbers":["number?"],"batch":"count","sequence":"count","context":"count"},
            "layers":[{"row":"count","machine":"count","clock":"number?","times?":"number","extra?":"number",
                       "numbers":["number?"]}]},
  "layers":[["text","text","number?","text","count?"]],)" +
                          kCharts + "}";

}  // namespace

void check_shape(const Json& value, const Json& shape, const std::string& path, Errors& errors) {
    if (errors.size() >= kMostFaults) return;
    if (shape.is_string()) {
        if (const std::string_view fault = leaf_fault(value, shape.get<std::string>()); !fault.empty())
            errors.push_back({path, fmt::format("{} found, expected {}", found(value), fault)});
    } else if (shape.is_object()) {
        check_object(value, shape, path, errors);
    } else if (!value.is_array() || (shape.size() > 1 && value.size() != shape.size())) {
        errors.push_back({path, fmt::format("{} found, expected a list{}", found(value),
                                            shape.size() > 1 ? fmt::format(" of {}", shape.size()) : "")});
    } else {
        for (std::size_t i = 0; i < value.size(); ++i)
            check_shape(value[i], shape.size() > 1 ? shape[i] : shape[0], fmt::format("{}[{}]", path, i), errors);
    }
}

const Json& view_shape() {
    static const Json shape = Json::parse(kView);
    return shape;
}

}  // namespace gambrel::report_detail
