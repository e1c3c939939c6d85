#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <gambrel/compare.hpp>

#include "base/json_fields.hpp"
#include "base/json_text.hpp"

namespace gambrel {
namespace {

using Json = nlohmann::ordered_json;
using base_detail::Fields;
constexpr const char* kSchema = "gambrel-baseline-1";

double median(std::vector<double> v) {
    std::sort(v.begin(), v.end());
    const std::size_t n = v.size();
    return n % 2 == 1 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

// Drops what says where a number comes from; keeps what it is, and of which device.
void keep_numbers(Json& node) {
    if (node.is_object()) {
        for (const char* key : {"origin", "cite", "note", "aliases"}) node.erase(key);
        for (auto& item : node.items()) keep_numbers(item.value());
    }
    if (node.is_array())
        for (auto& item : node) keep_numbers(item);
}

struct Samples {
    std::vector<double> time;
    PerLevel<std::vector<double>> bytes;
    std::vector<double> clock;
    std::uint64_t launches = 1;
};

const Machine* machine_of(const Analysis& a) {
    return a.rows.empty() || a.rows.front().machine >= a.machines.size() ? nullptr
                                                                         : &a.machines[a.rows.front().machine];
}

}  // namespace

// FNV-1a, 64 bits: it tells machines apart, it does not guard against forgery.
std::string machine_hash(const Machine& machine) {
    Json document = Json::parse(to_json(machine), nullptr, false);
    keep_numbers(document);
    std::uint64_t hash = 14695981039346656037ULL;
    for (const char c : document.dump(-1, ' ', false, Json::error_handler_t::replace))
        hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    return fmt::format("{:016x}", hash);
}

Result<Baseline> baseline_of(std::span<const Analysis> runs) {
    Baseline out;
    out.runs = runs.size();
    std::vector<std::pair<Symbol, Symbol>> order;
    std::map<std::pair<Symbol, Symbol>, Samples> samples;
    for (const Analysis& run : runs) {
        const Machine* machine = machine_of(run);
        if (!machine) return failure(run.title, "holds no kernel to make a baseline of");
        const std::string hash = machine_hash(*machine);
        if (!out.machine_hash.empty() && hash != out.machine_hash)
            return failure(run.title, fmt::format("ran on {}, the runs before it on {}; a baseline is of one machine",
                                                  machine->name, out.machine));
        out.machine = machine->name, out.machine_hash = hash;
        if (out.title.empty()) out.title = run.title;
        for (const auto& row : run.rows) {
            const std::pair key{row.kernel.name, row.kernel.phase};
            if (!samples.contains(key)) order.push_back(key);
            Samples& s = samples[key];
            s.launches = row.kernel.launches;
            if (row.kernel.clock) s.clock.push_back(row.kernel.clock->value.value());
            if (row.kernel.time) s.time.push_back(row.kernel.time->value.value());
            for (const Level l : all_levels())
                if (row.kernel.bytes[l]) s.bytes[l].push_back(row.kernel.bytes[l]->value.value());
        }
    }
    for (const auto& key : order) {
        const Samples& s = samples[key];
        BaselineKernel k{key.first.str(), key.second.str(), s.launches, {}, {}, {}, 0};
        if (!s.clock.empty()) k.clock = Frequency{median(s.clock)};
        if (!s.time.empty()) {
            k.time = Seconds{median(s.time)};
            const auto [low, high] = std::minmax_element(s.time.begin(), s.time.end());
            if (k.time->value() > 0) k.noise = (*high - *low) / 2 / k.time->value();
        }
        for (const Level l : all_levels())
            if (!s.bytes[l].empty()) k.bytes[l] = Bytes{median(s.bytes[l])};
        out.kernels.push_back(std::move(k));
    }
    return out;
}

std::string to_json(const Baseline& b) {
    Json out{{"schema", kSchema},
             {"title", b.title},
             {"machine", b.machine},
             {"machine_hash", b.machine_hash},
             {"runs", b.runs}};
    out["kernels"] = Json::array();
    for (const auto& k : b.kernels) {
        Json item{{"name", k.name}, {"phase", k.phase}, {"launches", k.launches}};
        if (k.time) item["time_s"] = k.time->value();
        if (k.clock) item["clock_hz"] = k.clock->value();
        item["noise"] = k.noise;
        for (const Level l : all_levels())
            if (k.bytes[l]) item["bytes"][std::string(name(l))] = k.bytes[l]->value();
        out["kernels"].push_back(std::move(item));
    }
    return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

namespace {

BaselineKernel kernel_of(const nlohmann::json& item, const std::string& path, Errors& errors) {
    Fields fields(item, path, errors);
    BaselineKernel k;
    k.name = fields.text("name"), k.phase = fields.text("phase");
    k.launches = static_cast<std::uint64_t>(std::clamp(fields.amount("launches").value_or(1), 1.0, 1e15));
    if (const auto t = fields.amount("time_s")) k.time = Seconds{*t};
    if (const auto c = fields.amount("clock_hz")) k.clock = Frequency{*c};
    k.noise = fields.amount("noise").value_or(0);
    if (const auto* bytes = fields.object("bytes")) {
        Fields levels(*bytes, fields.path_of("bytes"), errors);
        for (const Level l : all_levels())
            if (const auto b = levels.amount(std::string(name(l)))) k.bytes[l] = Bytes{*b};
    }
    return k;
}

}  // namespace

bool names_baseline(std::string_view bytes) {
    return bytes.substr(0, 256).find("\"gambrel-baseline-") != std::string_view::npos;
}

Result<Baseline> parse_baseline(std::string_view json, std::string_view source_name) {
    const std::string source(source_name);
    const auto document = base_detail::parse_json(json, source);
    if (!document) return tl::unexpected(document.error());
    if (!document->is_object() || document->value("schema", nlohmann::json()) != kSchema)
        return failure(
            source,
            fmt::format("is not a baseline; expected \"schema\": \"{}\", as gambrel check --write-baseline writes it",
                        kSchema));
    Errors errors;
    Baseline out;
    Fields head(*document, source + ": ", errors);
    out.title = head.text("title"), out.machine = head.text("machine"), out.machine_hash = head.text("machine_hash");
    if (out.machine_hash.empty()) head.fault("machine_hash", "missing; it says which machine the baseline is of");
    out.runs = static_cast<std::size_t>(std::clamp(head.amount("runs").value_or(1), 1.0, 1e9));
    if (const auto* kernels = head.array("kernels", true))
        for (std::size_t i = 0; i < kernels->size(); ++i)
            out.kernels.push_back(kernel_of((*kernels)[i], fmt::format("{}: kernels[{}]", source, i), errors));
    if (!errors.empty()) return tl::unexpected(std::move(errors));
    return out;
}

}  // namespace gambrel
