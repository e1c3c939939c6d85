// The fitted numbers of attention kernels by architecture: data/model/attention.json, which says what each stands for.
#pragma once

#include <string_view>

#include <gambrel/machine.hpp>

namespace gambrel::delta_detail {

struct AttentionCosts {
    double matrix, softmax, matrix_fp8, softmax_fp8, matrix_cache8, wide_cache8;
    double matrix_backward, softmax_backward, matrix_backward_fp8, softmax_backward_fp8, skips_causal_fp8;
    double first, first_backward, chain, tail, memory, floor, floor_backward, cache_write, cache_write_memory;
    double decode_first, decode_tile, decode_overlap, decode_blend, decode_matrix, search, search_wide;
    double combine, combine_part, regroup, regroup_memory;
    double wide_from = 0, recorded_batch = 0;  // head dimension of the wide kernel, sequences of a recorded graph
};
const AttentionCosts& attention_costs(std::string_view architecture);

}  // namespace gambrel::delta_detail
