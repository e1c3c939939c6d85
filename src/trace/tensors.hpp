// Sizes of tensors from what a trace recorded of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gambrel/network.hpp>
#include <gambrel/trace.hpp>

namespace gambrel::trace_detail {

inline bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// Bytes of an element; absent for what is not a type of tensors.
std::optional<double> type_size(std::string_view type);
// The type that a kernel's name speaks of: its template arguments, or BLAS's letters.
std::optional<double> type_size_in_kernel(std::string_view kernel);
std::optional<Precision> precision_of(std::string_view type);
std::optional<Precision> precision_in_kernel(std::string_view kernel);

double elements(const OperatorInput::Dims& dims);
// Elements that lie in memory: those of an expanded tensor once.
double stored_elements(const OperatorInput& input, std::size_t tensor);
double elements(const OperatorInput& input);  // of all tensors of a list
double stored_elements(const OperatorInput& input);
OperatorInput::Dims broadcast(const OperatorInput::Dims& a, const OperatorInput::Dims& b);

// "[2, 2]", "2" to numbers; empty if it is neither.
OperatorInput::Dims numbers_in(std::string_view value);
bool is_true(std::string_view value);

}  // namespace gambrel::trace_detail
