// How libraries run experts where nothing says so.
#include <algorithm>

#include "mapping/rules.hpp"

namespace gambrel::mapping_detail {

// Triton's kernels of serving engines: rows of a tile by how many tokens an expert has. Without tuned tables, as on
// Ampere, there are two: 16 rows where there are fewer tokens than experts, else 64.
Mapping experts_mapping(const Layer& layer, const Machine& machine, const SmLimits& limits) {
    const auto& moe = std::get<MixtureOfExperts>(layer.op);
    Mapping m;
    m.family = KernelFamily::experts;
    m.pipe = fitting_pipe(layer, {}, machine);
    m.threads = 256;
    m.registers = 255;
    // A step takes a line of each row of weights.
    const double weight = element_size(layer.weights.value_or(layer.precision)).value();
    m.cta = {64, 128, weight >= 2 ? 64 : weight >= 1 ? 128 : 256};
    const bool tuned = limits.architecture->matrix && limits.architecture->matrix->operands_from_shared_memory;
    if (tuned) {
        const RoutedWork work = routed_work(moe);
        const double each = work.assignments / std::max(1.0, work.experts_touched);
        m.cta.m = each <= 16 ? 16 : each <= 32 ? 32 : each <= 64 ? 64 : 128;
    } else if (moe.tokens <= moe.experts) {
        m.cta.m = 16;
    }
    if (layer.hints.algorithm == "tensor scales") m.store_run = 1;
    return m;
}

}  // namespace gambrel::mapping_detail
