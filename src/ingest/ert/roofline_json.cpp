#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <gambrel/ingest.hpp>

#include "base/json_text.hpp"

namespace gambrel {
namespace {

using nlohmann::json;

const json* member(const json* object, const char* key) {
    if (!object || !object->is_object()) return nullptr;
    const auto it = object->find(key);
    return it == object->end() ? nullptr : &*it;
}

// [["L1", 269.21], ...]; `required` for the empirical half, the other may be empty or missing.
ErtNamed named_of(const json& root, const char* half, const char* what, bool required, const std::string& source,
                  Errors& errors) {
    const std::string place = fmt::format("{}: {}.{}.data", source, half, what);
    const json* data = member(member(member(&root, half), what), "data");
    ErtNamed found;
    if (!data || !data->is_array()) {
        if (required || data) errors.push_back({place, "expected a list of [name, number]"});
        return found;
    }
    for (std::size_t i = 0; i < data->size(); ++i) {
        const json& row = (*data)[i];
        const bool good = row.is_array() && row.size() == 2 && row[0].is_string() && row[1].is_number() &&
                          std::isfinite(row[1].get<double>()) && row[1].get<double>() > 0;
        if (good)
            found.emplace_back(row[0].get<std::string>(), row[1].get<double>());
        else
            errors.push_back({fmt::format("{}[{}]", place, i),
                              fmt::format("{}: expected [name, number above zero]",
                                          row.dump(-1, ' ', true, json::error_handler_t::replace).substr(0, 80))});
    }
    if (required && data->empty()) errors.push_back({place, "is empty; expected [name, number]"});
    return found;
}

// A text, or the tuple that Python's gethostbyaddr gives.
std::string host_of(const json& root) {
    const json* host = member(member(member(&root, "empirical"), "metadata"), "HOSTNAME");
    if (host && host->is_array() && !host->empty()) host = &(*host)[0];
    return host && host->is_string() ? host->get<std::string>() : "";
}

std::optional<Pipe> pipe_of(const std::string& name) {
    std::string word = name.substr(0, name.rfind(" GFLOPs") == std::string::npos ? name.size() : name.rfind(" GFLOPs"));
    if (word == "GFLOPs") return Pipe::fp64;  // before ERT named precisions, its kernels were double
    std::transform(word.begin(), word.end(), word.begin(),
                   [](unsigned char c) { return c == ' ' ? '_' : static_cast<char>(std::tolower(c)); });
    return pipe_from(word);
}

}  // namespace

Result<ErtRoofline> parse_ert_json(std::string_view text, std::string_view source_name) {
    const std::string source(source_name);
    const auto parsed = base_detail::parse_json(text, source);
    if (!parsed) return tl::unexpected(parsed.error());
    const json& root = *parsed;
    Errors errors;
    ErtRoofline out;
    out.gflops = named_of(root, "empirical", "gflops", true, source, errors);
    out.gbytes = named_of(root, "empirical", "gbytes", true, source, errors);
    out.spec_gflops = named_of(root, "spec", "gflops", false, source, errors);
    out.spec_gbytes = named_of(root, "spec", "gbytes", false, source, errors);
    out.host = host_of(root);
    if (!errors.empty()) return tl::unexpected(std::move(errors));
    return out;
}

Result<Machine> machine_from(const ErtRoofline& ert, std::string_view source_name) {
    Errors errors;
    Machine m;
    m.id = "ert";
    m.name = ert.host.empty() ? "machine of " + std::string(source_name) : ert.host;
    m.note = "From the Empirical Roofline Toolkit, which names levels by their order; its L1 may be another level.";
    m.source = std::string(source_name);
    m.made_from = MachineSource::file;
    const std::string cite = fmt::format("Empirical Roofline Toolkit, {}", source_name);
    for (const auto& [name, value] : ert.gflops) {
        const auto pipe = pipe_of(name);
        if (!pipe)
            errors.push_back(
                {m.source, fmt::format("\"{}\" is not a precision; expected a name such as \"FP64 GFLOPs\"", name)});
        else
            m.pipes[*pipe].measured = AtClock<FlopRate>{{FlopRate{value * 1e9}, Origin::measured, cite}, {}};
    }
    for (const auto& [name, value] : ert.gbytes) {
        const auto level = level_from(name);
        if (!level)
            errors.push_back({m.source, fmt::format("\"{}\": a machine has L1, L2, L3 and DRAM. ERT's rule found more "
                                                    "levels than there are; import its try files instead",
                                                    name)});
        else
            m.at(*level).measured = AtClock<Bandwidth>{{Bandwidth{value * 1e9}, Origin::measured, cite}, {}};
    }
    if (!errors.empty()) return tl::unexpected(std::move(errors));
    return m;
}

}  // namespace gambrel
