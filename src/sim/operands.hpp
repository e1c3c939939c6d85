// The three operands of a layer's GEMM as addresses: which tensor is A, B and C in each pass, and how its indices step
// through memory in NCHW (filters k, c, r, s) or NHWC (filters k, r, s, c). Follows gemm_view(); knows no tile.
#pragma once

#include <optional>
#include <vector>

#include <gambrel/network.hpp>

#include "sim/operand.hpp"

namespace gambrel::sim_detail {

struct Operands {
    GemmView view;
    AddressedOperand a, b;  // sides m and n; depth k
    AddressedOperand c;     // side m, depth n
    std::vector<AddressedOperand> zeros =
        {};  // as c, written beside it: input pixels of a strided dgrad that no tap reaches
    std::optional<AddressedOperand> bias = {};  // side: the channels of c, along n
    std::int64_t images = 1;  // of a wgrad: k is images x pixels, and splits of k can be made to end with images
};

// A filter may be stored narrower than what is multiplied, and a result is written wider.
struct ElementSizes {
    ElementSize tensors, filter, result;
    ElementSizes(Precision all);  // NOLINT(google-explicit-constructor)
    explicit ElementSizes(const Layer& layer);
};

// NHWC kernels walk through the taps of one k-step's channels before the next channels, so that neighbouring pixels
// meet in L1; that is why `step` matters here.
Operands operands(const Convolution& convolution, Pass pass, ElementSizes sizes, Layout layout, std::int64_t step = 1);
// A strided dgrad is a GEMM for each remainder of rows and columns by the strides, as kernel_view() has it; those that
// no tap reaches are zeros of the first. Without strides it is one.
std::vector<Operands> gradient_operands(const Convolution& convolution, ElementSizes sizes, Layout layout,
                                        std::int64_t step = 1);
Operands operands(const Gemm& gemm, Pass pass, ElementSizes sizes);
// Of the layer whose GEMM is `view`; empty without one. The GEMMs of a batch share it, those of groups do not.
std::optional<AddressedOperand> bias_operand(const Layer& layer, const GemmView& view);

}  // namespace gambrel::sim_detail
