// The fitted numbers of streaming kernels: data/model/streaming.json, which says what each stands for.
#pragma once

#include <set>
#include <string>

#include <gambrel/delta.hpp>

namespace gambrel::delta_detail {

struct StreamingCosts {
    double reach_hbm, reach_gddr;
    double floor[4];  // by Timing
    double l2_passes, layer_norm_reads, softmax_reads, softmax_warp_reads, norm_row, norm_element, scalar_iteration,
        vector_iteration, index_element;
    std::set<std::string, std::less<>> gddr;  // architectures
    [[nodiscard]] double reach(const Architecture& architecture) const {
        return gddr.contains(architecture.id) ? reach_gddr : reach_hbm;
    }
};
const StreamingCosts& streaming_costs();

}  // namespace gambrel::delta_detail
