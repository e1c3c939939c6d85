// A design of an exploration as the rest of the house sees it: its Machine, and the layers that run on it judged by the
// roofs of that machine. Traffic and time are those that the exploration computed anew. Formats nothing.
#pragma once

#include <vector>

#include <gambrel/conclusions.hpp>
#include <gambrel/roofline.hpp>

namespace gambrel {

// Every number that a factor scales is labelled assumed; a design of factors 1 is the machine itself.
Machine design_machine(const Machine& machine, const Factors& factors);
// One row for each layer, amounts of all its runs.
Analysis design_analysis(const Conclusions& conclusions, const DesignAnswer& design);
// The design that a reader is led to: the cheapest that reaches the target, else the fastest. Null: only the start is
// known.
const DesignAnswer* led_to(const Conclusions& conclusions);
// Of each network of the workload, from those of its layers.
std::vector<double> network_elasticities(const Conclusions& conclusions, const Sensitivity& sensitivity);

}  // namespace gambrel
