// Experts of a serving library that records its tokens and the router's scores, but neither weights nor the choice
// (vllm::moe_forward). What is missing stands in the names and grids of its kernels, as TensorRT-LLM names them, or in
// the network that the user gives.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "trace/described.hpp"
#include "trace/tensors.hpp"

namespace gambrel::trace_detail {
namespace {

using Dims = OperatorInput::Dims;

struct Tokens {
    std::int64_t count = 0, hidden = 0, experts = 0;
    double size = 2;  // of an element
};

// "bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x16x256u2_...": result, weights, activations, sums; the tile has weights x tokens x
// depth.
struct BatchedProduct {
    std::int64_t tile_weights = 0, tile_tokens = 0;
    Precision precision = Precision::bf16;
    std::optional<Precision> weights;
};

std::optional<std::int64_t> number_at(std::string_view text, std::size_t& at) {
    std::int64_t n = 0;
    const std::size_t begin = at;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9' && n < 1 << 20; ++at) n = 10 * n + (text[at] - '0');
    return at > begin && n > 0 ? std::optional(n) : std::nullopt;
}

std::optional<BatchedProduct> batched_product(std::string_view kernel) {
    if (!kernel.starts_with("bmm_")) return std::nullopt;
    const std::size_t tile = kernel.find("_t");
    const std::size_t types = kernel.find('_', 4);
    if (tile == std::string_view::npos || types == std::string_view::npos) return std::nullopt;
    std::size_t at = tile + 2;
    BatchedProduct out;
    const auto m = number_at(kernel, at);
    if (!m || at >= kernel.size() || kernel[at] != 'x') return std::nullopt;
    const auto n = number_at(kernel, ++at);
    if (!n) return std::nullopt;
    out.tile_weights = *m, out.tile_tokens = *n;
    const std::string_view operands = kernel.substr(types + 1, kernel.find('_', types + 1) - types - 1);
    const bool four = has(operands, "E2m1"), eight = has(operands, "E4m3");
    out.precision = eight                   ? Precision::fp8
                    : four                  ? Precision::fp4
                    : has(operands, "Fp16") ? Precision::fp16
                                            : out.precision;
    if (four && !operands.ends_with("E2m1")) out.weights = Precision::fp4;
    return out;
}

// CTAs along the tokens: enough for any choice of experts, as TensorRT-LLM reserves them.
std::int64_t reserved_tiles(const Tokens& t, std::int64_t topk, std::int64_t tile) {
    const std::int64_t rows = t.count * topk, used = std::min(rows, t.experts);
    const std::int64_t each = (t.count + tile - 1) / tile;
    return std::min(used * each, (rows + used * (tile - 1) + tile - 1) / tile);
}

std::int64_t topk_of(const Tokens& t, std::int64_t tiles, std::int64_t tile) {
    for (std::int64_t topk = 1; topk <= std::min<std::int64_t>(t.experts, 64); ++topk)
        if (reserved_tiles(t, topk, tile) == tiles) return topk;
    return 0;
}

struct Experts {
    std::int64_t topk = 0, intermediate = 0;  // 0: unknown
    bool gated = true;
    std::string fault;
};

// The two products of a call, in the order of their launches.
std::vector<const Activity*> products_of(const Launch& l) {
    std::vector<const Activity*> out;
    for (const std::size_t i : l.of_call) {
        const std::string& name = l.timeline->activities[i].name.str();
        if (batched_product(name) || is_expert_product(name)) out.push_back(&l.timeline->activities[i]);
    }
    std::stable_sort(out.begin(), out.end(), [](auto* a, auto* b) { return a->start_ns < b->start_ns; });
    return out;
}

Experts experts_of(const Launch& l, const Tokens& t, const std::vector<const Activity*>& products) {
    Experts out;
    if (l.experts && l.experts->experts == t.experts) {
        out.topk = l.experts->topk, out.gated = l.experts->gated;
        out.intermediate = std::llround(std::ceil(l.experts->local_intermediate()));
        return out;
    }
    const auto first = products.empty() ? std::nullopt : batched_product(products.front()->name.str());
    if (!first || products.size() != 2) {
        out.fault =
            "its experts' weights were not recorded, so their sizes are not known (--model-config supplies them)";
        return out;
    }
    const auto& grid = products.front()->shape.grid;
    out.topk = topk_of(t, grid[1], first->tile_tokens);
    out.intermediate = std::int64_t{grid[0]} * first->tile_weights / 2;
    if (out.topk == 0) out.fault = "the grid of its products does not show how many experts a token uses";
    return out;
}

Described product(const Launch& l, const Tokens& t, const Experts& e, bool second) {
    MixtureOfExperts moe;
    moe.tokens = t.count, moe.hidden = t.hidden, moe.experts = t.experts, moe.topk = e.topk;
    moe.intermediate = e.intermediate, moe.gated = e.gated;
    if (const auto wrong = faults(moe); !wrong.empty()) return Described::refused("not valid: " + wrong.front());
    const auto rows = static_cast<double>(t.count) * static_cast<double>(e.topk);
    Described out;
    Layer layer;
    layer.name = l.call->name.str();
    Gemm g;
    g.batch = std::clamp<std::int64_t>(std::llround(routed_work(moe).experts_touched), 1, t.experts);
    g.m = std::max<std::int64_t>(1, std::llround(std::ceil(rows / double(g.batch))));
    g.n = second ? t.hidden : (e.gated ? 2 : 1) * e.intermediate;
    g.k = second ? e.intermediate : t.hidden;
    g.b_transposed = true;
    layer.op = g;
    if (const auto name = batched_product(l.kernel())) {
        layer.precision = name->precision;
        layer.weights = name->weights;
    } else {
        layer.precision = precision_of(l.call->inputs.front().type).value_or(Precision::bf16);
        layer.weights = expert_weights(l.kernel());
    }
    out.flop = Flops{2.0 * rows * double(g.n) * double(g.k)};
    out.layer = std::move(layer);
    out.remarks.emplace_back("the choice of experts was not recorded: taken as even");
    out.remarks.push_back(fmt::format("{} of {} experts a token, {} wide, by {}", e.topk, t.experts, e.intermediate,
                                      l.experts ? "the network" : "the grids of its kernels"));
    return out;
}

}  // namespace

bool is_expert_product(std::string_view kernel) {
    for (const std::string_view word :
         {"fused_moe_kernel", "marlin_moe", "MarlinMoe", "moe_wna16", "moe_gemm", "MoeFCGemm", "moe_mxgemm",
          "GroupProblemShape", "_matmul_ogs", "_p_matmul", "grouped_gemm", "m_grouped"})
        if (has(kernel, word)) return true;
    return has(kernel, "Marlin<") || has(kernel, "batched_triton_kernel");
}

std::optional<Precision> expert_weights(std::string_view kernel) {
    if (has(kernel, "wna16") || has(kernel, "arlin")) return Precision::int4;
    if (has(kernel, "mxfp4") || has(kernel, "e2m1") || has(kernel, "E2m1")) return Precision::fp4;
    return std::nullopt;
}

Described describe_routed(const Launch& l) {
    const OperatorInput* a = argument(*l.call, l.rule->argument("a"));
    const OperatorInput* router = argument(*l.call, l.rule->argument("router"));
    if (!a || !router || a->tensors.front().size() != 2 || router->tensors.front().size() != 2)
        return Described::refused("shapes of its operands were not recorded");
    Tokens t{a->tensors.front()[0], a->tensors.front()[1], router->tensors.front()[1], 2};
    if (t.count < 1 || t.hidden < 1 || t.experts < 1 || elements(*a) > 0x1p53)
        return Described::refused("shapes of its operands were not recorded");
    t.size = type_size(a->type).value_or(2);
    const auto products = products_of(l);
    const auto at = std::find(products.begin(), products.end(), l.activity);
    const bool multiplies = at != products.end(), finishes = has(l.kernel(), "finalize") || has(l.kernel(), "moe_sum");
    if (!multiplies && !finishes)
        return Described::refused("one of several kernels of the operator: its part is not known");
    const Experts e = experts_of(l, t, products);
    if (!e.fault.empty()) return Described::refused(e.fault);
    if (multiplies && products.size() != 2)
        return Described::refused(fmt::format("{} products in a call of experts, expected two", products.size()));
    if (multiplies) return product(l, t, e, at != products.begin());
    const double rows = double(t.count) * double(e.topk), out = double(t.count) * double(t.hidden);
    return stream(l, rows * double(t.hidden) * t.size, out * t.size, 2 * rows * double(t.hidden));
}

}  // namespace gambrel::trace_detail
