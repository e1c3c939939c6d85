// A prediction made followable by hand: each term with its equation, the values put in, and what came out. And a
// prediction as an outcome that reports take. Turns numbers into sentences; the numbers are those of `delta` or `sim`.
#pragma once

#include <vector>

#include <gambrel/outcome.hpp>
#include <gambrel/predictor.hpp>
#include <gambrel/sim.hpp>

namespace gambrel {

LayerOutcome outcome(const Layer& layer, const Predicted& predicted);
// `bound` is the roof whose shortest time is the kernel's.
LayerOutcome outcome(const Layer& layer, const Mapping& mapping, const Simulation& simulation, const Kernel& kernel,
                     Bound bound);
std::vector<ExplainedTerm> explanation(const Layer& layer, const Predicted& predicted);

}  // namespace gambrel
