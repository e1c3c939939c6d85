#include "chart/page_json.hpp"

#include <cmath>

#include <nlohmann/json.hpp>

#include "chart/text.hpp"

namespace gambrel::chart_detail {
namespace {

using Json = nlohmann::ordered_json;

// Not finite is unknown: JSON cannot spell it.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
Json number(const std::optional<double>& value) { return value ? number(*value) : Json(nullptr); }

Json axis_json(const ChartAxis& a) {
    return {{"label", printable(a.label)}, {"unit", a.unit}, {"log", a.log}, {"binary", a.powers_of_2}};
}

Json texts_json(const std::vector<std::string>& texts) {
    Json out = Json::array();
    for (const auto& text : texts) out.push_back(printable(text));
    return out;
}

}  // namespace

Json page_json(const Chart& chart) {
    Json out{
        {"title", printable(chart.title)}, {"subtitle", printable(chart.subtitle)}, {"note", printable(chart.note)}};
    out["x"] = axis_json(chart.x), out["y"] = axis_json(chart.y);
    out["series"] = Json::array();
    for (const auto& s : chart.series) {
        Json marks = Json::array();
        for (const auto& m : s.marks)
            marks.push_back(
                {number(m.x), number(m.y), number(m.low), number(m.high), printable(m.label), m.chosen ? 1 : 0});
        out["series"].push_back({{"name", printable(s.name)},
                                 {"line", s.line},
                                 {"dots", s.dots},
                                 {"color", s.color},
                                 {"marks", std::move(marks)}});
    }
    out["guides"] = Json::array();
    for (const auto& g : chart.guides)
        out["guides"].push_back({{"label", printable(g.label)},
                                 {"value", number(g.value)},
                                 {"from", number(g.from)},
                                 {"to", number(g.to)},
                                 {"color", g.color}});
    out["limits"] = Json::array();
    for (const auto& l : chart.limits)
        out["limits"].push_back({{"label", printable(l.label)}, {"value", number(l.value)}, {"color", l.color}});
    return out;
}

Json page_json(const BarChart& chart) {
    Json out{{"title", printable(chart.title)},
             {"subtitle", printable(chart.subtitle)},
             {"note", printable(chart.note)},
             {"x", axis_json(chart.x)}};
    out["stacked"] = chart.stacked;
    out["parts"] = texts_json(chart.parts);
    out["bars"] = Json::array();
    for (const auto& bar : chart.bars) {
        Json parts = Json::array();
        for (const double part : bar.parts) parts.push_back(number(part));
        out["bars"].push_back({{"label", printable(bar.label)},
                               {"note", printable(bar.note)},
                               {"text", printable(bar.text)},
                               {"parts", std::move(parts)}});
    }
    return out;
}

Json page_json(const Table& table) {
    Json out{{"title", printable(table.title)}, {"notes", texts_json(table.notes)}};
    out["columns"] = Json::array();
    for (const auto& c : table.columns)
        out["columns"].push_back({{"title", printable(c.title)}, {"number", c.number}, {"shaded", c.shaded}});
    out["rows"] = Json::array();
    for (const auto& row : table.rows) {
        Json texts = Json::array(), values = Json::array();
        for (const auto& cell : row.cells) texts.push_back(printable(cell.text)), values.push_back(number(cell.value));
        out["rows"].push_back({{"state", row.color == "good" || row.color == "bad" ? row.color : ""},
                               {"texts", std::move(texts)},
                               {"values", std::move(values)}});
    }
    return out;
}

}  // namespace gambrel::chart_detail
