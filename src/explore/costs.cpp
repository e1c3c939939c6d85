#include <cmath>
#include <stdexcept>

#include <fmt/format.h>
#include <gambrel/explore.hpp>
#include <nlohmann/json.hpp>

#include "base/embedded.hpp"
#include "base/file_bytes.hpp"
#include "base/json_text.hpp"
#include "explore/vary_syntax.hpp"

namespace gambrel {
namespace {

using nlohmann::json;

constexpr std::string_view kSchema = "gambrel-costs-1";

struct CostReader {
    std::string source;
    Errors errors;

    void fault(const std::string& path, std::string what) {
        errors.push_back({path.empty() ? source : fmt::format("{}: {}", source, path), std::move(what)});
    }
    void only(const json& object, const std::string& path, const std::vector<std::string>& known) {
        for (const auto& [key, value] : object.items())
            if (std::find(known.begin(), known.end(), key) == known.end())
                fault(path.empty() ? key : path + "." + key, "unknown field" + did_you_mean(key, known));
    }
    std::string text(const json& object, const std::string& path, const char* key) {
        const auto found = object.find(key);
        if (found != object.end() && found->is_string()) return found->get<std::string>();
        fault(path.empty() ? key : path + "." + key, "expected a text");
        return {};
    }
    CostItem item(const json& object, const std::string& path);
    CostTable table(const json& root);
};

CostItem CostReader::item(const json& object, const std::string& path) {
    CostItem item;
    if (!object.is_object()) {
        fault(path, "expected an object");
        return item;
    }
    only(object, path, {"what", "share", "scales_with", "cite"});
    item.what = text(object, path, "what");
    item.cite = text(object, path, "cite");
    const auto share = object.find("share");
    if (share != object.end() && share->is_number() && share->get<double>() >= 0 && share->get<double>() <= 1)
        item.share = share->get<double>();
    else
        fault(path + ".share", "expected a number from 0 to 1");
    const auto with = object.find("scales_with");
    if (with == object.end() || !with->is_object()) {
        fault(path + ".scales_with", "expected an object of resources and exponents, such as {\"sms\": 1}");
        return item;
    }
    for (const auto& [key, value] : with->items()) {
        const auto resource = resource_from(key);
        const std::string place = fmt::format("{}.scales_with.{}", path, key);
        if (!resource)
            fault(place, explore_detail::unknown_resource(key));
        else if (!value.is_number() || std::fabs(value.get<double>()) > 10)
            fault(place, "expected an exponent from -10 to 10");
        else
            item.exponents[static_cast<std::size_t>(*resource)] = value.get<double>();
    }
    return item;
}

CostTable CostReader::table(const json& root) {
    CostTable table;
    if (!root.is_object()) {
        fault("", "expected an object");
        return table;
    }
    only(root, "", {"schema", "note", "items"});
    if (const std::string schema = text(root, "", "schema"); schema != kSchema)
        fault("schema", fmt::format("\"{}\"; expected \"{}\"", schema, kSchema));
    table.note = text(root, "", "note");
    const auto items = root.find("items");
    if (items == root.end() || !items->is_array() || items->empty() || items->size() > 1000) {
        fault("items", "expected a list of 1 to 1000 items");
        return table;
    }
    double sum = 0;
    for (std::size_t i = 0; i < items->size(); ++i) {
        table.items.push_back(item((*items)[i], fmt::format("items[{}]", i)));
        sum += table.items.back().share;
    }
    if (errors.empty() && std::fabs(sum - 1) > 1e-6)
        fault("items", fmt::format("shares sum to {:g}; expected 1, so that the start costs 1", sum));
    return table;
}

}  // namespace

double CostTable::operator()(const Factors& factors) const {
    double cost = 0;
    for (const CostItem& item : items) {
        double part = item.share;
        for (std::size_t i = 0; i < kResources; ++i) {
            const double e = item.exponents[i];
            if (e == 0 || factors[i] == 1) continue;
            part *= e == 1 ? factors[i] : e == 0.5 ? std::sqrt(factors[i]) : std::pow(factors[i], e);
        }
        cost += part;
    }
    return cost;
}

Result<CostTable> parse_costs(std::string_view text, const std::string& source) {
    const auto root = base_detail::parse_json(text, source);
    if (!root) return tl::unexpected(root.error());
    CostReader reader{source, {}};
    CostTable table = reader.table(*root);
    if (!reader.errors.empty()) return tl::unexpected(std::move(reader.errors));
    return table;
}

Result<CostTable> load_costs(const std::string& path) {
    const auto bytes = base_detail::FileBytes::open(path);
    if (!bytes) return tl::unexpected(bytes.error());
    return parse_costs(bytes->view(), path);
}

const CostTable& default_costs() {
    static const CostTable table = [] {
        auto read = parse_costs(embedded("costs").front().text, "data/costs/default.json");
        // The build's own data: a fault here is our bug, and a test loads it.
        if (!read) throw std::logic_error(to_text(read.error()));
        return *read;
    }();
    return table;
}

}  // namespace gambrel
