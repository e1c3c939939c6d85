#include "trace/impossible.hpp"

#include <fmt/format.h>

namespace gambrel::trace_detail {
namespace {

// Times of short kernels are rounded, and clocks rise above those of the catalogue for moments: less than twice is no
// proof.
constexpr double kProof = 2;

std::string impossible(std::string_view what, double times) {
    return fmt::format(
        "its operator's shapes would need {} at {:.3g} times its ceiling: they are not what this kernel did", what,
        times);
}

}  // namespace

Possible::Possible(const Machine& machine) {
    for (const Level level : {Level::l1, Level::l2, Level::dram})
        if (const auto ceiling = memory_ceiling(machine, level)) memory_.emplace_back(level, ceiling->value.value());
    for (const Pipe pipe : all_pipes())
        if (const auto ceiling = compute_ceiling(machine, pipe)) compute_.emplace_back(pipe, ceiling->value.value());
    if (const MemoryLevel* l2 = machine.find(Level::l2); l2 && l2->capacity) cache_ = l2->capacity->value.value();
}

std::string Possible::fault(const Kernel& kernel) const {
    const double seconds = kernel.time ? kernel.time->value.value() : 0;
    if (seconds <= 0) return {};
    for (const auto& [level, ceiling] : memory_) {
        if (!kernel.bytes[level]) continue;
        const double bytes = kernel.bytes[level]->value.value(), times = bytes / seconds / ceiling;
        // What fits in L2 may never reach DRAM.
        if (times > kProof && (level != Level::dram || bytes > 2 * cache_)) return impossible(name(level), times);
    }
    for (const auto& [pipe, ceiling] : compute_) {
        if (!kernel.work[pipe]) continue;
        const double times = kernel.work[pipe]->value.value() / seconds / ceiling;
        if (times > kProof) return impossible(name(pipe), times);
    }
    return {};
}

}  // namespace gambrel::trace_detail
