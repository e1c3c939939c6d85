#include <memory>

#include <fmt/format.h>
#include <gambrel/explain.hpp>
#include <gambrel/predictor.hpp>

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
    std::string model = "gambrel", tile, explain;
    bool best_mapping = false;
};

Result<PredictorOptions> options_of(const Flags& flags, const ChosenMachine& chosen) {
    PredictorOptions options = predictor_options(chosen);
    options.model = flags.model == "paper" ? Model::paper : Model::gambrel;
    options.search = flags.best_mapping;
    if (!flags.tile.empty()) {
        const auto tile = tile_from(flags.tile);
        if (!tile) return tl::unexpected(tile.error());
        options.tile = *tile;
    }
    return options;
}

std::vector<const Layer*> layers_of(const Workload& work) {
    std::vector<const Layer*> all;
    if (work.network)
        for (const Layer& layer : work.network->layers) all.push_back(&layer);
    if (work.table)
        for (const LayerRow& row : work.table->rows)
            for (const Layer& layer : row.layers) all.push_back(&layer);
    return all;
}

int explain(const std::string& wanted, const Workload& work, const PredictorOptions& options) {
    std::vector<std::string> names;
    for (const Layer* layer : layers_of(work)) {
        names.push_back(layer->name);
        if (layer->name != wanted) continue;
        const auto p = Predictor(options)(*layer);
        if (!p) return bad_input({{layer->name, p.error().front().what}});
        return print_result(
                   explained_text(layer->name + " on " + p->machine->name, explanation(*layer, *p), terminal_style()))
                   ? kDone
                   : kBadInput;
    }
    return bad_input({{"--explain", fmt::format("no layer \"{}\"{}", wanted, did_you_mean(wanted, names))}});
}

int run(const Flags& flags) {
    const auto chosen = machine_of(flags.machine);
    if (!chosen) return bad_input(chosen.error());
    const auto options = options_of(flags, *chosen);
    if (!options) return bad_input(options.error());
    const auto work = workload_of(flags.network);
    if (!work) return bad_input(work.error());
    if (const Errors missing = machine_missing(*work, *chosen); !missing.empty()) return bad_input(missing);
    if (!flags.explain.empty()) return explain(flags.explain, *work, *options);
    return emit(predicted_layers(*work, *options), flags.output);
}

}  // namespace

Action setup_predict(CLI::App& command) {
    auto flags = std::make_shared<Flags>();
    flags->network.add_to(command);
    flags->machine.add_to(command);
    flags->output.add_to(command);
    command.add_option("--model", flags->model)->check(CLI::IsMember({"gambrel", "paper"}));
    command.add_option("--tile", flags->tile);
    command.add_flag("--best-mapping", flags->best_mapping);
    command.add_option("--explain", flags->explain);
    return [flags] { return run(*flags); };
}

}  // namespace gambrel::app
