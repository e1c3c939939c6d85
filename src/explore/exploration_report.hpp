// What an exploration found, as the plain data that every view shows. Computes; formats nothing.
#pragma once

#include <span>

#include "explore/search.hpp"

namespace gambrel {

// The start and the proposed designs.
ExplorationReport exploration_report(const DesignEvaluator& evaluator, const CostTable& costs,
                                     std::span<const ProposedDesign> proposed);
// The designs of a search: the start, the fastest within the limits, the cheapest that reaches the target.
ExplorationReport exploration_report(const Exploration& exploration, const SearchResult& found);
// The two resources that are named, else the two that matter most to the start.
void add_map(ExplorationReport& report, const DesignEvaluator& evaluator, const Space& space,
             std::span<const Resource> resources);

}  // namespace gambrel
