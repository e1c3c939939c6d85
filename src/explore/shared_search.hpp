// One search shared by all ranks of a World. Rank 0 hands out batches of parts, works itself, and records what comes
// back in the order of parts, so the result has the same bytes however many ranks there are.
#pragma once

#include "explore/search.hpp"

namespace gambrel::explore_detail {

// The final state, the same on every rank. Fewer parts than the search has: it was stopped.
Result<Checkpoint> shared_search(const Exploration& exploration, const ExploreRequest& request, World& world);

}  // namespace gambrel::explore_detail
