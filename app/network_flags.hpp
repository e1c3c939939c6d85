// What must be computed and on what: the flags that predict, simulate, compare and explore share, turned into requests
// of the library.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gambrel/estimate.hpp>

#include "app/parser.hpp"

namespace gambrel::app {

struct NetworkFlags {
    std::string network, layers, precision, layout, pass, phase, fused, kv_precision;
    std::string algorithm = "implicit";  // what every command can take; see add_algorithm_to
    bool chooses_algorithm = false;      // the command has the option
    std::vector<std::string> shapes;
    std::int64_t batch = 0, sequence = 0, context = 0, tensor_parallel = 0;
    bool training = false;

    void add_to(Parser& command);
    void add_options_to(Parser& command);    // all but NETWORK itself
    void add_algorithm_to(Parser& command);  // of commands that predict every algorithm: the fastest by default
    [[nodiscard]] bool any() const;          // of the options
};
Result<LayerRequest> request_of(const NetworkFlags& flags);
Result<std::shared_ptr<const LayerSet>> layers_of(const NetworkFlags& flags);

struct MachineFlags {
    std::string machine, clock, roofs = "measured";
    void add_to(Parser& command);
};
// Machine, clock and roofs. The machine may be absent: a table's rows can name theirs.
Result<EstimatorOptions> estimator_of(const MachineFlags& flags);
// The parts of "a100,h100,b200"; one where there is no comma.
std::vector<std::string> machine_names(const std::string& machines);

// Which board was taken for a name that several share, that a machine file is of a partial measurement, and that the
// text of --clock is beyond what the board can run at; empty if there is nothing to say.
Errors machine_notes(const std::string& name, const std::string& clock = {});

// MHz, or a number with a unit. Empty text gives no clock.
Result<std::optional<Frequency>> clock_of(const std::string& text);
// "128x64x8" or "128x64". Empty text gives no tile.
Result<std::optional<Tile>> tile_of(const std::string& text);

}  // namespace gambrel::app
