// The shapes of a graph's inputs: what the file says, symbols resolved by what was asked for.
#pragma once

#include "network/onnx_node.hpp"

namespace gambrel::network_detail {

// Sets the inputs in `state` and returns what each symbol stands for, or all that is unresolved.
Result<std::unordered_map<std::string_view, std::int64_t>> resolve_inputs(const OnnxModel& model,
                                                                          const OnnxOptions& options,
                                                                          const std::string& source, OnnxState& state);

}  // namespace gambrel::network_detail
