#include <memory>
#include <span>

#include <fmt/format.h>
#include <gambrel/explain.hpp>
#include <gambrel/outcome.hpp>
#include <gambrel/predictor.hpp>

#include "app/command.hpp"
#include "app/layer_output.hpp"
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

struct Run {
    Predictor predictor;
    LayerResults results;
    std::string explained;  // the layer asked for
    const Flags& flags;

    OutcomeRow row(const LayerRow* source, std::span<const Layer> layers) {
        OutcomeRow out{source, {}, {}};
        for (const Layer& layer : layers) {
            const auto p = predictor(layer);
            if (!p) {
                out.layers.clear();
                out.reason = p.error().front().what;
                return out;
            }
            out.layers.push_back(outcome(layer, *p));
            keep_kernel(layer, *p);
            if (!flags.explain.empty() && explained.empty() && layer.name == flags.explain)
                explained =
                    explained_text(layer.name + " on " + p->machine->name, explanation(layer, *p), terminal_style());
        }
        return out;
    }

    void keep_kernel(const Layer& layer, const Predicted& p) {
        Kernel kernel = to_kernel(layer, p.prediction, *p.hardware);
        kernel.device = Symbol(p.machine->name);
        if (!p.reason.empty()) kernel.reasons.emplace_back(p.reason);
        results.kernels.push_back(std::move(kernel));
        for (const Machine& known : results.machines)
            if (known.name == p.machine->name) return;
        results.machines.push_back(*p.machine);
    }
};

Result<PredictorOptions> options_of(const Flags& flags, const ChosenMachine& chosen) {
    PredictorOptions options;
    options.machine = chosen.machine;
    options.clock = chosen.clock;
    options.roofs = chosen.roofs;
    options.model = flags.model == "paper" ? Model::paper : Model::gambrel;
    options.search = flags.best_mapping;
    if (!flags.tile.empty()) {
        const auto tile = tile_from(flags.tile);
        if (!tile) return tl::unexpected(tile.error());
        options.tile = *tile;
    }
    return options;
}

std::vector<std::string> layer_names(const Workload& work) {
    std::vector<std::string> names;
    if (work.network)
        for (const Layer& layer : work.network->layers) names.push_back(layer.name);
    if (work.table)
        for (const LayerRow& row : work.table->rows)
            for (const Layer& layer : row.layers) names.push_back(layer.name);
    return names;
}

int run(const Flags& flags) {
    const auto chosen = machine_of(flags.machine);
    if (!chosen) return bad_input(chosen.error());
    const auto options = options_of(flags, *chosen);
    if (!options) return bad_input(options.error());
    const auto work = workload_of(flags.network);
    if (!work) return bad_input(work.error());
    if (work->network && !chosen->machine)
        return bad_input({{"--machine", "which GPU? a name of `gambrel machines`, such as v100, or a machine file"}});
    Run run{Predictor(*options), {}, {}, flags};
    OutcomeReport& report = run.results.report;
    report.title = work->title;
    report.machine = chosen->machine ? chosen->machine->name : "the GPU of each row";
    report.model = flags.model;
    run.results.notes = work->notes;
    if (work->table) {
        report.columns = &work->table->columns;
        for (const LayerRow& row : work->table->rows) {
            if (row.layers.empty())
                report.rows.push_back({&row, {}, row.reason});
            else
                report.rows.push_back(run.row(&row, row.layers));
        }
    } else {
        for (const Layer& layer : work->network->layers) report.rows.push_back(run.row(nullptr, {&layer, 1}));
        report.unmodelled = work->network->unmodelled;
        report.unmodelled_share = unmodelled_share(*work->network);
    }
    if (!flags.explain.empty()) {
        if (run.explained.empty())
            return bad_input({{"--explain", fmt::format("no layer \"{}\"{}", flags.explain,
                                                        did_you_mean(flags.explain, layer_names(*work)))}});
        return print_result(run.explained) ? kDone : kBadInput;
    }
    return emit(run.results, flags.output);
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
