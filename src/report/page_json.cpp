#include "report/page_json.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <gambrel/version.hpp>

#include "chart/page_json.hpp"

#include "chart/palette.hpp"
#include "chart/text.hpp"
#include "report/answer_text.hpp"
#include "report/compare_words.hpp"
#include "report/json_values.hpp"
#include "report/machine_facts.hpp"
#include "report/numbers.hpp"
#include "report/roofline_plot.hpp"

namespace gambrel::report_detail {

using namespace chart_detail;

namespace {

Json palette_json(Theme theme) {
    const Palette p = palette(theme);
    Json out{{"background", p.background}, {"ink", p.ink},        {"muted", p.muted},
             {"faint", p.faint},           {"grid", p.grid},      {"minor", p.minor_grid},
             {"frame", p.frame},           {"warning", p.warning}};
    for (const Level level : all_levels()) out["level"][std::string(name(level))] = p[name(level)];
    return out;
}

Json roof_json(const PlottedRoof& roof, bool other) {
    const auto* level = std::get_if<Level>(&roof.what);
    return {{"kind", level ? "slope" : "flat"},
            {"what", level ? std::string(name(*level)) : std::string(name(std::get<Pipe>(roof.what)))},
            {"value", roof.value},
            {"measured", roof.measured},
            {"other", other},
            {"label", roof.label}};
}

Json chart_json(const Analysis& analysis, std::size_t machine) {
    PlotChoice choice;
    choice.machine = machine, choice.keep_off_axes = true;
    const RooflinePlot data = roofline_plot(analysis, choice);
    Json out{{"machine", machine},
             {"subtitle", printable(data.subtitle)},
             {"x", {data.x.low, data.x.high}},
             {"y", {data.y.low, data.y.high}},
             {"drawn", data.kernels.size()}};
    out["levels"] = Json::array();
    for (const Level level : data.levels) out["levels"].push_back(name(level));
    out["roofs"] = Json::array();
    for (const auto* roofs : {&data.slopes, &data.flats})
        for (const auto& roof : *roofs) out["roofs"].push_back(roof_json(roof, false));
    for (const auto& roof : data.other_roofs) out["roofs"].push_back(roof_json(roof, true));
    out["caption"] = Json::array();
    for (const auto& sentence : data.caption) out["caption"].push_back(printable(sentence));
    out["clocks_differ"] = data.clocks_differ;
    return out;
}

Json machine_json(const Machine& m) {
    Json out{{"id", printable(m.id)},
             {"name", printable(m.name.empty() ? m.id : m.name)},
             {"about", printable(machine_about(m))},
             {"note", printable(m.note)}};
    out["sections"] = Json::array();
    for (const auto& section : machine_facts(m)) {
        Json lines = Json::array();
        for (const auto& l : section.lines) lines.push_back({l.what, l.value, l.origin, printable(l.cite)});
        out["sections"].push_back({{"heading", section.heading}, {"lines", std::move(lines)}});
    }
    return out;
}

template <class Q>
Json text_of(const Known<Q>& known) {
    return known ? Json(to_text(known->value, 3)) : Json(nullptr);
}

Json sum_json(std::string_view what, const Kernel& sum, std::uint64_t zero_launches, Seconds zero_time) {
    Json out{{"name", printable(what)},
             {"launches", sum.launches},
             {"time", value_of(sum.time)},
             {"time_text", text_of(sum.time)},
             {"flop_text", text_of(flop(sum))},
             {"zero_launches", zero_launches},
             {"zero_time", number(zero_time.value())}};
    for (const Level level : all_levels())
        if (sum.bytes[level]) out["bytes"][std::string(name(level))] = to_text(sum.bytes[level]->value, 3);
    return out;
}

void add_analysis(Json& view, const Analysis& a) {
    view["roofs"] = roofs_name(a.roofs);
    view["grouping"] = grouping_name(a.grouping);
    view["answer"] = printable(answer_text(a));
    view["advice"] = Json::array();
    for (const std::string& line : advice_texts(a)) view["advice"].push_back(printable(line));
    view["whole_time"] = number(known_time(a).value());
    view["zero_flop"] = {{"text", zero_flop_text(a)}, {"time", number(a.zero_flop_time.value())}};
    view["total"] = sum_json("total", a.total, a.zero_flop_launches, a.zero_flop_time);
    view["phases"] = Json::array();
    for (const auto& p : a.phases)
        view["phases"].push_back(sum_json(p.phase.str(), p.sum, p.zero_flop_launches, p.zero_flop_time));
    view["notes"] = Json::array();
    if (a.partial) view["notes"].push_back("Partial result: its source was cut short or interrupted.");
    for (const auto& note : a.notes) view["notes"].push_back(printable(to_text(note)));
    view["machines"] = Json::array();
    view["charts"] = Json::array();
    for (std::size_t i = 0; i < a.machines.size(); ++i) {
        view["machines"].push_back(machine_json(a.machines[i]));
        view["charts"].push_back(chart_json(a, i));
    }
}

// The roofs of the side before, where they are not those of the side after: what moved beside the points.
Json roofs_before(const Comparison& c) {
    Json out = Json::array();
    if (c.before.machines.empty() || c.after.machines.empty()) return out;
    const RooflinePlot was = roofline_plot(c.before, {}), now = roofline_plot(c.after, {});
    const auto add = [&](const std::vector<PlottedRoof>& old, const std::vector<PlottedRoof>& shown) {
        for (const auto& roof : old)
            if (std::none_of(shown.begin(), shown.end(), [&](const PlottedRoof& r) {
                    return r.what == roof.what && std::fabs(r.value / roof.value - 1) < 1e-6;
                }))
                out.push_back(roof_json(roof, true));
    };
    add(was.slopes, now.slopes), add(was.flats, now.flats);
    return out;
}

// Arrows come from where the points were: that must be in sight too.
void widen_axes(Json& charts, const Analysis& before) {
    PlotChoice choice;
    choice.keep_off_axes = true;
    const RooflinePlot was = roofline_plot(before, choice);
    if (was.kernels.empty()) return;
    const auto widened = [](Json& axis, const LogRange& range) {
        axis = {std::min(axis[0].get<double>(), range.low), std::max(axis[1].get<double>(), range.high)};
    };
    for (Json& chart : charts) widened(chart["x"], was.x), widened(chart["y"], was.y);
}

// Lines are pairs; the columns of the view are the side after, those in "compared" the side before.
void add_comparison(Json& view, const Comparison& c) {
    add_analysis(view, c.after);
    widen_axes(view["charts"], c.before);
    std::vector<std::optional<std::size_t>> before, after;
    Json explained = Json::array(), side = Json::array(), share = Json::array();
    for (const auto& p : c.pairs) {
        before.push_back(p.before), after.push_back(p.after);
        explained.push_back(explained_text(p));
        share.push_back(number(p.after ? p.share.after : p.share.before));
        side.push_back(p.before && p.after ? 0 : p.before ? -1 : 1);
    }
    view["rows"] = page_rows(c.after, after);
    if (const auto sums = sums_of(c); !sums.empty() && !sums.front().change.empty())
        view["answer"] = printable(fmt::format("Time {} -> {} ({}). After: {}", sums.front().before, sums.front().after,
                                               sums.front().change, answer_text(c.after)));
    Json out{{"before", printable(c.before.title)},
             {"after", printable(c.after.title)},
             {"matched_by", name(c.matched_by)},
             {"is_prediction", c.is_prediction}};
    out["summary"] = Json::array();
    for (const auto& sentence : summary_of(c)) out["summary"].push_back(printable(sentence));
    out["total"] = Json::array();
    for (const auto& line : sums_of(c)) out["total"].push_back({line.what, line.before, line.after, line.change});
    out["rows"] = page_rows(c.before, before);
    out["roofs"] = roofs_before(c);
    out["explained"] = std::move(explained), out["side"] = std::move(side);
    out["share"] = std::move(share);  // of the time of its own side
    view["compared"] = std::move(out);
}

Json view_json(const PageView& v, const PageInput& page) {
    Json out;
    if (v.saved) out = Json::parse(v.saved->json, nullptr, false);
    out["title"] = printable(v.title);
    if (v.saved) return out;
    out["command"] = printable(v.command.empty() ? page.command : v.command);
    out["version"] = kVersion;
    if (v.analysis) {
        add_analysis(out, *v.analysis);
        std::vector<std::optional<std::size_t>> order;
        for (std::size_t i = 0; i < v.analysis->rows.size(); ++i) order.emplace_back(i);
        out["rows"] = page_rows(*v.analysis, order);
        if (v.analysis->lanes && !v.analysis->lanes->events.empty()) out["timeline"] = page_timeline(*v.analysis);
    }
    if (v.comparison) add_comparison(out, *v.comparison);
    if (!v.answer.empty()) out["answer"] = printable(v.answer);
    if (v.side_by_side) {
        out["side_by_side"] = true;
        out.erase("total"), out.erase("zero_flop"), out.erase("advice");
    }
    out["layers"] = Json::array();
    for (const auto& l : v.layers)
        out["layers"].push_back({printable(l.name), printable(l.detail), number(l.time.value()),
                                 printable(l.bottleneck), l.row ? Json(*l.row) : Json(nullptr)});
    if (v.model) out["model"] = page_model_json(*v.model);
    out["curves"] = Json::array();
    if (v.comparison)
        if (const Chart bytes = traffic_chart(*v.comparison); !bytes.series.empty())
            out["curves"].push_back(chart_detail::page_json(bytes));
    for (const auto& chart : v.charts) out["curves"].push_back(chart_detail::page_json(chart));
    out["bars"] = Json::array();
    for (const auto& bars : v.bars) out["bars"].push_back(chart_detail::page_json(bars));
    out["tables"] = Json::array();
    for (const auto& table : v.tables) out["tables"].push_back(chart_detail::page_json(table));
    return out;
}

}  // namespace

Json page_document(const PageInput& input) {
    Json out;
    out["schema"] = kPageSchema;
    out["version"] = kVersion;
    out["title"] = printable(input.title);
    out["command"] = printable(input.command);
    out["dark"] = input.dark;
    out["overview"] = input.overview;
    out["palette"] = {{"light", palette_json(Theme::light)}, {"dark", palette_json(Theme::dark)}};
    out["pipes"] = Json::object();
    for (const Pipe pipe : all_pipes())
        out["pipes"][std::string(name(pipe))] = {{"title", title(pipe)}, {"integer", is_integer(pipe)}};
    out["views"] = Json::array();
    for (const auto& v : input.views) out["views"].push_back(view_json(v, input));
    return out;
}

}  // namespace gambrel::report_detail
