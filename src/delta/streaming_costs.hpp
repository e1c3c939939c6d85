// The fitted numbers of streaming kernels: data/model/streaming.json, which says what each stands for.
#pragma once

#include <gambrel/delta.hpp>

namespace gambrel::delta_detail {

struct StreamingCosts {
    double reach_plain, check_bits, kept;
    double floor[4];  // by Timing
    double l2_passes, layer_norm_reads, softmax_reads, softmax_warp_reads, norm_row, norm_element, scalar_iteration,
        vector_iteration, index_element, atomic, ordered_atomic, blend, series;
    [[nodiscard]] double reach(const ModelInputs& gpu) const { return reach_plain * (1 - check_bits * gpu.check_bits); }
};
const StreamingCosts& streaming_costs();

}  // namespace gambrel::delta_detail
