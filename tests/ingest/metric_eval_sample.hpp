// Kernels of launches whose metrics are given by hand.
#pragma once

#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "ingest/metric_eval.hpp"

namespace gambrel::ingest_detail {

using Values = std::vector<std::pair<std::string, double>>;

struct Given {
    std::string name = "kernel";
    std::optional<ComputeCapability> cc = ComputeCapability{8, 0};
    std::uint64_t launches = 1;
    FlopRule flop_rule = FlopRule::corrected;
    std::string device = {};
};

inline Kernel evaluated(const MetricRules& rules, const Values& values, const Given& given = {}) {
    Profile profile;
    Launch launch;
    launch.name = Symbol(given.name);
    launch.cc = given.cc;
    launch.launches = given.launches;
    if (!given.device.empty()) launch.device = Symbol(given.device);
    for (const auto& [name, value] : values) {
        const MetricId id = rules.metrics.find(name);
        if (id == kNoMetric) throw std::runtime_error("no rule reads " + name);
        add_value(profile, launch, rules.metrics, id, value);
    }
    IngestOptions options;
    options.flop_rule = given.flop_rule;
    Evaluator evaluator(rules, options);
    return evaluator.kernel(profile, launch);
}
inline Kernel evaluated(const Values& values, const Given& given = {}) {
    return evaluated(metric_rules(), values, given);
}

inline MetricRules rules_of(const std::string& quantity, const std::string& choose, const std::string& rules) {
    const std::string text = R"({"schema": 1, "quantities": [{"quantity": ")" + quantity + R"(", "choose": ")" +
                             choose + R"(", "rules": [)" + rules + "]}]}";
    const std::pair<std::string, std::string_view> named{"t", text};
    auto parsed = parse_metric_rules(std::span(&named, 1));
    if (!parsed) throw std::runtime_error(to_text(parsed.error()));
    return *parsed;
}
inline std::optional<double> fp32(const MetricRules& rules, const Values& values, const Given& given = {}) {
    const Kernel k = evaluated(rules, values, given);
    if (!k.work[Pipe::fp32]) return std::nullopt;
    return k.work[Pipe::fp32]->value.value();
}
inline std::string reasons(const Kernel& k) {
    std::string text;
    for (const Symbol s : k.reasons) text += s.str() + "\n";
    return text;
}

}  // namespace gambrel::ingest_detail
