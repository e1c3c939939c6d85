// Which metrics make quantities known on a chip: the preferred rules, held against the fact tables. ncu refuses a whole
// run for one name that it does not know, so a name that may not exist is left out. It asks no profiler.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ingest/metric_rules.hpp"

namespace gambrel::ingest_detail {

// For the hint of a row whose file lacks something; without a compute capability the names are as the rules prefer
// them.
std::vector<std::string> metrics_for(const MetricRules& rules, std::optional<ComputeCapability> cc,
                                     const std::function<bool(const QuantityId&)>& wanted);

// The names behind "nvprof:" in the rules: what GPUs before Volta can be asked for.
std::vector<std::string> nvprof_metrics(const MetricRules& rules);

}  // namespace gambrel::ingest_detail
