#include "report/telling_phases.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace gambrel::report_detail {

std::vector<std::string> telling_phases(std::span<const Kernel* const> kernels) {
    std::unordered_map<Symbol, Symbol> phase_of;
    std::unordered_set<Symbol> ambiguous;
    for (const Kernel* k : kernels) {
        const auto [at, fresh] = phase_of.emplace(k->name, k->phase);
        if (!fresh && at->second != k->phase) ambiguous.insert(k->name);
    }
    std::vector<std::string> out;
    for (const Kernel* k : kernels) out.push_back(ambiguous.count(k->name) != 0 ? k->phase.str() : std::string{});
    return out;
}

std::vector<std::string> phase_cells(std::span<const Kernel* const> kernels) {
    constexpr std::size_t kWidth = 16;
    std::vector<std::string> telling = telling_phases(kernels);
    if (std::all_of(telling.begin(), telling.end(), [](const auto& phase) { return phase.empty(); })) return telling;
    std::vector<std::string_view> phases;
    for (const Kernel* k : kernels) phases.emplace_back(k->phase.str());
    return short_names(phases, kWidth);
}

}  // namespace gambrel::report_detail
