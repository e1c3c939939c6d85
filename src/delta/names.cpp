#include <array>

#include <gambrel/delta.hpp>

#include "delta/intervals.hpp"

namespace gambrel {

std::string_view name(Model model) { return model == Model::paper ? "paper" : "gambrel"; }

std::string_view name(Term term) {
    static constexpr std::array<std::string_view, kTerms> kNames = {"compute", "issue", "latency", "shared memory",
                                                                    "L1",      "L2",    "DRAM",    "launch"};
    return kNames[static_cast<std::size_t>(term)];
}

std::string_view name(Regime regime) {
    static constexpr std::array<std::string_view, kRegimes> kNames = {
        "many waves", "few waves", "one wave", "short reduction", "Tensor Core", "streaming", "Tensor Core GEMM"};
    return kNames[static_cast<std::size_t>(regime)];
}

namespace delta_detail {

TimeInterval time_interval(Regime regime) {
    // In the order of Regime; tests/compare/intervals_test.cpp recomputes them. No rows of streaming layers are at
    // hand: theirs is a guess, and wide.
    static constexpr std::array<TimeInterval, kRegimes> kIntervals = {
        {{0.89, 1.27}, {0.83, 1.37}, {0.90, 1.49}, {0.85, 1.42}, {0.98, 2.47}, {0.7, 1.5}, {0.83, 1.22}}};
    return kIntervals[static_cast<std::size_t>(regime)];
}

}  // namespace delta_detail
}  // namespace gambrel
