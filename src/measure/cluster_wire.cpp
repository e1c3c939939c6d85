// A rank's result as one line of JSON. Both ends are the same program, but a launcher may start two versions of it, so
// what arrives is checked like any other input.
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <gambrel/measure.hpp>

#include "base/json_text.hpp"

namespace gambrel {
namespace {

using nlohmann::json;

constexpr int kSchema = 2;  // one more with every change of what is sent

json ceiling_of(const MeasuredCeiling& c) {
    json j{{"kind", static_cast<int>(c.kind)},
           {"title", c.title},
           {"action", name(c.action)},
           {"units", c.units},
           {"median", c.value.median},
           {"low", c.value.low},
           {"high", c.value.high},
           {"minimum", c.value.minimum},
           {"maximum", c.value.maximum},
           {"count", c.value.count},
           {"disturbed", c.disturbed},
           {"primary", c.primary}};
    if (c.pipe) j["pipe"] = name(*c.pipe);
    if (c.level) j["level"] = name(*c.level);
    if (c.working_set) j["working_set"] = c.working_set->value();
    if (c.clock) j["clock"] = c.clock->value();
    if (c.theoretical) j["theoretical"] = *c.theoretical;
    if (c.fault) j["fault"] = *c.fault;
    return j;
}

// A fraction, or a number that an int cannot hold, would be converted to any other.
int whole(const json& j, const char* key, std::int64_t most = std::numeric_limits<int>::max()) {
    const json& value = j.at(key);
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > static_cast<std::uint64_t>(most))
        throw json::other_error::create(501, fmt::format("{}: expected a whole number up to {}", key, most), &j);
    return value.get<int>();
}

MeasuredCeiling ceiling_from(const json& j) {
    MeasuredCeiling c;
    c.kind = static_cast<CeilingKind>(whole(j, "kind", static_cast<int>(CeilingKind::link)));
    c.title = j.at("title").get<std::string>();
    const auto action = probe_action_from(j.at("action").get<std::string>());
    if (!action) throw json::other_error::create(501, "action", &j);
    c.action = *action;
    c.units = whole(j, "units");
    c.value = {j.at("median").get<double>(),  j.at("low").get<double>(),
               j.at("high").get<double>(),    j.at("minimum").get<double>(),
               j.at("maximum").get<double>(), static_cast<std::size_t>(whole(j, "count"))};
    c.samples = c.value;
    c.disturbed = j.at("disturbed").get<bool>();
    c.primary = j.at("primary").get<bool>();
    if (j.contains("pipe")) c.pipe = pipe_from(j["pipe"].get<std::string>());
    if (j.contains("level")) c.level = level_from(j["level"].get<std::string>());
    if (j.contains("working_set")) c.working_set = Bytes{j["working_set"].get<double>()};
    if (j.contains("clock")) c.clock = Frequency{j["clock"].get<double>()};
    if (j.contains("theoretical")) c.theoretical = j["theoretical"].get<double>();
    if (j.contains("fault")) c.fault = j["fault"].get<std::string>();
    return c;
}

}  // namespace

std::string to_wire(const RankResult& r) {
    const DeviceInfo& d = r.measurement.device;
    json j{
        {"schema", kSchema},
        {"rank", r.rank},
        {"error", r.error},
        {"device", {{"kind", name(d.kind)}, {"name", d.name}, {"id", d.id}, {"detail", d.detail}, {"units", d.units}}},
        {"date", r.measurement.date},
        {"took", r.measurement.took.value()},
        {"interrupted", r.measurement.interrupted},
        {"ceilings", json::array()}};
    if (d.theoretical) j["device"]["machine"] = to_json(*d.theoretical);
    for (const MeasuredCeiling& c : r.measurement.ceilings) j["ceilings"].push_back(ceiling_of(c));
    return j.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<RankResult> from_wire(std::string_view text) {
    const auto parsed = base_detail::parse_json(text, "a rank's result");
    if (!parsed) return tl::unexpected(parsed.error());
    const json& j = *parsed;
    RankResult r;
    try {
        r.rank = whole(j, "rank");
        const std::string where = fmt::format("rank {}", r.rank);
        if (const int schema = whole(j, "schema"); schema != kSchema)
            return failure(where,
                           fmt::format("sends schema {}, expected {}: another version of gambrel", schema, kSchema));
        r.error = j.at("error").get<std::string>();
        const json& d = j.at("device");
        DeviceInfo& info = r.measurement.device;
        const auto kind = device_kind_from(d.at("kind").get<std::string>());
        if (!kind) return failure(where, fmt::format("sends a device of kind {}", d["kind"].dump()));
        info.kind = *kind, info.name = d.at("name").get<std::string>();
        info.id = d.at("id").get<std::string>(), info.detail = d.at("detail").get<std::string>();
        info.units = whole(d, "units");
        if (d.contains("machine")) {
            auto machine = parse_machine(d["machine"].get<std::string>(), where);
            if (!machine) return tl::unexpected(machine.error());
            info.theoretical = std::move(*machine);
        }
        r.measurement.date = j.at("date").get<std::string>();
        r.measurement.took = Seconds{j.at("took").get<double>()};
        r.measurement.interrupted = j.at("interrupted").get<bool>();
        for (const json& c : j.at("ceilings")) r.measurement.ceilings.push_back(ceiling_from(c));
    } catch (const json::exception& e) {
        return failure("a rank's result", "cannot be read: " + base_detail::json_fault(e));
    }
    return r;
}

}  // namespace gambrel
