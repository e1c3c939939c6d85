#include "ingest/metric_rules.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/embedded.hpp"
#include "base/json_text.hpp"
#include "ingest/report_machine.hpp"

namespace gambrel::ingest_detail {
namespace {

using nlohmann::json;

// Our own data: the first fault of a table stops the reading of that table, by exception inside this file only.
struct Fault : std::runtime_error {
    using std::runtime_error::runtime_error;
};

void only_keys(const json& object, std::initializer_list<const char*> known, const std::string& where) {
    for (const auto& item : object.items()) {
        if (std::find(known.begin(), known.end(), item.key()) != known.end()) continue;
        const std::vector<std::string> names(known.begin(), known.end());
        throw Fault(fmt::format("{}: unknown field \"{}\"{}", where, item.key(), did_you_mean(item.key(), names)));
    }
}

std::vector<std::string> texts(const json& value) {
    if (value.is_string()) return {value.get<std::string>()};
    return value.get<std::vector<std::string>>();
}

std::optional<FlopRule> flop_rule_of(const json& object) {
    if (!object.contains("flop_rule")) return std::nullopt;
    const std::string text = object["flop_rule"];
    if (text == "paper") return FlopRule::paper;
    if (text == "corrected") return FlopRule::corrected;
    throw Fault(fmt::format("flop_rule \"{}\" is neither corrected nor paper", text));
}

CapabilityRange range_of(const std::string& text) {
    const auto dash = text.find('-');
    const auto first = parse_compute_capability(text.substr(0, dash));
    const auto last = dash == std::string::npos ? first : parse_compute_capability(text.substr(dash + 1));
    if (!first || !last) throw Fault(fmt::format("cc \"{}\" is not of the form \"8.0\" or \"8.0-8.9\"", text));
    return {*first, *last};
}

QuantityId quantity_of(const std::string& text) {
    using Kind = QuantityId::Kind;
    if (text == "time") return {Kind::time};
    if (text == "clock") return {Kind::clock};
    if (text == "sparse_work") return {Kind::sparse_work};
    if (text == "tensor_activity") return {Kind::tensor_activity};
    const auto dot = text.find('.');
    const std::string kind = text.substr(0, dot), what = dot == std::string::npos ? "" : text.substr(dot + 1);
    if (kind == "gauge" && !what.empty()) return {Kind::gauge, Pipe::fp64, Level::dram, Symbol(what)};
    const auto pipe = pipe_from(what);
    const auto level = level_from(what);
    if (kind == "work" && pipe) return {Kind::work, *pipe};
    if (kind == "bytes" && level) return {Kind::bytes, Pipe::fp64, *level};
    if (kind == "peak" && pipe) return {Kind::peak_rate, *pipe};
    if (kind == "peak" && level) return {Kind::peak_bandwidth, Pipe::fp64, *level};
    throw Fault(fmt::format("\"{}\" is not a known quantity", text));
}

class RuleReader {
public:
    explicit RuleReader(MetricSet& metrics) : metrics_(metrics) {}

    Rule rule(const json& object, int default_tier) {
        only_keys(object,
                  {"id", "tier", "flop_rule", "cc", "name_has", "name_lacks", "collect", "only_if_zero",
                   "at_least_zero", "terms", "over", "why", "note"},
                  object.value("id", "rule"));
        Rule r;
        r.id = Symbol(object.at("id").get<std::string>());
        r.tier = object.value("tier", default_tier);
        r.flop_rule = flop_rule_of(object);
        if (object.contains("cc")) r.cc = range_of(object["cc"]);
        if (object.contains("name_has")) r.name_has = texts(object["name_has"]);
        if (object.contains("name_lacks")) r.name_lacks = texts(object["name_lacks"]);
        r.collect = object.value("collect", false);
        r.only_if_zero = object.value("only_if_zero", false);
        r.at_least_zero = object.value("at_least_zero", false);
        r.note = Symbol(object.value("note", ""));
        for (const json& term : object.at("terms")) add_terms(r, term);
        if (object.contains("over"))
            for (const auto& name : texts(object["over"])) r.over.push_back(metrics_.add(name));
        return r;
    }

private:
    void add_terms(Rule& r, const json& object) {
        if (object.contains("constant")) {
            only_keys(object, {"constant"}, r.id.str());
            r.constant = object["constant"].get<double>();
            return;
        }
        only_keys(object, {"metric", "factor", "per", "times", "optional", "flop_rule"}, r.id.str());
        Term t;
        t.factor = object.value("factor", 1.0);
        t.per = object.value("per", 1.0);
        t.optional = object.value("optional", false);
        t.flop_rule = flop_rule_of(object);
        if (object.contains("times"))
            for (const auto& name : texts(object["times"])) {
                if (name == "@time")
                    t.times_time = true;
                else
                    t.times.push_back(metrics_.add(name));
            }
        const json& metric = object.at("metric");
        if (metric.is_array()) {  // alternatives of one term
            for (const auto& name : texts(metric)) t.metrics.push_back(metrics_.add(name));
            r.terms.push_back(std::move(t));
        } else {  // a pattern is as many terms as it expands to
            for (const auto& name : expanded_braces(metric.get<std::string>())) {
                if (name.find_first_of("{}") != std::string::npos)
                    throw Fault(fmt::format("metric \"{}\" has a brace without its pair, or one inside another",
                                            metric.get<std::string>()));
                t.metrics = {metrics_.add(name)};
                r.terms.push_back(t);
            }
        }
    }

    MetricSet& metrics_;
};

// Runs `read` and puts `place` before the fault that it throws, so that a fault names its quantity and rule.
template <class Read>
auto in_place(const std::string& place, Read read) {
    try {
        return read();
    } catch (const std::exception& e) {
        throw Fault(fmt::format("{}: {}", place, e.what()));
    }
}

QuantityRules quantity_rules(const json& object, RuleReader& reader) {
    only_keys(object, {"quantity", "choose", "rules"}, "quantity");
    QuantityRules out;
    out.name = object.at("quantity");
    out.quantity = quantity_of(out.name);
    const std::string choose = object.at("choose");
    if (choose != "first" && choose != "largest")
        throw Fault(fmt::format("choose \"{}\" is neither first nor largest", choose));
    int index = 0;
    for (const json& r : object.at("rules")) {
        const int tier = choose == "first" ? index++ : 0;
        out.rules.push_back(in_place("rule " + r.value("id", "without id"), [&] { return reader.rule(r, tier); }));
    }
    std::stable_sort(out.rules.begin(), out.rules.end(), [](const Rule& a, const Rule& b) { return a.tier < b.tier; });
    return out;
}

void read_table(const json& table, MetricRules& rules) {
    only_keys(table, {"schema", "about", "quantities"}, "table");
    RuleReader reader(rules.metrics);
    for (const json& q : table.at("quantities")) {
        const std::string place = q.is_object() ? q.value("quantity", "quantity without name") : "quantity";
        rules.quantities.push_back(in_place(place, [&] { return quantity_rules(q, reader); }));
    }
}

}  // namespace

std::vector<std::string> expanded_braces(std::string_view pattern) {
    const auto open = pattern.find('{');
    const auto close = pattern.find('}', open);
    if (open == std::string_view::npos || close == std::string_view::npos) return {std::string(pattern)};
    std::vector<std::string> out;
    std::string_view choices = pattern.substr(open + 1, close - open - 1);
    const std::vector<std::string> tails = expanded_braces(pattern.substr(close + 1));
    while (true) {
        const auto comma = choices.find(',');
        for (const auto& tail : tails)
            out.push_back(std::string(pattern.substr(0, open)) + std::string(choices.substr(0, comma)) + tail);
        if (comma == std::string_view::npos) return out;
        choices.remove_prefix(comma + 1);
    }
}

Result<MetricRules> parse_metric_rules(std::span<const std::pair<std::string, std::string_view>> named_texts) {
    MetricRules rules;
    Errors errors;
    for (const auto& [name, text] : named_texts) {
        try {
            const auto table = base_detail::parse_json(text, name);
            if (!table) throw Fault(table.error().front().what);
            if (table->value("schema", 0) != 1) throw Fault("schema is not 1");
            read_table(*table, rules);
        } catch (const std::exception& e) {
            errors.push_back({name, e.what()});
        }
    }
    if (!errors.empty()) return tl::unexpected(std::move(errors));
    // Time first: other rules multiply by it.
    std::stable_partition(rules.quantities.begin(), rules.quantities.end(),
                          [](const auto& q) { return q.quantity.kind == QuantityId::Kind::time; });
    return rules;
}

const MetricRules& metric_rules() {
    static const MetricRules rules = [] {
        std::vector<std::pair<std::string, std::string_view>> texts;
        for (const auto& [name, text] : embedded("metrics"))
            texts.emplace_back(fmt::format("data/metrics/{}.json", name), text);
        auto parsed = parse_metric_rules(texts);
        if (!parsed) throw std::logic_error(to_text(parsed.error()));
        add_machine_metrics(parsed->metrics);
        return std::move(*parsed);
    }();
    return rules;
}

}  // namespace gambrel::ingest_detail
