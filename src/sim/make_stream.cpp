#include <algorithm>
#include <utility>

#include "sim/attention_gradient.hpp"
#include "sim/attention_stream.hpp"
#include "sim/expert_stream.hpp"
#include "sim/gradient_stream.hpp"
#include "sim/plain_stream.hpp"
#include "sim/tiled_stream.hpp"

namespace gambrel::sim_detail {
namespace {

// Products with a vector, or with few columns: kernels without tiles in shared memory. Along rows of k a warp takes one
// row of the matrix, 16 bytes a thread at a time; across them a CTA takes as many neighbours as it has threads. What is
// not the matrix is read through L1 by every warp.
Mapping untiled(const Operands& all, Mapping m) {
    constexpr std::int32_t kWarp = 32, kMostOther = 64;
    const GemmView& view = all.view;
    const bool matrix_is_a = view.m > view.n;
    const AddressedOperand& matrix = matrix_is_a ? all.a : all.b;
    const auto vector = narrow(std::max<std::int64_t>(1, 16 * kSixteenths / matrix.element.data));
    const bool across = matrix.side_is_inner();
    const std::int32_t threads = std::max(kWarp, m.threads), side = across ? threads : threads / kWarp;
    const std::int32_t other = narrow(std::min<std::int64_t>(kMostOther, std::min(view.m, view.n)));
    m.cta = {matrix_is_a ? side : other, matrix_is_a ? other : side, across ? 8 : kWarp * vector};
    m.cluster.reset();
    m.stream_k = false;
    // CTAs that share rows of the matrix are neighbours.
    m.order = matrix_is_a ? CtaOrder::columns_first : CtaOrder::rows_first;
    const WarpLoad along{.lanes = 1, .vector = vector, .k_major = true},
        beside{.lanes = kWarp, .vector = 1, .k_major = false};
    (matrix_is_a ? m.a : m.b) = across ? beside : along;
    (matrix_is_a ? m.b : m.a) = along;
    return m;
}

}  // namespace

std::unique_ptr<AddressStream> make_stream(const Layer& layer, const Mapping& mapping, const OnGpu& gpu) {
    if (std::holds_alternative<Streaming>(layer.op) || std::holds_alternative<AllReduce>(layer.op))
        return plain_stream(layer, mapping);
    if (std::holds_alternative<MixtureOfExperts>(layer.op)) return expert_stream(layer, mapping);
    if (std::holds_alternative<Attention>(layer.op)) {
        if (layer.pass == Pass::fwd) return std::make_unique<AttentionStream>(layer, mapping);
        return std::make_unique<AttentionGradientStream>(layer, mapping);
    }
    const ElementSizes sizes(layer);
    const auto with_bias = [&layer](Operands all) {
        all.bias = bias_operand(layer, all.view);
        return all;
    };
    const bool has_tiles = mapping.family == KernelFamily::tiled;
    if (const auto* convolution = std::get_if<Convolution>(&layer.op)) {
        if (layer.pass == Pass::dgrad && (convolution->stride_h > 1 || convolution->stride_w > 1)) {
            auto classes = gradient_operands(*convolution, sizes, mapping.layout, mapping.cta.k);
            for (Operands& one : classes) {
                one = with_bias(std::move(one));
                if (mapping.leaves_zeros) one.zeros.clear();
            }
            return gradient_stream(std::move(classes), mapping, gpu);
        }
        Operands all = with_bias(operands(*convolution, layer.pass, sizes, mapping.layout, mapping.cta.k));
        if (has_tiles) return std::make_unique<TiledStream>(std::move(all), mapping, gpu);
        return std::make_unique<DepthwiseStream>(std::move(all), layer.pass, mapping);
    }
    Operands all = with_bias(operands(std::get<Gemm>(layer.op), layer.pass, sizes));
    const Mapping how = has_tiles ? mapping : untiled(all, mapping);
    return std::make_unique<TiledStream>(std::move(all), how, gpu);
}

}  // namespace gambrel::sim_detail
