// Kernels that torch.compile fuses: by their recorded inputs or, where the profiler recorded none, by name and grid.
#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "trace/described.hpp"
#include "trace/tensors.hpp"

namespace gambrel::trace_detail {
namespace {

// FLOP of an element, by the operators in the name: "triton_poi_fused_add_mul_tanh_0".
double flop_in_name(const std::string& name, const OperatorTable& table) {
    double flop = 0;
    std::string word;
    for (const char c : name + "_") {
        if (c != '_') {
            word += c;
            continue;
        }
        flop += table.flop_of_word(word);
        word.clear();
    }
    return flop;
}

// Tensors of a kernel whose name ends with what its arguments were specialised for: "triton__0d1d2d3d4de" has four and
// then the number of elements, "triton_poi_fused_add_0_0d1d2de" two. 0: the name does not say it.
int tensors_in_name(std::string_view kernel) {
    std::size_t at = kernel.rfind('_');
    if (at == std::string_view::npos) return 0;
    int arguments = 0;
    for (++at; at < kernel.size(); ++arguments) {
        int number = 0;
        const std::size_t begin = at;
        for (; at < kernel.size() && std::isdigit(static_cast<unsigned char>(kernel[at])) != 0 && number < 1000; ++at)
            number = 10 * number + (kernel[at] - '0');
        if (at == begin || number != arguments) return 0;
        while (at < kernel.size() && (kernel[at] == 'd' || kernel[at] == 'e' || kernel[at] == 'c')) ++at;
    }
    return arguments - 1;
}

// The type of the last tensor of numbers that an operator read before, in the same rank: fused kernels work on what
// those made.
std::string type_before(const Launch& l) {
    const auto& all = l.timeline->activities;
    constexpr std::ptrdiff_t kFarthest = 200;
    const std::ptrdiff_t here = l.activity - all.data();
    for (std::ptrdiff_t i = here - 1; i >= std::max<std::ptrdiff_t>(0, here - kFarthest); --i) {
        const Activity& a = all[std::size_t(i)];
        if (a.call < 0 || a.rank != l.activity->rank) continue;
        for (const OperatorInput& input : l.timeline->calls[std::size_t(a.call)].inputs)
            if (!input.tensors.empty() && precision_of(input.type)) return input.type;
    }
    return {};
}

// A point-wise kernel has a thread for eight elements: torch.compile takes a warp for 256 of them, at most eight warps.
Described by_name(const Launch& l) {
    const std::string& call = l.call->name.str();
    const std::string name = call.starts_with("triton_") ? call : std::string(l.kernel());
    const bool pointwise = name.starts_with("triton_poi_");
    if (!pointwise)
        return Described::refused("the inputs of this Triton kernel were not recorded, and it is not point-wise");
    const int tensors = tensors_in_name(l.kernel());
    const LaunchShape& shape = l.activity->shape;
    const double threads = double(shape.block[0]) * shape.block[1] * shape.block[2];
    if (tensors < 1 || threads <= 32 || threads > 128 || shape.grid[1] > 1)
        return Described::refused(
            "the inputs of this Triton kernel were not recorded, and its name does not give them");
    const std::string type = type_before(l);
    const auto size = type_size(type);
    if (!size) return Described::refused("the inputs of this Triton kernel were not recorded, nor types before it");
    const double elements = 8 * threads * shape.ctas();
    Described d =
        stream(l, (tensors - 1) * elements * *size, elements * *size, flop_in_name(name, *l.table) * elements);
    d.remarks.push_back(
        fmt::format("its inputs were not recorded: taken as {} tensors of {} by name and grid, with a "
                    "thread for eight elements",
                    tensors, type));
    return d;
}

}  // namespace

Described describe_triton(const Launch& l) {
    double most = 1, bytes = 0, numel = 0;
    for (const OperatorInput& input : l.call->inputs)
        if (input.tensors.empty() && input.type == "Scalar")
            for (const std::int64_t n : numbers_in(input.value)) most *= double(std::max<std::int64_t>(1, n));
    std::vector<std::string> remarks;
    for (const OperatorInput& input : l.call->inputs)
        for (std::size_t i = 0; i < input.tensors.size(); ++i) {
            const double n = stored_elements(input, i);
            numel = std::max(numel, n);
            // A kernel of this many elements touches no more of a tensor: the others are slices.
            bytes += std::min(n, most > 1 ? most : n) * element_bytes(input, l.kernel(), remarks);
        }
    if (bytes <= 0 || !l.call->name.str().starts_with("triton_")) return by_name(l);
    const double flop = flop_in_name(l.call->name.str(), *l.table);
    Described d = stream(l, bytes, 0, flop * (most > 1 ? std::min(most, numel) : numel));
    d.remarks = std::move(remarks);
    d.remarks.emplace_back("a fused kernel: each recorded tensor once, FLOP by the operators in its name");
    return d;
}

}  // namespace gambrel::trace_detail
