// From layers with their outcome to files and terminal: what predict and simulate share after their own work is done.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <gambrel/outcome.hpp>

#include "app/network_flags.hpp"
#include "app/output.hpp"

namespace gambrel::app {

struct LayerOutputFlags {
    OutputFlags output;
    std::string theme = "light";
    std::size_t top = 30;
    bool no_chart = false;
    void add_to(CLI::App& command);
};

struct LayerResults {
    OutcomeReport report;
    std::vector<Kernel> kernels;    // one for each layer that has an outcome
    std::vector<Machine> machines;  // theirs; kernels name them by `device`
    Errors notes;
};
// The layers as rows of a Roofline.
Analysis analysis_of(const LayerResults& results, Grouping grouping);
// CSV and JSON have the layers; pictures the Roofline; the terminal both. Exit status.
int emit(const LayerResults& results, const LayerOutputFlags& flags);

}  // namespace gambrel::app
