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

}  // namespace gambrel::network_detail
