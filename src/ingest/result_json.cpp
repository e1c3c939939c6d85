#include "ingest/result_json.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json_text.hpp"

namespace gambrel::ingest_detail {
namespace {

using Json = nlohmann::json;
using base_detail::json_excerpt;
constexpr std::string_view kSchema = "gambrel-analysis-1", kLayers = "gambrel-layers-1";

// A place in the document and where its faults go.
struct At {
    std::string path;
    Errors* errors;
    void fault(const std::string& key, std::string what) const { errors->push_back({path + key, std::move(what)}); }
};

const Json* member(const Json& object, const char* key) {
    if (!object.is_object()) return nullptr;
    const auto it = object.find(key);
    return it == object.end() || it->is_null() ? nullptr : &*it;
}

std::string text_of(const Json& object, const char* key, const At& at) {
    const Json* value = member(object, key);
    if (!value) return {};
    if (value->is_string()) return value->get<std::string>();
    at.fault(key, fmt::format("{} found, expected a text", json_excerpt(*value)));
    return {};
}

std::uint64_t count_of(const Json& object, const char* key, std::uint64_t otherwise, const At& at) {
    const Json* value = member(object, key);
    if (!value) return otherwise;
    if (value->is_number_unsigned()) return value->get<std::uint64_t>();
    at.fault(key, fmt::format("{} found, expected a count", json_excerpt(*value)));
    return otherwise;
}

template <class Q>
Known<Q> amount_of(const Json* value, const std::string& key, const At& at) {
    if (!value) return std::nullopt;
    const Json* number = member(*value, "value");
    if (!number) return std::nullopt;
    const double v = number->is_number() ? number->get<double>() : -1;
    if (!std::isfinite(v) || v < 0) {
        at.fault(key + ".value", fmt::format("{} found, expected a number of 0 or more", json_excerpt(*number)));
        return std::nullopt;
    }
    const std::string word = text_of(*value, "origin", {at.path + key + ".", at.errors});
    const auto origin = origin_from(word);
    if (!origin) {
        at.fault(key + ".origin",
                 fmt::format("\"{}\" is not a valid origin; expected measured, modelled or simulated", word));
        return std::nullopt;
    }
    return Amount<Q>{Q{v}, *origin, Symbol(text_of(*value, "rule", {at.path + key + ".", at.errors}))};
}

std::string level_key(Level level) {
    std::string key(name(level));
    std::transform(key.begin(), key.end(), key.begin(), [](unsigned char c) { return std::tolower(c); });
    return key;
}

void read_peaks(const Json& row, Kernel& k, const At& at) {
    const Json* peaks = member(row, "reported_peaks");
    if (!peaks) return;
    for (const Pipe p : all_pipes())
        if (auto a = amount_of<FlopRate>(member(*peaks, std::string(name(p)).c_str()),
                                         "reported_peaks." + std::string(name(p)), at))
            k.pipe_peaks.push_back({p, *a});
    for (const Level l : all_levels())
        if (auto a = amount_of<Bandwidth>(member(*peaks, level_key(l).c_str()), "reported_peaks." + level_key(l), at))
            k.level_peaks.push_back({l, *a});
}

void read_gauges(const Json& row, Kernel& k, const At& at) {
    const Json* gauges = member(row, "gauges");
    if (!gauges || !gauges->is_object()) return;
    for (const auto& [key, saved] : gauges->items())
        if (const auto a = amount_of<Flops>(&saved, "gauges." + key, at))
            k.gauges.push_back({Symbol(key), {a->value.value(), a->origin, a->rule}});
}

std::vector<Symbol> symbols_of(const Json& object, const char* key, const At& at) {
    std::vector<Symbol> out;
    const Json* list = member(object, key);
    if (!list) return out;
    if (!list->is_array()) at.fault(key, "expected a list of texts");
    if (list->is_array())
        for (const auto& item : *list) {
            if (item.is_string())
                out.emplace_back(item.get<std::string>());
            else
                at.fault(key, fmt::format("{} found, expected a text", json_excerpt(item)));
        }
    return out;
}

std::optional<std::array<std::uint32_t, 3>> triple(const Json* value) {
    std::array<std::uint32_t, 3> out{};
    if (!value || !value->is_array() || value->size() != 3) return std::nullopt;
    for (std::size_t i = 0; i < 3; ++i) {
        if (!(*value)[i].is_number_unsigned() || (*value)[i].get<std::uint64_t>() > 0xffffffffU) return std::nullopt;
        out[i] = (*value)[i].get<std::uint32_t>();
    }
    return out;
}

Kernel kernel_of(const Json& row, const At& at, const std::string& source) {
    Kernel k;
    k.name = Symbol(text_of(row, "name", at));
    k.phase = Symbol(text_of(row, "phase", at));
    k.source = Symbol(source);
    k.op = Symbol(text_of(row, "operator", at));
    k.module = Symbol(text_of(row, "module", at));
    k.rank = Symbol(text_of(row, "rank", at));
    k.time_class = Symbol(text_of(row, "class", at));
    k.launches = std::max<std::uint64_t>(1, count_of(row, "launches", 1, at));
    k.zero_flop_launches = std::min(k.launches, count_of(row, "zero_flop_launches", 0, at));
    k.time = amount_of<Seconds>(member(row, "time_s"), "time_s", at);
    k.clock = amount_of<Frequency>(member(row, "clock_hz"), "clock_hz", at);
    k.sparse_work = amount_of<Flops>(member(row, "sparse_flop"), "sparse_flop", at);
    if (const Json* uncounted = member(row, "has_uncounted_work"))
        k.has_uncounted_work = uncounted->is_boolean() && uncounted->get<bool>();
    if (const Json* work = member(row, "work"))
        for (const Pipe p : all_pipes()) {
            const std::string key = std::string(name(p)) + (is_integer(p) ? "_op" : "_flop");
            k.work[p] = amount_of<Flops>(member(*work, key.c_str()), "work." + key, at);
        }
    if (const Json* traffic = member(row, "traffic"))
        for (const Level l : all_levels()) {
            const std::string key = level_key(l) + "_bytes";
            k.bytes[l] = amount_of<Bytes>(member(*traffic, key.c_str()), "traffic." + key, at);
        }
    read_peaks(row, k, at);
    read_gauges(row, k, at);
    const auto grid = triple(member(row, "grid")), block = triple(member(row, "block"));
    if (grid && block) k.shape = LaunchShape{*grid, *block};
    k.reasons = symbols_of(row, "reasons", at);
    k.remedies = symbols_of(row, "remedies", at);
    return k;
}

// Files say in words where a machine came from.
MachineSource made_from(const std::string& source) {
    if (source.empty() || source.starts_with("built from")) return MachineSource::report;
    return source == "catalogue" ? MachineSource::catalogue : MachineSource::file;
}

void read_machines(const Json& document, const std::string& source, Run& out, Errors& errors) {
    const Json* list = member(document, "machines");
    if (!list || !list->is_array()) return;
    for (std::size_t i = 0; i < list->size(); ++i) {
        const Json& item = (*list)[i];
        const At at{fmt::format("{}: machines[{}].", source, i), &errors};
        Machine m;
        if (const Json* file = member(item, "machine_file")) {
            auto read =
                parse_machine(file->dump(-1, ' ', false, Json::error_handler_t::replace), at.path + "machine_file");
            if (read)
                m = std::move(*read);
            else  // the kernels stand all the same; the machine may be named on the command line
                out.notes.insert(out.notes.end(), read.error().begin(), read.error().end());
        }
        m.id = text_of(item, "id", at), m.name = text_of(item, "name", at), m.source = text_of(item, "source", at);
        m.made_from = made_from(m.source);
        out.machines.push_back(std::move(m));
    }
}

std::optional<TimelineSummary> timeline_of(const Json& document, const At& top) {
    const Json* saved = member(document, "timeline");
    if (!saved) return std::nullopt;
    const At at{top.path + "timeline.", top.errors};
    TimelineSummary t;
    t.gpu_ns = count_of(*saved, "gpu_ns", 0, at);
    t.wall_ns = count_of(*saved, "wall_ns", 0, at);
    t.idle_ns = count_of(*saved, "idle_ns", 0, at);
    t.exposed_communication_ns = count_of(*saved, "exposed_communication_ns", 0, at);
    t.launch_bound_ns = count_of(*saved, "launch_bound_ns", 0, at);
    t.ranks = count_of(*saved, "ranks", 1, at);
    t.steps = count_of(*saved, "steps", 0, at);
    const auto each = [&](const char* key, const auto& visit) {
        const Json* list = member(*saved, key);
        if (list && list->is_array())
            for (const Json& item : *list) visit(item);
    };
    each("classes", [&](const Json& item) {
        const std::string word = text_of(item, "class", at);
        for (std::size_t i = 0; i < kTimeClasses; ++i)
            if (word == name(static_cast<TimeClass>(i)))
                t.classes[i] = {count_of(item, "ns", 0, at), count_of(item, "events", 0, at)};
    });
    each("unmodelled", [&](const Json& item) {
        t.unmodelled.push_back({Symbol(text_of(item, "operator", at)), Symbol(text_of(item, "reason", at)),
                                count_of(item, "ns", 0, at), count_of(item, "events", 0, at)});
    });
    return t;
}

// The row names its machine by id.
void find_machine(const Json& row, const std::vector<Machine>& machines, const At& at, Kernel& k) {
    const std::string id = text_of(row, "machine", at);
    k.device = Symbol(text_of(row, "device", at));
    for (std::size_t i = 0; i < machines.size(); ++i)
        if (machines[i].id == id) {
            k.device = Symbol(machines[i].name);
            k.machine = i;
            return;
        }
}

}  // namespace

bool is_result_json(std::string_view text) {
    const auto start = text.find_first_not_of(" \t\r\n");
    return start != std::string_view::npos && text[start] == '{' &&
           (text.substr(0, 4096).find("\"gambrel-analysis-") != std::string_view::npos ||
            text.substr(0, 4096).find("\"gambrel-layers-") != std::string_view::npos);
}

Result<SavedResult> read_result_json(std::string_view text, const std::string& source, const KeepName& keep) {
    auto parsed = base_detail::parse_json(text, source);
    if (!parsed) return tl::unexpected(std::move(parsed.error()));
    Json& document = *parsed;
    Errors errors;
    At top{source + ": ", &errors};
    // What predict and simulate write holds the same layers as kernels of an analysis.
    if (text_of(document, "schema", top) == kLayers) {
        const Json* roofline = member(document, "roofline");
        if (!roofline)
            return failure(source + ": roofline", "missing; no layer was modelled, or an older gambrel wrote the file");
        document = Json(*roofline);
        top.path += "roofline.";
    }
    if (const std::string schema = text_of(document, "schema", top); schema != kSchema)
        top.fault("schema", fmt::format("\"{}\" found, expected \"{}\"", schema, kSchema));
    const Json* rows = member(document, "rows");
    if (!rows || !rows->is_array()) top.fault("rows", "missing; expected the list of kernels");
    if (!errors.empty()) return tl::unexpected(std::move(errors));
    SavedResult result;
    Run& out = result.run;
    if (const std::string roofs = text_of(document, "roofs", top); !roofs.empty()) {
        if (roofs == "measured" || roofs == "theoretical")
            out.roofs = roofs == "measured" ? Roofs::measured : Roofs::theoretical;
        else
            top.fault("roofs", fmt::format("\"{}\" found, expected \"measured\" or \"theoretical\"", roofs));
    }
    if (const std::string origin = text_of(document, "origin", top); !origin.empty()) {
        if (const auto known = origin_from(origin))
            out.origin = *known;
        else
            top.fault("origin", fmt::format("\"{}\" found, expected measured, modelled or simulated", origin));
    }
    if (const Json* partial = member(document, "partial")) out.partial = partial->is_boolean() && partial->get<bool>();
    out.timeline = timeline_of(document, top);
    read_machines(document, source, out, errors);
    for (std::size_t i = 0; i < rows->size(); ++i) {
        const At at{fmt::format("{}rows[{}].", top.path, i), &errors};
        if (!(*rows)[i].is_object()) {
            at.fault("", "expected an object");
            continue;
        }
        Kernel k = kernel_of((*rows)[i], at, source);
        if (keep && !keep(k.name.str())) {
            result.filtered_launches += k.launches;
            continue;
        }
        find_machine((*rows)[i], out.machines, at, k);
        // Results of version 0.1 say it only of their amounts.
        if (!member(document, "origin") && k.time) out.origin = std::max(out.origin, k.time->origin);
        out.kernels.push_back(std::move(k));
    }
    if (!errors.empty()) return tl::unexpected(std::move(errors));
    return result;
}

}  // namespace gambrel::ingest_detail
