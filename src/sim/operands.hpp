// The three operands of a layer's GEMM as addresses: which tensor is A, B and C in each pass, and how its indices step
// through memory in NCHW (filters k, c, r, s) or NHWC (filters k, r, s, c). Follows gemm_view(); knows no tile.
#pragma once

#include <gambrel/network.hpp>

#include "sim/operand.hpp"

namespace gambrel::sim_detail {

struct Operands {
    GemmView view;
    Operand a, b;               // sides m and n; depth k
    Operand c;                  // side m, depth n
    std::int64_t images = 1;    // of a wgrad: k is images x pixels, and splits of k can be made to end with images
};

// Convolutions and GEMMs only.
Operands operands(const Convolution& convolution, Pass pass, Precision precision, Layout layout);
Operands operands(const Gemm& gemm, Pass pass, Precision precision);

}  // namespace gambrel::sim_detail
