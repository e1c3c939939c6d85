#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include <gambrel/report.hpp>
#include <gambrel/version.hpp>

#include "report/compare_words.hpp"
#include "report/fields.hpp"
#include "report/json_values.hpp"
#include "report/numbers.hpp"

namespace gambrel {
namespace {

using namespace report_detail;

Json change_json(const Change& c) {
    return {{"before", number(c.before)}, {"after", number(c.after)}, {"ratio", number(c.ratio())}};
}

std::string cause_name(const ComparedPair& p) {
    if (p.cause == Cause::clock) return "clock";
    return p.cause == Cause::count ? "count" : to_text(p.explained_by);
}

Json pair_json(const ComparedPair& p, std::optional<double> count = {}) {
    Json out;
    out["time_s"] = change_json(p.time);
    out["flop"] = change_json(p.flop);
    out["flop_per_s"] = change_json(p.flop_rate);
    for (const Level l : all_levels())
        if (p.bytes[l].before || p.bytes[l].after) {
            out[level_key(l) + "_bytes"] = change_json(p.bytes[l]);
            out["ai_" + level_key(l)] = change_json(p.intensity[l]);
        }
    out["clock_hz"] = change_json(p.clock);
    const bool none = p.cause == Cause::efficiency;
    out["explained_by"] = none ? Json(nullptr) : Json(cause_name(p));
    out["explained_share"] = none ? Json(nullptr) : Json(p.explained);
    if (p.factors)
        out["time_factors"] = {{"clock", p.factors->clock},
                               {"bytes", p.factors->bytes},
                               {"work", p.factors->work},
                               {"rate", p.factors->rate}};
    if (count) out["count_ratio"] = *count;
    return out;
}

Json side_json(const Analysis& a) {
    Json out{{"title", a.title}};
    if (a.partial) out["partial"] = true;
    out["machines"] = Json::array();
    for (const auto& m : a.machines) out["machines"].push_back({{"id", m.id}, {"name", m.name}});
    return out;
}

// Which side's source was cut short or interrupted.
const char* partial_side(const Comparison& c) {
    return c.before.partial && c.after.partial ? "both" : c.before.partial ? "before" : c.after.partial ? "after" : "";
}

const char* side_name(const ComparedPair& p) { return p.before && p.after ? "both" : p.before ? "before" : "after"; }

std::string field(const std::optional<double>& v) { return v ? exact(*v) : std::string{}; }

}  // namespace

std::string comparison_json(std::span<const Comparison> comparisons) {
    Json out{{"schema", "gambrel-comparison-1"}, {"version", kVersion}};
    out["comparisons"] = Json::array();
    for (const auto& c : comparisons) {
        Json item{{"before", side_json(c.before)},    {"after", side_json(c.after)}, {"matched_by", name(c.matched_by)},
                  {"is_prediction", c.is_prediction}, {"matched", c.matched},        {"only_before", c.only_before},
                  {"only_after", c.only_after},       {"total", pair_json(c.total)}};
        item["pairs"] = Json::array();
        for (const auto& p : c.pairs) {
            Json pair{{"name", shown_kernel(p, c).name.str()},
                      {"phase", shown_kernel(p, c).phase.str()},
                      {"in", side_name(p)}};
            pair["by_base_name"] = p.by_base_name;
            pair["share_before"] = number(p.share.before), pair["share_after"] = number(p.share.after);
            pair["name_before"] = p.before ? Json(c.before.rows[*p.before].kernel.name.str()) : Json(nullptr);
            pair.update(pair_json(p, p.launches.ratio()));
            item["pairs"].push_back(std::move(pair));
        }
        out["comparisons"].push_back(std::move(item));
    }
    return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string comparison_csv(std::span<const Comparison> comparisons) {
    std::string out =
        "before,after,name,phase,in,time_s_before,time_s_after,time_ratio,flop_before,flop_after,flop_ratio";
    for (const char* level : {"l1", "l2", "dram"})
        for (const char* what : {"_bytes_before", "_bytes_after", "_bytes_ratio", "_ai_ratio"})
            out += std::string(",") + level + what;
    out +=
        ",explained_by,explained_share,clock_hz_before,clock_hz_after,by_clock,by_bytes,by_work,by_rate,partial,count_"
        "ratio,share_before,share_after,name_before\n";
    for (const auto& c : comparisons)
        for (const auto& p : c.pairs) {
            const Kernel& k = shown_kernel(p, c);
            std::vector<std::string> fields{c.before.title, c.after.title, k.name.str(), k.phase.str(), side_name(p)};
            const auto add = [&](const Change& change) {
                fields.push_back(field(change.before)), fields.push_back(field(change.after));
                fields.push_back(field(change.ratio()));
            };
            add(p.time), add(p.flop);
            for (const Level l : {Level::l1, Level::l2, Level::dram})
                add(p.bytes[l]), fields.push_back(field(p.intensity[l].ratio()));
            fields.push_back(cause_name(p));
            fields.push_back(p.explained > 0 ? exact(p.explained) : "");
            fields.push_back(field(p.clock.before)), fields.push_back(field(p.clock.after));
            for (const auto factor : {&TimeFactors::clock, &TimeFactors::bytes, &TimeFactors::work, &TimeFactors::rate})
                fields.push_back(p.factors ? exact((*p.factors).*factor) : "");
            fields.emplace_back(partial_side(c));
            fields.push_back(field(p.launches.ratio()));
            fields.push_back(field(p.share.before)), fields.push_back(field(p.share.after));
            fields.push_back(p.before ? c.before.rows[*p.before].kernel.name.str() : "");
            out += csv_line(fields);
        }
    return out;
}

}  // namespace gambrel
