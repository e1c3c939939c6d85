// From layers to their outcome, by the model or by the simulator: what predict, simulate and compare do alike. Prints
// nothing but the simulator's progress bar.
#pragma once

#include <optional>

#include <gambrel/predictor.hpp>
#include <gambrel/sim.hpp>

#include "app/layer_output.hpp"
#include "app/network_flags.hpp"

namespace gambrel::app {

// A network runs on the machine that was asked for; the rows of a table may name theirs. Empty if nothing is missing.
Errors machine_missing(const Workload& work, const ChosenMachine& chosen);

PredictorOptions predictor_options(const ChosenMachine& chosen);
LayerResults predicted_layers(const Workload& work, const PredictorOptions& options);

// Ctrl-C ends it early: what was done is in the result, whose title and notes say that it is partial.
LayerResults simulated_layers(const Workload& work, const ChosenMachine& chosen, std::optional<Tile> tile,
                              const SimulationOptions& options, bool quiet);

}  // namespace gambrel::app
