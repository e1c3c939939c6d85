// The address stream of a mixture of experts, forward: a grouped GEMM from the tokens of each expert to its
// intermediate features, the activation, a grouped GEMM back, and the sum over the experts of each token.
// docs/simulator.md, "Experts".
#pragma once

#include "sim/stream.hpp"

namespace gambrel::sim_detail {

std::unique_ptr<AddressStream> expert_stream(const Layer& layer, const Mapping& mapping);

}  // namespace gambrel::sim_detail
