// Where a launch was called: operator, module and phase of training.
#pragma once

#include <cstdint>
#include <string_view>

#include "trace/events.hpp"

namespace gambrel::trace_detail {

inline constexpr std::uint8_t kDeepest = 250;  // events inside each other; what is deeper belongs to these

enum class Phase : std::uint8_t { forward, backward, optimizer };

// What a host event knows of where it is.
struct Place {
    std::int32_t op = -1;     // the innermost operator: of an operator itself
    std::int32_t above = -1;  // the operator that encloses that one
    StringId module = 0;
    Phase phase = Phase::forward;
    std::uint8_t depth = 0;
};

// By the names that PyTorch gives to nodes of its backward pass and to optimizers; inside one, all is part of it.
inline Phase phase_of(std::string_view name, Phase outer) {
    if (outer != Phase::forward) return outer;
    if (name.starts_with("Optimizer.")) return Phase::optimizer;
    if (name.starts_with("autograd::engine::") || name.starts_with("torch::autograd::AccumulateGrad"))
        return Phase::backward;
    const auto at = name.find("Backward");
    const bool node =
        at != std::string_view::npos && name.substr(at + 8).find_first_not_of("0123456789") == std::string_view::npos;
    return node ? Phase::backward : Phase::forward;
}

}  // namespace gambrel::trace_detail
