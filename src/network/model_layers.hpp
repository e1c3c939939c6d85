// A transformer's configuration to the layers of one run on one of its GPUs.
#pragma once

#include "network/model_config.hpp"

namespace gambrel::network_detail {

// `name` is that of the network. Fails where the options do not fit the configuration: decode of an encoder, heads that
// cannot be shared out over the GPUs.
Result<Network> model_network(const TransformerConfig& config, const ModelOptions& options, const std::string& name);

// From the text of a configuration; faults are those of `source`.
Result<Network> configured_network(std::string_view text, const std::string& source, const std::string& name,
                                   const ModelOptions& options);

}  // namespace gambrel::network_detail
