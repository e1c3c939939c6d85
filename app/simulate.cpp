#include <memory>

#include "app/command.hpp"
#include "app/layer_output.hpp"
#include "app/layer_runs.hpp"
#include "app/network_flags.hpp"

namespace gambrel::app {
namespace {

struct Flags {
    NetworkFlags network;
    MachineFlags machine;
    LayerOutputFlags output;
    std::string tile;
    SimulationOptions options;
};

int run(const Flags& flags) {
    const auto chosen = machine_of(flags.machine);
    if (!chosen) return bad_input(chosen.error());
    std::optional<Tile> tile;
    if (!flags.tile.empty()) {
        const auto given = tile_from(flags.tile);
        if (!given) return bad_input(given.error());
        tile = *given;
    }
    const auto work = workload_of(flags.network);
    if (!work) return bad_input(work.error());
    if (const Errors missing = machine_missing(*work, *chosen); !missing.empty()) return bad_input(missing);
    return emit(simulated_layers(*work, *chosen, tile, flags.options, flags.output.output.quiet), flags.output);
}

}  // namespace

Action setup_simulate(CLI::App& command) {
    auto flags = std::make_shared<Flags>();
    flags->network.add_to(command);
    flags->machine.add_to(command);
    flags->output.add_to(command);
    command.add_option("--tile", flags->tile);
    command.add_option("--sample", flags->options.sample)->expected(0, 1)->default_str("5")->check(CLI::Range(2, 1000));
    command.add_option("--seed", flags->options.seed);
    command.add_option("--threads", flags->options.threads)->check(CLI::Range(1, 1024));
    command.add_flag("--warm", flags->options.warm);
    return [flags] { return run(*flags); };
}

}  // namespace gambrel::app
