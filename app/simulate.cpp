#include <charconv>
#include <memory>

#include <fmt/format.h>

#include "app/command.hpp"
#include "app/layer_output.hpp"

namespace gambrel::app {
namespace {

struct SimulateFlags {
    NetworkFlags network;
    MachineFlags machine;
    OutputFlags output;
    std::string tile, cluster;
    SimulationOptions simulation;
};

Result<std::optional<Cluster>> cluster_of(const std::string& text) {
    if (text.empty()) return std::optional<Cluster>{};
    Cluster cluster;
    const char* const end = text.data() + text.size();
    const auto rows = std::from_chars(text.data(), end, cluster.rows);
    if (rows.ec == std::errc{} && rows.ptr < end && *rows.ptr == 'x') {
        const auto columns = std::from_chars(rows.ptr + 1, end, cluster.columns);
        if (columns.ec == std::errc{} && columns.ptr == end) return std::optional<Cluster>{cluster};
    }
    return failure("--cluster", fmt::format("\"{}\": expected rows x columns of CTAs, such as 2x1", text));
}

int run_simulate(const SimulateFlags& flags) {
    auto options = estimator_of(flags.machine);
    if (!options) return bad_input(options.error());
    const auto tile = tile_of(flags.tile);
    if (!tile) return bad_input(tile.error());
    const auto cluster = cluster_of(flags.cluster);
    if (!cluster) return bad_input(cluster.error());
    options->method = Method::simulation;
    options->tile = *tile;
    options->simulation = flags.simulation;
    options->simulation.cluster = *cluster;
    OutputFlags output = flags.output;
    output.inputs = {flags.network.network, flags.network.layers, flags.machine.machine};
    if (const Errors wrong = faults(output); !wrong.empty()) return bad_input(wrong);
    auto layers = layers_of(flags.network);
    if (!layers) return bad_input(layers.error());
    if (!output.quiet) print_notes(machine_notes(flags.machine.machine, flags.machine.clock));
    const auto estimates = estimated(std::move(*layers), *options, output.quiet);
    if (!estimates) return bad_input(estimates.error());
    return emit(*estimates, output);
}

}  // namespace

Action setup_simulate(Parser& command) {
    auto flags = std::make_shared<SimulateFlags>();
    flags->network.add_to(command);
    flags->machine.add_to(command);
    flags->output.add_to(command);
    command.add_option("--tile", flags->tile);
    command.add_option("--cluster", flags->cluster);
    command.add_flag("--stream-k", flags->simulation.stream_k);
    command.add_option("--sample", flags->simulation.sample).optional_value("5").range(2, 1000);
    command.add_option("--seed", flags->simulation.seed);
    command.add_option("--threads", flags->simulation.threads).range(1, 1024);
    command.add_flag("--warm", flags->simulation.warm);
    return [flags] { return run_simulate(*flags); };
}

}  // namespace gambrel::app
