#include <unordered_map>

#include <fmt/format.h>

#include "chart/text.hpp"
#include "report/json_values.hpp"
#include "report/numbers.hpp"
#include "report/page_json.hpp"
#include "report/timeline_strip.hpp"

namespace gambrel::report_detail {
namespace {

using namespace chart_detail;

// What the drawing does not show as it ran.
std::string merged_text(const TimelineStrip& strip) {
    std::string out;
    const auto add = [&](const std::string& sentence) { out += (out.empty() ? "" : " ") + sentence; };
    if (strip.merged_events > 0)
        add(fmt::format("{} events shorter than {} are merged with their neighbours.", count_text(strip.merged_events),
                        to_text(Seconds{static_cast<double>(strip.merged_below) * 1e-9}, 3)));
    if (strip.other_streams > 0)
        add(fmt::format("{} streams share the last lane, as the mean over them.", count_text(strip.other_streams)));
    if (strip.steps_left_out > 0) add(fmt::format("{} steps are not marked.", count_text(strip.steps_left_out)));
    return out;
}

}  // namespace

Json page_timeline(const Analysis& analysis) {
    const TimelineStrip strip = timeline_strip(analysis);
    Json out{{"wall", strip.wall_ns}, {"merged", merged_text(strip)}};
    out["lanes"] = Json::array();
    for (const auto& lane : strip.lanes) out["lanes"].push_back({printable(lane.name), lane.streams});
    out["groups"] = Json::array();
    for (const auto& g : strip.groups) out["groups"].push_back({name(g.time_class), g.bound, g.pipe});
    out["steps"] = Json::array();
    for (const auto& s : strip.steps) out["steps"].push_back({s.first_lane, s.last_lane, s.start_ns, s.number});
    Json lane = Json::array(), gap = lane, span = lane, busy = lane, events = lane, group = lane, row = lane;
    Json named = lane, texts = lane;
    std::unordered_map<Symbol, std::size_t> places;
    std::int64_t before = 0;
    for (std::size_t i = 0; i < strip.boxes.size(); ++i) {
        const auto& box = strip.boxes[i];
        if (i == 0 || box.lane != strip.boxes[i - 1].lane) before = 0;
        const std::int64_t length = box.end_ns - box.start_ns;
        lane.push_back(box.lane), group.push_back(box.group), events.push_back(box.events);
        gap.push_back(box.start_ns - before), span.push_back(length);
        busy.push_back(box.busy_ns == length ? Json(nullptr) : Json(box.busy_ns));
        row.push_back(box.row ? Json(*box.row) : Json(nullptr));
        const auto [it, fresh] = places.try_emplace(box.name, texts.size());
        if (fresh) texts.push_back(printable(short_name(box.name.str(), 64)));
        named.push_back(it->second);
        before = box.start_ns;
    }
    out["lane"] = std::move(lane), out["gap"] = std::move(gap), out["span"] = std::move(span);
    out["busy"] = std::move(busy), out["events"] = std::move(events), out["group"] = std::move(group);
    out["row"] = std::move(row), out["name"] = std::move(named), out["texts"] = std::move(texts);
    return out;
}

}  // namespace gambrel::report_detail
