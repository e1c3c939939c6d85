// What follows from the shape that a row has.
#pragma once

#include <gambrel/layer.hpp>

namespace gambrel::network_detail {

// The padding "same", by TensorFlow's rule: as many outputs as ceil(input / stride), the odd element of padding behind.
void pad_to_same_size(Convolution& v);
// "gemm 1x64x64x64", "conv 32x64x56x56 64x3x3": of rows of convolutions and products that have no name.
void name_by_shape(Layer& layer);

}  // namespace gambrel::network_detail
