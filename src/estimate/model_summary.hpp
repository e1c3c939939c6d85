// The sum over a transformer's layers.
#pragma once

#include <optional>

#include <gambrel/estimate.hpp>

namespace gambrel::estimate_detail {

// Nothing where the network is not a transformer from its configuration.
std::optional<ModelSummary> summary_of(const Estimates& estimates);

}  // namespace gambrel::estimate_detail
