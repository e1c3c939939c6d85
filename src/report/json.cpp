#include <cctype>

#include <gambrel/report.hpp>
#include <gambrel/roofline.hpp>
#include <gambrel/version.hpp>

#include "report/json_values.hpp"
#include "report/numbers.hpp"

namespace gambrel {
namespace {

using namespace report_detail;

template <class Q>
Json amount(const Known<Q>& known) {
    if (!known) return nullptr;
    return {{"value", number(known->value.value())}, {"origin", name(known->origin)}, {"rule", known->rule.str()}};
}

std::string pipe_key(Pipe pipe) { return std::string(name(pipe)) + (is_integer(pipe) ? "_op" : "_flop"); }

Json kernel_json(const Kernel& k) {
    Json out;
    out["name"] = k.name.str();
    out["short_name"] = short_name(k.name.str());
    out["phase"] = k.phase.empty() ? Json(nullptr) : Json(k.phase.str());
    out["source"] = k.source.str();
    out["device"] = k.device.str();
    if (!k.time_class.empty()) {
        out["class"] = k.time_class.str();
        out["operator"] = k.op.empty() ? Json(nullptr) : Json(k.op.str());
        out["module"] = k.module.empty() ? Json(nullptr) : Json(k.module.str());
        out["rank"] = k.rank.empty() ? Json(nullptr) : Json(k.rank.str());
    }
    out["launches"] = k.launches;
    out["zero_flop_launches"] = k.zero_flop_launches;
    out["time_s"] = amount(k.time);
    out["clock_hz"] = amount(k.clock);
    out["flop"] = amount(flop(k));
    out["tensor_flop"] = amount(tensor_flop(k));
    out["sparse_flop"] = amount(k.sparse_work);
    out["has_uncounted_work"] = k.has_uncounted_work;
    out["work"] = Json::object();
    for (const Pipe p : all_pipes())
        if (k.work[p]) out["work"][pipe_key(p)] = amount(k.work[p]);
    out["traffic"] = Json::object();
    for (const Level l : all_levels())
        if (k.bytes[l]) out["traffic"][level_key(l) + "_bytes"] = amount(k.bytes[l]);
    out["reported_peaks"] = Json::object();
    for (const auto& p : k.pipe_peaks) out["reported_peaks"][std::string(name(p.pipe))] = amount<FlopRate>(p.peak);
    for (const auto& l : k.level_peaks) out["reported_peaks"][level_key(l.level)] = amount<Bandwidth>(l.peak);
    out["gauges"] = Json::object();
    for (const auto& g : k.gauges)
        out["gauges"][g.name.str()] = {
            {"value", number(g.reading.value)}, {"origin", name(g.reading.origin)}, {"rule", g.reading.rule.str()}};
    out["grid"] = k.shape ? Json(k.shape->grid) : Json(nullptr);
    out["block"] = k.shape ? Json(k.shape->block) : Json(nullptr);
    out["reasons"] = Json::array();
    for (const auto& reason : k.reasons) out["reasons"].push_back(reason.str());
    out["remedies"] = Json::array();
    for (const auto& remedy : k.remedies) out["remedies"].push_back(remedy.str());
    return out;
}

Json verdict_json(const Roofline& v) {
    Json out;
    out["bound"] = std::holds_alternative<std::monostate>(v.bound) ? Json(nullptr) : Json(to_text(v.bound));
    out["nearest_roof"] = std::holds_alternative<std::monostate>(v.nearest) ? Json(nullptr) : Json(to_text(v.nearest));
    out["roof_basis"] = basis_name(v).empty() ? Json(nullptr) : Json(basis_name(v));
    out["why"] = v.why.empty() ? Json(nullptr) : Json(v.why);
    out["percent_of_roof"] = v.of_roof ? number(100 * *v.of_roof) : Json(nullptr);
    out["achieved_flop_per_s"] = number(v.achieved);
    out["compute_roof_flop_per_s"] = number(v.compute_roof);
    out["shortest_s"] = number(v.shortest.value());
    out["headroom_s"] = number(v.headroom);
    out["clock_hz"] = number(v.clock);
    out["levels"] = Json::array();
    for (const auto& l : v.levels)
        out["levels"].push_back({{"level", level_key(l.level)},
                                 {"intensity_flop_per_byte", number(l.intensity)},
                                 {"roof_flop_per_s", number(l.roof)},
                                 {"ceiling_byte_per_s", number(l.ceiling.value())},
                                 {"ceiling_origin", name(l.ceiling_origin)},
                                 {"ceiling_cite", l.ceiling_cite},
                                 {"achieved_byte_per_s", number(l.achieved.value())},
                                 {"percent_of_ceiling", number(100 * l.of_ceiling)},
                                 {"shortest_s", number(l.shortest.value())}});
    out["pipes"] = Json::array();
    for (const auto& p : v.pipes) {
        const std::string unit = is_integer(p.pipe) ? "_op_per_s" : "_flop_per_s";
        out["pipes"].push_back({{"pipe", name(p.pipe)},
                                {"ceiling" + unit, number(p.ceiling.value())},
                                {"ceiling_origin", name(p.ceiling_origin)},
                                {"ceiling_cite", p.ceiling_cite},
                                {"achieved" + unit, number(p.achieved.value())},
                                {"percent_of_ceiling", number(100 * p.of_ceiling)},
                                {"shortest_s", number(p.shortest.value())}});
    }
    out["findings"] = v.findings;
    return out;
}

Json machine_json(const Machine& m) {
    Json out{{"id", m.id}, {"name", m.name}, {"architecture", m.architecture}, {"chip", m.chip}};
    out["compute_capability"] = m.compute_capability ? Json(to_text(*m.compute_capability)) : Json(nullptr);
    out["source"] = m.source;
    out["machine_file"] = Json::parse(to_json(m), nullptr, false);
    return out;
}

Json zero_flop_json(const Analysis& a) {
    Json out{{"names", a.zero_flop_names}, {"launches", a.zero_flop_launches}, {"time_s", a.zero_flop_time.value()}};
    for (const Level l : all_levels()) out[level_key(l) + "_bytes"] = number(a.zero_flop_bytes[l].value());
    return out;
}

Json timeline_json(const TimelineSummary& t) {
    Json out{{"gpu_ns", t.gpu_ns},
             {"wall_ns", t.wall_ns},
             {"idle_ns", t.idle_ns},
             {"exposed_communication_ns", t.exposed_communication_ns}};
    out["launch_bound_ns"] = t.launch_bound_ns;
    out["ranks"] = t.ranks;
    out["steps"] = t.steps;
    out["classes"] = Json::array();
    for (std::size_t i = 0; i < kTimeClasses; ++i)
        out["classes"].push_back(
            {{"class", name(static_cast<TimeClass>(i))}, {"ns", t.classes[i].ns}, {"events", t.classes[i].events}});
    out["unmodelled"] = Json::array();
    for (const auto& u : t.unmodelled)
        out["unmodelled"].push_back(
            {{"operator", u.op.str()}, {"reason", u.reason.str()}, {"ns", u.ns}, {"events", u.events}});
    return out;
}

Json advice_json(const Advice& a, const Analysis& analysis) {
    Json out{{"rule", a.rule}, {"text", a.text}, {"evidence", a.evidence}, {"gain_s", number(a.gain.value())}};
    out["step_speedup"] = number(a.step_speedup);
    out["at_most"] = a.at_most;
    out["rests_on"] = a.rests_on;
    out["rows"] = a.rows;
    out["names"] = Json::array();
    for (const std::size_t row : a.rows) out["names"].push_back(analysis.rows[row].kernel.name.str());
    return out;
}

}  // namespace

std::string json(const Analysis& a) {
    Json out;
    out["schema"] = "gambrel-analysis-1";
    out["version"] = kVersion;
    out["title"] = a.title;
    if (a.partial) out["partial"] = true;
    out["grouping"] = grouping_name(a.grouping);
    out["roofs"] = roofs_name(a.roofs);
    out["origin"] = name(a.origin);
    if (a.partial) out["partial"] = true;
    if (a.timeline) out["timeline"] = timeline_json(*a.timeline);
    out["machines"] = Json::array();
    for (const auto& m : a.machines) out["machines"].push_back(machine_json(m));
    out["rows"] = Json::array();
    for (const auto& row : a.rows) {
        Json item = kernel_json(row.kernel);
        item["machine"] = row.machine < a.machines.size() ? Json(a.machines[row.machine].id) : Json(nullptr);
        item["verdict"] = verdict_json(row.verdict);
        out["rows"].push_back(std::move(item));
    }
    out["total"] = kernel_json(a.total);
    out["zero_flop"] = zero_flop_json(a);
    out["advice"] = Json::array();
    for (const Advice& advised : advice(a)) out["advice"].push_back(advice_json(advised, a));
    out["phases"] = Json::array();
    for (const auto& p : a.phases) {
        Json item = kernel_json(p.sum);
        item["name"] = p.phase.str();
        item["zero_flop_launches"] = p.zero_flop_launches;
        item["zero_flop_time_s"] = number(p.zero_flop_time.value());
        out["phases"].push_back(std::move(item));
    }
    out["notes"] = Json::array();
    for (const auto& note : a.notes) out["notes"].push_back({{"where", note.where}, {"what", note.what}});
    return dumped(out, 2) + "\n";
}

}  // namespace gambrel
