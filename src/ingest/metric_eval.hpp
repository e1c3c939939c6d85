// Launches to Kernels by the metric rules. One Evaluator per run: it keeps the scratch that makes a launch cheap.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <gambrel/kernel.hpp>

#include "ingest/metric_rules.hpp"
#include "ingest/rule_candidates.hpp"

namespace gambrel::ingest_detail {

class Evaluator {
public:
    Evaluator(const MetricRules& rules, const IngestOptions& options);

    // `launch` with its compute capability filled in where the caller knows it and the file does not.
    Kernel kernel(const Profile& profile, const Launch& launch);

private:
    struct Value {
        double value = 0;
        const Rule* rule = nullptr;
    };
    enum class Outcome : std::uint8_t { absent, broken, known };

    void load(const Profile& profile, const Launch& launch);
    Outcome term_value(const Term& term, double& out) const;
    Outcome rule_value(const Rule& rule, double& out) const;
    Value best(const std::vector<const Rule*>& rules, bool& broken) const;
    void add_missing_reason(Kernel& kernel, const Launch& launch, const std::vector<QuantityId>& broken);
    void say_what_is_missing(Kernel& kernel, const Launch& launch, const std::vector<QuantityId>& broken);
    [[nodiscard]] std::optional<ComputeCapability> cc_of(const Launch& launch) const;
    void store(Kernel& kernel, const QuantityId& id, const Value& value, const Launch& launch) const;

    const MetricRules& rules_;
    const IngestOptions& options_;
    std::vector<double> scratch_;       // by MetricId; NaN: broken
    std::vector<std::uint32_t> stamp_;  // scratch_[i] is valid if stamp_[i] == generation_
    std::uint32_t generation_ = 0;
    std::optional<double> time_;  // seconds of one launch, for terms with "@time"
    RuleCandidates candidates_;
    std::size_t gauges_ = 0;                                                               // of the launch before
    std::map<std::pair<std::optional<ComputeCapability>, std::string>, Symbol> remedies_;  // empty: no counter can tell
    // What was said of launches that lack the same amounts, where none was refused.
    struct MissingAmounts {
        Symbol reason, remedy;
    };
    std::map<std::pair<std::optional<ComputeCapability>, unsigned>, MissingAmounts> missing_;
};

// Metrics that the preferred rules of the quantities in `wanted` would read on this compute capability.
std::vector<std::string> preferred_metrics(const MetricRules& rules, std::optional<ComputeCapability> cc,
                                           const std::function<bool(const QuantityId&)>& wanted);

}  // namespace gambrel::ingest_detail
