// The sliding window of a convolution or pooling in ONNX: filter, strides, dilations, pads and auto_pad, per spatial
// dimension, and the output that follows. Invariant: all lists have the rank of the input's spatial dimensions.
#pragma once

#include "network/onnx_node.hpp"

namespace gambrel::network_detail {

struct Window {
    Dims filter, stride, dilation, begin, end, output;
};

// `filter` is taken from kernel_shape where it is empty.
Window window_of(const NodeRun& run, const Dims& input, Dims filter);
Window transposed_window_of(const NodeRun& run, const Dims& input, Dims filter);

}  // namespace gambrel::network_detail
