// A prediction made followable by hand: each term with its equation, the values put in, and what came out. And a
// prediction as an outcome that reports take. Turns numbers into sentences; the numbers are those of `delta`.
#pragma once

#include <vector>

#include <gambrel/outcome.hpp>
#include <gambrel/predictor.hpp>

namespace gambrel {

LayerOutcome outcome(const Layer& layer, const Predicted& predicted);
std::vector<ExplainedTerm> explanation(const Layer& layer, const Predicted& predicted);

}  // namespace gambrel
