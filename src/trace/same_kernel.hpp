// Kernels whose operator a trace does not name (launched before the capture, by a graph) to the launches of the same
// kernel with the same grid whose operator it does name.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <gambrel/trace.hpp>

namespace gambrel::trace_detail {

class SameKernels {
public:
    SameKernels() = default;
    // `named` says of an activity whether its operator and shapes are known.
    SameKernels(const Timeline& timeline, const std::function<bool(std::size_t)>& named);
    // Launches of named operators that the activity at `index` repeats: those whose neighbours in their stream are most
    // like its own, each operator once. Empty: there are none.
    [[nodiscard]] std::vector<std::size_t> of(std::size_t index) const;

private:
    [[nodiscard]] int alike(std::size_t a, std::size_t b) const;
    std::vector<std::uint32_t> kinds_;             // of each activity: equal for one kernel, grid and block on one GPU
    std::vector<std::size_t> place_;               // of each activity: where it is in `order_`
    std::vector<std::size_t> order_;               // activities by rank, GPU, stream and start
    std::vector<std::uint32_t> stream_;            // of each place: its stream
    std::vector<std::vector<std::size_t>> named_;  // of each kind: launches to choose from
    const Timeline* timeline_ = nullptr;
};

}  // namespace gambrel::trace_detail
