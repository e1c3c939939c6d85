// The inputs of an operator from the JSON that a trace recorded of them.
#pragma once

#include <string_view>
#include <vector>

#include <gambrel/trace.hpp>

namespace gambrel::trace_detail {

// Each text is a list with an item for each argument, or empty. What cannot be read is left out.
std::vector<OperatorInput> inputs_of(std::string_view dims, std::string_view types, std::string_view strides,
                                     std::string_view values);
// The first tensor of at least three dimensions.
OperatorInput::Dims first_image(std::string_view dims);

}  // namespace gambrel::trace_detail
