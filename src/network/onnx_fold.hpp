// Patterns of ONNX nodes that a fusing engine runs as one kernel: attention (two products around a softmax, with the
// scaling, masking and transposition beside them) and norms that are spelled out. Works on layers that are there
// already: a pattern that does not fit, or whose inner tensors are used elsewhere, stays as it is.
#pragma once

#include <cstddef>
#include <vector>

#include "network/onnx_messages.hpp"
#include "network/onnx_node.hpp"

namespace gambrel::network_detail {

struct FoldedPatterns {
    std::size_t attentions = 0, norms = 0;
};
// `first_layer[i]` is how many layers there were before node i; one more entry stands at the end. Replaces the layers
// of each pattern by one.
FoldedPatterns fold_patterns(const OnnxModel& model, const std::vector<std::size_t>& first_layer, OnnxState& state);

}  // namespace gambrel::network_detail
