// Which rules can give a launch its quantities, before any value is looked at: what its name, its compute capability
// and the metrics that it has leave of the metric tables. Invariant: a rule that is left out would have given nothing,
// neither a value nor a refusal.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "ingest/metric_rules.hpp"

namespace gambrel::ingest_detail {

class RuleCandidates {
public:
    struct OfQuantity {
        const QuantityRules* quantity;
        std::vector<const Rule*> rules;  // in order of preference, at least one
    };

    RuleCandidates(const MetricRules& rules, FlopRule flop_rule)
        : rules_(rules), flop_rule_(flop_rule), there_(rules.metrics.size()) {}

    // Valid until the next call. `cc`: that of the launch, or the one to assume.
    const std::vector<OfQuantity>& of(const Profile& profile, const Launch& launch,
                                      std::optional<ComputeCapability> cc);

private:
    // A report repeats a few names over many launches, nearly always with the same metrics.
    struct Named {
        std::optional<ComputeCapability> cc;
        std::vector<const Rule*> applicable;  // of all quantities' rules in their order; null: does not apply
        std::vector<MetricId> metrics;        // that candidates were chosen for
        std::vector<OfQuantity> candidates;
    };
    bool applies(const Rule& rule, const Launch& launch, std::optional<ComputeCapability> cc) const;
    bool possible(const Rule& rule) const;
    void choose(Named& named);

    const MetricRules& rules_;
    FlopRule flop_rule_;
    std::vector<char> there_;  // by MetricId, while candidates are chosen
    std::unordered_map<Symbol, Named> named_;
};

}  // namespace gambrel::ingest_detail
