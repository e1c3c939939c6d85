// What must be computed and on what: the flags that predict, simulate and explore share, and the path from them to
// layers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <gambrel/network.hpp>
#include <gambrel/predictor.hpp>

namespace gambrel::app {

struct NetworkFlags {
    std::string network, layers, precision, layout, pass;
    std::vector<std::string> shapes;
    std::int64_t batch = 0, sequence = 0;
    bool training = false;

    void add_to(CLI::App& command);
    void add_options_to(CLI::App& command);  // all but NETWORK itself
};

// The layers of a table keep their rows; those of a network are merged where equal, with their repeats.
struct Workload {
    std::string title;
    std::optional<LayerTable> table;
    std::optional<Network> network;
    Errors notes;
};
Result<Workload> workload_of(const NetworkFlags& flags);

struct MachineFlags {
    std::string machine, clock, roofs = "measured";
    void add_to(CLI::App& command);
};
// The machine may be absent: a table's rows can name theirs.
struct ChosenMachine {
    std::optional<Machine> machine;
    std::optional<Frequency> clock;
    Roofs roofs = Roofs::measured;
};
Result<ChosenMachine> machine_of(const MachineFlags& flags);

// "128x64x8" or "128x64".
Result<Tile> tile_from(const std::string& text);

}  // namespace gambrel::app
