#include <algorithm>
#include <cmath>

#include <gambrel/mapping.hpp>

#include "trace/described.hpp"
#include "trace/tensors.hpp"

namespace gambrel::trace_detail {
namespace {

using Dims = OperatorInput::Dims;

const Dims* only_tensor(const OperatorInput* input) {
    return input && input->tensors.size() == 1 ? &input->tensors.front() : nullptr;
}

bool is_transposed(const OperatorInput& input) {
    if (input.strides.size() != 1 || input.strides.front().size() < 2) return false;
    const Dims& s = input.strides.front();
    return s[s.size() - 2] == 1 && s.back() != 1;
}

bool is_shared(const OperatorInput& input) {
    return input.strides.size() == 1 && input.strides.front().size() == 3 && input.strides.front().front() == 0;
}

// Rows and columns of the product and how many there are; nothing where the shapes do not fit.
std::optional<Gemm> gemm_of(const Dims& a, const Dims& b, bool b_transposed) {
    Gemm g;
    if (a.empty() || b.empty()) return std::nullopt;
    g.k = a.back();
    const Dims rows(a.begin(), a.end() - 1);
    constexpr double kMost = 0x1p53;  // beyond, products of sizes are not counted one by one
    if (elements(a) > kMost || elements(b) > kMost) return std::nullopt;
    if (b.size() <= 2) {  // one matrix or vector for all rows
        g.m = static_cast<std::int64_t>(elements(rows));
        const bool vector = b.size() == 1;
        g.n = vector ? 1 : b_transposed ? b[0] : b[1];
        if ((vector || b_transposed ? b.back() : b[0]) != g.k) return std::nullopt;
        return g;
    }
    if (a.size() < 2) return std::nullopt;
    g.m = a[a.size() - 2];
    g.n = b.back();
    if (b[b.size() - 2] != g.k) return std::nullopt;
    const Dims batch = broadcast({a.begin(), a.end() - 2}, {b.begin(), b.end() - 2});
    if (elements(batch) > kMost) return std::nullopt;
    g.batch = static_cast<std::int64_t>(elements(batch));
    return g;
}

// B as a kernel for narrow weights keeps it: only the number of its elements says how many columns there are.
std::optional<Gemm> packed_gemm(const Dims& a, double b_elements, int packed) {
    constexpr double kMost = 0x1p53;
    if (a.empty() || a.back() <= 0 || elements(a) > kMost || b_elements > kMost) return std::nullopt;
    Gemm g;
    g.k = a.back();
    g.m = static_cast<std::int64_t>(elements(a) / double(g.k));
    const double columns = b_elements * packed / double(g.k);
    if (columns < 1 || columns != std::floor(columns)) return std::nullopt;
    g.n = static_cast<std::int64_t>(columns);
    g.b_transposed = true;
    return g;
}

// Versions of one library put an argument before the packed weights: they are integers, what else may stand there is
// not.
const OperatorInput* packed_weights(const Launch& l) {
    for (const std::string_view name : {"b", "b_else"})
        if (const OperatorInput* b = argument(*l.call, l.rule->argument(name)); b && !precision_of(b->type)) return b;
    return nullptr;
}

Precision precision_for(const OperatorInput& a, std::string_view kernel, std::vector<std::string>& remarks) {
    auto precision = precision_of(a.type);
    if (!precision) {
        precision = precision_in_kernel(kernel);
        if (!precision) remarks.emplace_back("the type was not recorded: taken as FP32");
    }
    // FP32 tensors on Tensor Cores are multiplied as TF32.
    if (precision.value_or(Precision::fp32) == Precision::fp32) {
        const KernelName name = parse_kernel_name(kernel);
        if (name.tensor_core.value_or(false)) return Precision::tf32;
    }
    return precision.value_or(Precision::fp32);
}

// CTAs over output tiles, where the name says the tile. Persistent kernels launch as many CTAs as fit: no split.
std::int64_t split_of(const Gemm& g, const Launch& launch) {
    const KernelName name = parse_kernel_name(launch.kernel());
    if (name.tile.m <= 0 || name.tile.n <= 0) return 0;
    const double ctas =
        double(launch.activity->shape.grid[0]) * launch.activity->shape.grid[1] * launch.activity->shape.grid[2];
    const auto tiles = [&](double m, double n) {
        return std::ceil(double(g.m) / m) * std::ceil(double(g.n) / n) * double(g.batch);
    };
    double best = 0;
    for (const double t : {tiles(name.tile.m, name.tile.n), tiles(name.tile.n, name.tile.m)}) {
        const double ratio = ctas / std::max(1.0, t);
        if (ratio >= 2 && std::abs(ratio - std::round(ratio)) < 1e-9) best = std::max(best, ratio);
    }
    return best > 64 ? 0 : static_cast<std::int64_t>(best);
}

}  // namespace

Described describe_gemm(const Launch& launch) {
    const OperatorInput* a = argument(*launch.call, launch.rule->argument("a"));
    const int packed = launch.rule->b_packed;
    const OperatorInput* b = packed > 0 ? packed_weights(launch) : argument(*launch.call, launch.rule->argument("b"));
    const OperatorInput* addend = argument(*launch.call, launch.rule->argument("addend"));
    const Dims *a_dims = only_tensor(a), *b_dims = only_tensor(b);
    if (!a_dims || !b_dims) return Described::refused("shapes of its operands were not recorded");
    const auto gemm = packed > 0 ? packed_gemm(*a_dims, elements(*b_dims), packed)
                                 : gemm_of(*a_dims, *b_dims, launch.rule->b_transposed);
    if (!gemm) return Described::refused("its operands' shapes do not make a matrix product");
    Described out;
    Layer layer;
    Gemm g = *gemm;
    g.a_transposed = is_transposed(*a);
    g.b_transposed = packed > 0 || launch.rule->b_transposed || is_transposed(*b);
    g.a_shared = g.batch > 1 && is_shared(*a);
    g.b_shared = g.batch > 1 && is_shared(*b);
    layer.name = launch.call->name.str();
    layer.op = g;
    layer.precision = precision_for(*a, launch.kernel(), out.remarks);
    if (packed > 0) layer.weights = Precision::int4;
    const double size = element_size(layer.precision).value();
    const double product = double(g.m) * double(g.n) * double(g.batch);
    if (launch.role == Role::split_reduce) {
        const double parts = std::max(2.0, launch.split_k);
        return stream(launch, parts * product * 4, product * size, product * parts);
    }
    if (launch.role == Role::elementwise) return stream(launch, product * size, product * size, 0);
    if (launch.role != Role::main) return Described::refused("what this helper kernel moves is not known");
    if (is_gemv(launch.kernel())) {
        const double weights = packed > 0 ? double(packed) * element_size(Precision::int4).value() : size;
        const double reads = stored_elements(*a) * size + stored_elements(*b) * weights;
        Described once = stream(launch, reads, product * size, 2 * product * double(g.k));
        once.remarks = std::move(out.remarks);
        return once;
    }
    if (!launch.dominant) return Described::refused("one of several kernels of the operator: its part is not known");
    layer.hints.kernel = std::string(launch.kernel());
    layer.hints.split_k = split_of(g, launch);
    const KernelName name = parse_kernel_name(launch.kernel());
    if (name.tensor_core.has_value()) layer.hints.tensor_core = name.tensor_core;
    if (addend && addend->tensors.size() == 1) {
        const Dims& c = addend->tensors.front();
        const std::string& beta = value_at(*launch.call, launch.rule->argument("beta"));
        const bool zero = beta == "0" || beta == "0." || beta == "0.0";
        if (c.size() == 1)
            layer.bias = true;
        else if (!zero)
            out.extra = Bytes{elements(c) * size};
    }
    if (launch.count > 1) {
        out.share = launch.share;
        out.remarks.emplace_back("several kernels of one call multiply: work and bytes are shared out by their grids");
    }
    out.layer = std::move(layer);
    return out;
}

}  // namespace gambrel::trace_detail
