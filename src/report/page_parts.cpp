#include "report/json_values.hpp"
#include "report/page_json.hpp"
#include "report/text.hpp"

namespace gambrel::report_detail {
namespace {

Json axis_json(const PageAxis& a) {
    return {{"label", printable(a.label)}, {"unit", a.unit}, {"log", a.log}, {"binary", a.powers_of_2}};
}

Json level_json(const std::optional<Level>& level) { return level ? Json(name(*level)) : Json(nullptr); }

Json texts_json(const std::vector<std::string>& texts) {
    Json out = Json::array();
    for (const auto& text : texts) out.push_back(printable(text));
    return out;
}

const char* state_name(PageTableRow::State state) {
    switch (state) {
        case PageTableRow::State::good:
            return "good";
        case PageTableRow::State::bad:
            return "bad";
        case PageTableRow::State::plain:
            break;
    }
    return "";
}

}  // namespace

Json curves_json(const PageChart& chart) {
    Json out{{"title", printable(chart.title)}, {"note", printable(chart.note)}};
    out["x"] = axis_json(chart.x), out["y"] = axis_json(chart.y);
    out["series"] = Json::array();
    for (const auto& s : chart.series) {
        Json marks = Json::array();
        for (const auto& m : s.marks)
            marks.push_back(
                {number(m.x), number(m.y), number(m.low), number(m.high), printable(m.label), m.chosen ? 1 : 0});
        out["series"].push_back({{"name", printable(s.name)},
                                 {"line", s.line},
                                 {"level", level_json(s.level)},
                                 {"marks", std::move(marks)}});
    }
    out["guides"] = Json::array();
    for (const auto& g : chart.guides)
        out["guides"].push_back({{"label", printable(g.label)},
                                 {"value", number(g.value)},
                                 {"from", number(g.from)},
                                 {"to", number(g.to)},
                                 {"level", level_json(g.level)}});
    out["limits"] = Json::array();
    for (const auto& l : chart.limits)
        out["limits"].push_back(
            {{"label", printable(l.label)}, {"value", number(l.value)}, {"level", level_json(l.level)}});
    return out;
}

Json bars_json(const PageBars& bars) {
    Json out{{"title", printable(bars.title)}, {"note", printable(bars.note)}, {"x", axis_json(bars.x)}};
    out["stacked"] = bars.stacked;
    out["parts"] = texts_json(bars.parts);
    out["bars"] = Json::array();
    for (const auto& bar : bars.bars) {
        Json parts = Json::array();
        for (const double part : bar.parts) parts.push_back(number(part));
        out["bars"].push_back(
            {{"label", printable(bar.label)}, {"note", printable(bar.note)}, {"parts", std::move(parts)}});
    }
    return out;
}

Json table_json(const PageTable& table) {
    Json out{{"title", printable(table.title)}, {"notes", texts_json(table.notes)}};
    out["columns"] = Json::array();
    for (const auto& c : table.columns)
        out["columns"].push_back({{"title", printable(c.title)}, {"number", c.number}, {"shaded", c.shaded}});
    out["rows"] = Json::array();
    for (const auto& row : table.rows) {
        Json texts = Json::array(), values = Json::array();
        for (const auto& cell : row.cells) texts.push_back(printable(cell.text)), values.push_back(number(cell.value));
        out["rows"].push_back(
            {{"state", state_name(row.state)}, {"texts", std::move(texts)}, {"values", std::move(values)}});
    }
    return out;
}

}  // namespace gambrel::report_detail
