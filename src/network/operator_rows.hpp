// Rows of layer tables that are transformer operators: attention, experts, vector operators by the names of published
// tables. Each gives the kernels that the row's provider runs, one layer for each; faults are left in the cells.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "network/row_cells.hpp"

namespace gambrel::network_detail {

// `common` has what every operator has: name, hints, precision.
std::vector<Layer> attention_layers(RowCells& cells, const Layer& common);
std::vector<Layer> expert_layers(RowCells& cells, const Layer& common);
std::vector<Layer> vector_layers(RowCells& cells, const Layer& common);
// A whole transformer of the built-in ones, every run of every layer.
std::vector<Layer> network_layers(RowCells& cells, const Layer& common);

// The kernels of one profiled call of a convolution by PyTorch (PT) or TensorFlow (TF1, TF2), in the forward pass or in
// a run that ends with gradients. `matrix_units`: whether the profiler saw them busy.
std::vector<Layer> profiled_call(std::string_view framework, const Layer& convolution, bool backward,
                                 bool matrix_units);
bool knows_calls_of(std::string_view framework);

bool is_vector_op(std::string_view op);
std::span<const std::string_view> vector_ops();

}  // namespace gambrel::network_detail
