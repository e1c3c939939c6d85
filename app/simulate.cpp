#include <algorithm>
#include <memory>
#include <span>

#include <fmt/format.h>
#include <gambrel/explain.hpp>
#include <gambrel/predictor.hpp>
#include <gambrel/simulate.hpp>

#include "app/command.hpp"
#include "app/interrupt.hpp"
#include "app/layer_output.hpp"
#include "app/network_flags.hpp"
#include "app/progress.hpp"

namespace gambrel::app {
namespace {

struct Flags {
    NetworkFlags network;
    MachineFlags machine;
    LayerOutputFlags output;
    std::string tile;
    SimulationOptions options;
};

class Run {
public:
    Run(const Flags& flags, const ChosenMachine& chosen, std::optional<Tile> tile, std::size_t rows)
        : flags_(flags), chosen_(chosen), tile_(tile), rows_(rows), bar_(flags.output.output.quiet) {}

    // Rows after an interruption are left out, and the report says so.
    OutcomeRow row(const LayerRow* source, std::span<const Layer> layers) {
        OutcomeRow out{source, {}, {}};
        for (const Layer& layer : layers) {
            const Machine* machine = machine_for(layer, out.reason);
            if (!machine) return out;
            Mapping mapping = mapping_for(layer, *machine);
            if (tile_) mapping = with_tile(mapping, layer, *machine, *tile_);
            SimulationOptions options = flags_.options;
            std::stop_source stop;
            options.stop = stop.get_token();
            options.progress = [&](double fraction) {
                if (InterruptGuard::asked()) stop.request_stop();
                bar_.show(part_done(fraction), layer.name);
            };
            const auto simulation = simulate(layer, *machine, mapping, options);
            if (!simulation) {
                out.reason = simulation.error().front().what;
                return out;
            }
            keep(layer, *machine, mapping, *simulation, out);
        }
        ++done_;
        return out;
    }
    [[nodiscard]] bool interrupted() const { return InterruptGuard::asked(); }
    LayerResults& results() { return results_; }

private:
    [[nodiscard]] const Machine* machine_for(const Layer& layer, std::string& reason) const {
        if (!layer.hints.gpu.empty()) {
            const Machine* machine = find_in_catalogue(layer.hints.gpu);
            if (!machine)
                reason = fmt::format("gpu \"{}\" is not in the catalogue (gambrel machines lists it)", layer.hints.gpu);
            return machine;
        }
        if (chosen_.machine) return &*chosen_.machine;
        reason = "no machine given: use --machine, or a column gpu";
        return nullptr;
    }
    [[nodiscard]] double part_done(double of_this) const {
        return (static_cast<double>(done_) + of_this) / static_cast<double>(rows_);
    }
    void keep(const Layer& layer, const Machine& machine, const Mapping& mapping, const Simulation& simulation,
              OutcomeRow& out) {
        RooflineOptions options;
        options.clock = layer.hints.sm_clock ? layer.hints.sm_clock : chosen_.clock;
        options.roofs = chosen_.roofs;
        Kernel kernel = to_kernel(layer, machine, mapping, simulation, options);
        if (const std::string reason = not_modelled(layer); !reason.empty()) kernel.reasons.emplace_back(reason);
        out.layers.push_back(outcome(layer, mapping, simulation, kernel, roofline(machine, kernel, options).bound));
        results_.kernels.push_back(std::move(kernel));
        for (const Machine& known : results_.machines)
            if (known.name == machine.name) return;
        results_.machines.push_back(machine);
    }

    const Flags& flags_;
    const ChosenMachine& chosen_;
    std::optional<Tile> tile_;
    std::size_t rows_, done_ = 0;
    ProgressBar bar_;
    InterruptGuard interrupt_;
    LayerResults results_;
};

// The rows of a table, or the layers of a network.
void simulate_all(const Workload& work, Run& run) {
    OutcomeReport& report = run.results().report;
    if (work.table) {
        report.columns = &work.table->columns;
        for (const LayerRow& row : work.table->rows) {
            if (run.interrupted()) return;
            if (row.layers.empty())
                report.rows.push_back({&row, {}, row.reason});
            else
                report.rows.push_back(run.row(&row, row.layers));
        }
        return;
    }
    for (const Layer& layer : work.network->layers) {
        if (run.interrupted()) return;
        report.rows.push_back(run.row(nullptr, {&layer, 1}));
    }
    report.unmodelled = work.network->unmodelled;
    report.unmodelled_share = unmodelled_share(*work.network);
}

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
    if (work->network && !chosen->machine)
        return bad_input({{"--machine", "which GPU? a name of `gambrel machines`, such as v100, or a machine file"}});
    const std::size_t rows = work->table ? work->table->rows.size() : work->network->layers.size();
    LayerResults results;
    {
        Run run(flags, *chosen, tile, std::max<std::size_t>(1, rows));
        OutcomeReport& report = run.results().report;
        report.title = work->title;
        report.machine = chosen->machine ? chosen->machine->name : "the GPU of each row";
        report.origin = Origin::simulated;
        run.results().notes = work->notes;
        simulate_all(*work, run);
        if (run.interrupted()) {
            report.title += " (partial)";
            run.results().notes.push_back({"interrupted", fmt::format("{} of {} rows are here; the last may be partial",
                                                                      report.rows.size(), rows)});
        }
        results = std::move(run.results());
    }
    return emit(results, flags.output);
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
