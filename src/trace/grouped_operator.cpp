// Products of one matrix for each expert, with as many rows as tokens chose it. Which tokens chose which expert is data
// and is not in a trace: tokens are spread evenly.
#include <algorithm>
#include <cmath>

#include "trace/described.hpp"
#include "trace/tensors.hpp"

namespace gambrel::trace_detail {
namespace {

using Dims = OperatorInput::Dims;

constexpr double kMost = 0x1p53;

const Dims* dims_of(const Launch& l, std::string_view name) {
    const OperatorInput* input = argument(*l.call, l.rule->argument(name));
    return input && input->tensors.size() == 1 && elements(input->tensors.front()) <= kMost ? &input->tensors.front()
                                                                                            : nullptr;
}

std::int64_t shared_out(std::int64_t n, std::int64_t parts) {
    return std::max<std::int64_t>(1, (n + parts - 1) / std::max<std::int64_t>(1, parts));
}

Described product(const Launch& l, Gemm g, double flop, Precision precision) {
    Described out;
    Layer layer;
    layer.name = l.call->name.str();
    layer.op = g;
    layer.precision = precision;
    out.flop = Flops{flop};
    out.layer = std::move(layer);
    out.remarks.emplace_back("the choice of experts was not recorded: taken as even");
    return out;
}

// torch._grouped_mm: rows, columns or the inner side are divided by the offsets.
Described grouped(const Launch& l, const Dims& a, const Dims& b, Precision precision) {
    const Dims* offsets = dims_of(l, "offsets");
    const std::int64_t listed = offsets && offsets->size() == 1 ? offsets->front() : 0;
    Gemm g;
    double flop = 0;
    if (a.size() == 2 && b.size() == 3 && a[1] == b[1]) {  // tokens x k, experts x k x n
        g.batch = std::min(b[0], a[0]), g.m = shared_out(a[0], g.batch), g.k = a[1], g.n = b[2];
        flop = 2.0 * double(a[0]) * double(a[1]) * double(b[2]);
    } else if (a.size() == 3 && b.size() == 2 && a[2] == b[0]) {  // experts x m x k, k x tokens
        g.batch = std::min(a[0], b[1]), g.m = a[1], g.k = a[2], g.n = shared_out(b[1], g.batch);
        flop = 2.0 * double(a[1]) * double(a[2]) * double(b[1]);
    } else if (a.size() == 2 && b.size() == 2 && a[1] == b[0] && listed > 0) {  // m x tokens, tokens x n
        g.batch = listed, g.m = a[0], g.k = shared_out(a[1], listed), g.n = b[1];
        flop = 2.0 * double(a[0]) * double(a[1]) * double(b[1]);
    } else if (a.size() == 3 && b.size() == 3 && a[0] == b[0] && a[2] == b[1]) {
        g = {.m = a[1], .n = b[2], .k = a[2], .batch = a[0]};
        flop = 2.0 * double(a[0]) * double(a[1]) * double(a[2]) * double(b[2]);
    } else {
        return Described::refused("its operands' shapes do not make a grouped matrix product");
    }
    return product(l, g, flop, precision);
}

// Serving libraries: each token times the first matrix (and gate) of its experts, then times the second.
Described fused_experts(const Launch& l, const Dims& tokens, const Dims& first, const Dims& second,
                        Precision precision) {
    const Dims* chosen = dims_of(l, "experts");
    if (!chosen || chosen->size() != 2 || tokens.size() != 2 || first.size() != 3 || second.size() != 3)
        return Described::refused("shapes of its operands were not recorded");
    const bool product_kernel = l.kernel().find("moe") != std::string_view::npos;
    if (l.role != Role::main || !product_kernel || l.count != 2)
        return Described::refused("one of several kernels of the operator: its part is not known");
    MixtureOfExperts moe;
    moe.tokens = tokens[0], moe.hidden = tokens[1], moe.experts = first[0], moe.topk = (*chosen)[1];
    moe.intermediate = std::max<std::int64_t>(1, second[2]);
    if (const auto wrong = faults(moe); !wrong.empty()) return Described::refused("not valid: " + wrong.front());
    const Dims& matrix = l.nth == 0 ? first : second;  // experts x n x k
    const auto rows = static_cast<std::int64_t>(elements(*chosen));
    Gemm g;
    g.batch = std::clamp<std::int64_t>(std::llround(routed_work(moe).experts_touched), 1, first[0]);
    g.m = shared_out(rows, g.batch), g.n = matrix[1], g.k = matrix[2], g.b_transposed = true;
    return product(l, g, 2.0 * double(rows) * double(matrix[1]) * double(matrix[2]), precision);
}

}  // namespace

Described describe_grouped(const Launch& l) {
    const OperatorInput* a = argument(*l.call, l.rule->argument("a"));
    const Dims* a_dims = dims_of(l, "a");
    if (!a_dims) return Described::refused("shapes of its operands were not recorded");
    const auto precision = precision_of(a->type);
    if (!precision) return Described::refused("the type of its operands was not recorded");
    if (const Dims* first = dims_of(l, "first"), *second = dims_of(l, "second"); first && second)
        return fused_experts(l, *a_dims, *first, *second, *precision);
    const Dims* b = dims_of(l, "b");
    if (!b) return Described::refused("shapes of its operands were not recorded");
    if (!l.dominant) return Described::refused("a kernel that prepares the product: what it moves is not known");
    return grouped(l, *a_dims, *b, *precision);
}

}  // namespace gambrel::trace_detail
