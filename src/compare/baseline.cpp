#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <gambrel/compare.hpp>

namespace gambrel {
namespace {

using Json = nlohmann::ordered_json;
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
            if (row.kernel.time) s.time.push_back(row.kernel.time->value.value());
            for (const Level l : all_levels())
                if (row.kernel.bytes[l]) s.bytes[l].push_back(row.kernel.bytes[l]->value.value());
        }
    }
    for (const auto& key : order) {
        const Samples& s = samples[key];
        BaselineKernel k{key.first.str(), key.second.str(), s.launches, {}, {}, 0};
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
        item["noise"] = k.noise;
        for (const Level l : all_levels())
            if (k.bytes[l]) item["bytes"][std::string(name(l))] = k.bytes[l]->value();
        out["kernels"].push_back(std::move(item));
    }
    return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

namespace {

// Reads one kernel; what is wrong goes to `errors` with its place.
struct KernelReader {
    const Json& item;
    std::string path;
    Errors& errors;

    std::string text(const char* key) {
        const auto it = item.find(key);
        if (it != item.end() && it->is_string()) return it->get<std::string>();
        if (it != item.end()) errors.push_back({path + key, "expected a text"});
        return {};
    }
    std::optional<double> number(const Json& object, const std::string& key) {
        const auto it = object.find(key);
        if (it == object.end()) return std::nullopt;
        if (it->is_number() && std::isfinite(it->get<double>()) && it->get<double>() >= 0) return it->get<double>();
        errors.push_back(
            {path + key, fmt::format("{} found, expected a number of 0 or more",
                                     it->dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 40))});
        return std::nullopt;
    }
    BaselineKernel read() {
        BaselineKernel k;
        k.name = text("name"), k.phase = text("phase");
        if (const auto n = number(item, "launches")) k.launches = static_cast<std::uint64_t>(std::clamp(*n, 1.0, 1e15));
        if (const auto t = number(item, "time_s")) k.time = Seconds{*t};
        k.noise = number(item, "noise").value_or(0);
        if (const auto bytes = item.find("bytes"); bytes != item.end() && bytes->is_object())
            for (const Level l : all_levels())
                if (const auto b = number(*bytes, std::string(name(l)))) k.bytes[l] = Bytes{*b};
        return k;
    }
};

}  // namespace

Result<Baseline> parse_baseline(std::string_view json, std::string_view source_name) {
    const std::string source(source_name);
    Json document;
    try {
        document = Json::parse(json);
    } catch (const Json::exception& e) {
        return failure(source, fmt::format("is no JSON: {}", e.what()));
    }
    if (!document.is_object() || !document.contains("schema") || document["schema"] != kSchema)
        return failure(
            source,
            fmt::format("is no baseline; expected \"schema\": \"{}\", as gambrel check --write-baseline writes it",
                        kSchema));
    Errors errors;
    Baseline out;
    KernelReader head{document, source + ": ", errors};
    out.title = head.text("title"), out.machine = head.text("machine"), out.machine_hash = head.text("machine_hash");
    if (out.machine_hash.empty())
        errors.push_back({source + ": machine_hash", "missing; it says which machine the baseline is of"});
    out.runs = static_cast<std::size_t>(std::clamp(head.number(document, "runs").value_or(1), 1.0, 1e9));
    const auto kernels = document.find("kernels");
    if (kernels == document.end() || !kernels->is_array())
        errors.push_back({source + ": kernels", "missing; expected a list"});
    else
        for (std::size_t i = 0; i < kernels->size(); ++i) {
            const std::string path = fmt::format("{}: kernels[{}].", source, i);
            if ((*kernels)[i].is_object())
                out.kernels.push_back(KernelReader{(*kernels)[i], path, errors}.read());
            else
                errors.push_back({path, "expected an object"});
        }
    if (!errors.empty()) return tl::unexpected(std::move(errors));
    return out;
}

}  // namespace gambrel
