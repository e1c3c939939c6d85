// Where conclusions of an exploration go: the terminal, CSV, JSON, pictures. Shared by explore and reproduce.
#pragma once

#include <gambrel/report.hpp>

#include "app/output.hpp"

namespace gambrel::app {

struct ExploreOutput {
    OutputFlags output;
    std::string chart = "pareto";
    void add_to(Parser& command);
};

Errors faults(const ExploreOutput& flags);
int emit(const ExplorationReport& report, const ExploreOutput& flags);

}  // namespace gambrel::app
