#include <algorithm>

#include <fmt/format.h>
#include <gambrel/report.hpp>

#include "base/json_text.hpp"
#include "report/json_values.hpp"
#include "report/page_json.hpp"
#include "report/page_shape.hpp"

namespace gambrel {
namespace {

using namespace report_detail;

constexpr std::string_view kStart = R"(<script type="application/json" id="data">)", kEnd = "</script>";

std::string_view data_of(std::string_view html) {
    const auto start = html.find(kStart);
    if (start == std::string_view::npos) return {};
    html.remove_prefix(start + kStart.size());
    return html.substr(0, html.find(kEnd));  // no name can hold an end: page.cpp spells "<" otherwise
}

// What the shape cannot say: columns are equally long, and numbers that point into a list point into it.
struct Rows {
    const Json& columns;
    const std::string& path;
    Errors& errors;

    void check(std::size_t machines) const {
        const std::size_t lines = columns["name"].size(), texts = columns["texts"].size();
        for (const auto& [key, column] : columns.items()) {
            if (column.is_object())
                for (const auto& [part, values] : column.items()) same_length(key + "." + part, values, lines);
            else if (key != "texts")
                same_length(key, column, lines);
        }
        for (const char* key : {"name", "shown", "short", "phase", "origin", "reason", "bound"}) below(key, texts);
        for (const char* key : {"nearest", "basis", "why"})
            if (columns.contains(key)) below(key, texts);
        below("machine", std::max<std::size_t>(1, machines));
        // A line is there or not, in all the columns of texts alike.
        for (const char* key : {"shown", "short", "phase", "origin", "reason", "bound", "machine", "launches"})
            for (std::size_t i = 0; i < std::min(lines, columns[key].size()); ++i)
                if (columns[key][i].is_null() != columns["name"][i].is_null())
                    return fault(fmt::format("{}[{}]", key, i), "null where the line has a name, or the reverse");
    }
    void fault(const std::string& where, std::string what) const { errors.push_back({path + "." + where, what}); }
    void check_timeline(std::size_t lines) const {
        const std::size_t lanes = columns["lanes"].size();
        for (const char* key : {"gap", "span", "busy", "events", "group", "row", "name"})
            same_length(key, columns[key], columns["lane"].size());
        below("lane", lanes), below("group", columns["groups"].size()), below("row", lines);
        below("name", columns["texts"].size());
        for (const Json& step : columns["steps"])
            if (step[0] > step[1] || step[1].get<std::uint64_t>() >= lanes)
                return fault("steps", fmt::format("{} points beyond a list of {}", dumped(step[1], -1), lanes));
    }
    void same_length(const std::string& key, const Json& column, std::size_t lines) const {
        if (column.size() != lines) fault(key, fmt::format("{} values, expected {}", column.size(), lines));
    }
    void below(const char* key, std::size_t limit) const {
        for (const Json& v : columns[key])
            if (!v.is_null() && v.get<std::uint64_t>() >= limit)
                return fault(key, fmt::format("{} points beyond a list of {}", dumped(v, -1), limit));
    }
};

void check_counts(const Json& view, const std::string& path, Errors& errors) {
    const std::size_t machines = view.contains("machines") ? view["machines"].size() : 0;
    const std::size_t charts = view.contains("charts") ? view["charts"].size() : 0;
    const std::size_t lines = view.contains("rows") ? view["rows"]["name"].size() : 0;
    if (machines != charts || (charts > 0 && !view.contains("rows")))
        errors.push_back({path, fmt::format("{} machines with {} charts", machines, charts)});
    if (view.contains("rows")) Rows{view["rows"], path + ".rows", errors}.check(machines);
    if (view.contains("timeline")) Rows{view["timeline"], path + ".timeline", errors}.check_timeline(lines);
    if (view.contains("compared")) {
        const Json& c = view["compared"];
        // The machine of the side before is not shown, so any index will do.
        Rows{c["rows"], path + ".compared.rows", errors}.check(static_cast<std::size_t>(-1));
        for (const char* key : {"explained", "side"})
            if (c[key].size() != lines || c["rows"]["name"].size() != lines)
                errors.push_back({path + ".compared." + key, fmt::format("expected {} values", lines)});
        for (std::size_t i = 0; errors.empty() && i < lines; ++i)
            if (view["rows"]["name"][i].is_null() && c["rows"]["name"][i].is_null())
                errors.push_back({path, fmt::format("line {} has neither side", i)});
    } else if (view.contains("rows")) {
        for (const Json& v : view["rows"]["name"])
            if (v.is_null()) return errors.push_back({path + ".rows.name", "null found, expected a count"});
    }
    for (const Json& table : view["tables"])
        for (const Json& row : table["rows"])
            if (row["texts"].size() != table["columns"].size() || row["values"].size() != table["columns"].size())
                errors.push_back({path + ".tables", "a row with another number of cells than there are columns"});
    for (const Json& bars : view["bars"])
        for (const Json& bar : bars["bars"])
            if (bar["parts"].size() != bars["parts"].size())
                errors.push_back({path + ".bars", "a bar with another number of parts than there are names"});
}

}  // namespace

bool is_page(std::string_view text) { return text.find(kStart) != std::string_view::npos; }

Result<std::vector<SavedView>> read_page(std::string_view html, const std::string& source) {
    if (!is_page(html)) return failure(source, "is not a page of gambrel: it has no element with the page's data");
    auto parsed = base_detail::parse_json<Json>(data_of(html), source + ": the page's data");
    if (!parsed) {
        parsed.error().front().what += "; was the file cut off?";
        return tl::unexpected(std::move(parsed.error()));
    }
    const Json& document = *parsed;
    const Json schema = document.is_object() ? document.value("schema", Json()) : Json();
    if (schema != kPageSchema)
        return failure(source,
                       fmt::format("the page's data is {}, expected \"{}\"; make the page again",
                                   schema.is_string() ? dumped(schema, -1) : "of an unknown schema", kPageSchema));
    const Json views = document.value("views", Json());
    if (!views.is_array()) return failure(source, "views: missing; expected a list");
    Errors errors;
    std::vector<SavedView> out;
    for (std::size_t i = 0; i < views.size(); ++i) {
        const std::string path = fmt::format("{}: views[{}]", source, i);
        check_shape(views[i], view_shape(), path, errors);
        if (errors.empty()) check_counts(views[i], path, errors);
        if (errors.empty()) out.push_back({views[i]["title"].get<std::string>(), dumped(views[i], -1)});
    }
    if (!errors.empty()) return tl::unexpected(std::move(errors));
    return out;
}

}  // namespace gambrel
