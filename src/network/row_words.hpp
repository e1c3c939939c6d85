// What the words in a table's cells mean: spellings of DeepBench, cudnn-benchmark and other published tables.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <gambrel/layer.hpp>

#include "network/row_memo.hpp"

namespace gambrel::network_detail {

std::optional<Storage> storage_from(std::string_view text);
std::optional<Timing> timing_of_software(std::string_view text);
Operation operation_from(std::string_view text);
KernelWords words_from(std::string_view text);
// Of a column `quant`: how the input is quantized, if it is. Nothing where the word is not known.
std::optional<InputScales> scales_from(std::string_view text);
// `others` are the kernels that ran beside the row's own.
BiasKernel bias_kernel_of(std::string_view others, const std::string& kernel);
// DeepBench lets the library choose the algorithm and times many calls in a row. It notes the choice for forward
// passes; `trust` says whether the row's label is its own, or that of another GPU's sheet.
void by_deepbench(Layer& layer, std::string_view label, std::string_view trust);

}  // namespace gambrel::network_detail
