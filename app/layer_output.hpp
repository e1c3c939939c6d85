// From estimates of layers to files and terminal: what predict and simulate share after their own work is done.
#pragma once

#include <gambrel/estimate.hpp>

#include "app/network_flags.hpp"
#include "app/output.hpp"

namespace gambrel::app {

// With a progress bar for the simulator. Ctrl-C ends it early: what was done is in the result, which is marked partial.
Result<Estimates> estimated(std::shared_ptr<const LayerSet> layers, const EstimatorOptions& options, bool quiet);
// One row for each layer, judged by the roofs that its time was made with.
Analysis analysis_of(const Estimates& estimates, Grouping grouping = Grouping::launch);
// CSV and JSON have the layers; pictures the Roofline; the terminal both. Exit status.
int emit(const Estimates& estimates, const OutputFlags& flags);

}  // namespace gambrel::app
