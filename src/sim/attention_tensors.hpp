// The tensors of attention as addresses: the elements of one head of one position lie together, the heads of a position
// beside each other, positions one after the other. Pages of a cache are longer than a line, so keys in pages make the
// same requests as keys in a row. It knows no tile and no CTA.
#pragma once

#include <cstdint>
#include <vector>

#include <gambrel/network.hpp>

#include "sim/access.hpp"

namespace gambrel::sim_detail {

// Rows of equal length that lie one after the other.
struct RowTensor {
    std::uint64_t address = 0;
    double row = 0;          // bytes
    std::int64_t heads = 1;  // rows of one position
    // Requests the bytes of `count` rows from (position, head) on: every sector once.
    void append(std::int64_t position, std::int64_t head, std::int64_t count, Action action,
                std::vector<Access>& out) const;
    [[nodiscard]] bool empty() const { return row <= 0; }
};

// Where one sequence of the batch lies: positions of its queries and of its keys. Those that decode beside the prompts
// come after them.
struct SequencePlace {
    std::int64_t first_query, queries, first_key, keys;
};
SequencePlace sequence_of(const Attention& attention, std::int64_t sequence);

// Tensors follow each other within the region of a Tensor, each from a line on. Values of an MLA cache are a part of
// its keys and have no row.
struct AttentionTensors {
    RowTensor q, k, v, o;
    // Of the backward pass: gradients, what softmax kept of each row (its sum, and the product of O and dO), and the
    // sums of dQ over tiles of keys in FP32. Gradients of keys are made for every query head and added up afterwards.
    RowTensor dq, dk, dv, d_o, row_sums, row_products, dq_sums, dk_of_heads, dv_of_heads;
    RowTensor partial;  // O of each part of a split, in FP32
    AttentionTensors(const Attention& attention, const Layer& layer, std::int64_t parts);
};

}  // namespace gambrel::sim_detail
