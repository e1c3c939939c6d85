#include "app/layer_runs.hpp"

#include <algorithm>
#include <span>

#include <fmt/format.h>
#include <gambrel/explain.hpp>

#include "app/interrupt.hpp"
#include "app/progress.hpp"

namespace gambrel::app {
namespace {

void keep_machine(std::vector<Machine>& machines, const Machine& machine) {
    const auto same = [&](const Machine& known) { return known.name == machine.name; };
    if (std::none_of(machines.begin(), machines.end(), same)) machines.push_back(machine);
}

// The rows of a table, or the layers of a network, until `row_of` has no row any more.
template <class RowOf>
LayerResults all_rows(const Workload& work, const std::string& machine, RowOf row_of) {
    LayerResults results;
    OutcomeReport& report = results.report;
    report.title = work.title;
    report.machine = machine;
    results.notes = work.notes;
    if (work.table) {
        report.columns = &work.table->columns;
        for (const LayerRow& row : work.table->rows) {
            if (row.layers.empty()) {
                report.rows.push_back({&row, {}, row.reason});
                continue;
            }
            auto made = row_of(results, &row, std::span<const Layer>(row.layers));
            if (!made) return results;
            report.rows.push_back(std::move(*made));
        }
        return results;
    }
    report.unmodelled = work.network->unmodelled;
    report.unmodelled_share = unmodelled_share(*work.network);
    for (const Layer& layer : work.network->layers) {
        auto made = row_of(results, nullptr, std::span<const Layer>(&layer, 1));
        if (!made) return results;
        report.rows.push_back(std::move(*made));
    }
    return results;
}

std::string machine_name(const std::optional<Machine>& machine) {
    return machine ? machine->name : "the GPU of each row";
}

OutcomeRow predicted_row(Predictor& predictor, LayerResults& results, const LayerRow* source,
                         std::span<const Layer> layers) {
    OutcomeRow out{source, {}, {}};
    for (const Layer& layer : layers) {
        const auto p = predictor(layer);
        if (!p) {
            out.layers.clear();
            out.reason = p.error().front().what;
            return out;
        }
        out.layers.push_back(outcome(layer, *p));
        Kernel kernel = to_kernel(layer, p->prediction, *p->hardware);
        kernel.device = Symbol(p->machine->name);
        if (!p->reason.empty()) kernel.reasons.emplace_back(p->reason);
        results.kernels.push_back(std::move(kernel));
        keep_machine(results.machines, *p->machine);
    }
    return out;
}

class SimulatedRows {
public:
    SimulatedRows(const ChosenMachine& chosen, std::optional<Tile> tile, const SimulationOptions& options,
                  std::size_t rows, bool quiet)
        : chosen_(chosen), tile_(tile), options_(options), rows_(std::max<std::size_t>(1, rows)), bar_(quiet) {}

    std::optional<OutcomeRow> operator()(LayerResults& results, const LayerRow* source, std::span<const Layer> layers) {
        if (interrupted()) return std::nullopt;
        OutcomeRow out{source, {}, {}};
        for (const Layer& layer : layers) {
            const Machine* machine = machine_for(layer, out.reason);
            if (!machine) return out;
            Mapping mapping = mapping_for(layer, *machine);
            if (tile_) mapping = with_tile(mapping, layer, *machine, *tile_);
            const auto simulation = simulated(layer, *machine, mapping);
            if (!simulation) {
                out.reason = simulation.error().front().what;
                return out;
            }
            keep(layer, *machine, mapping, *simulation, results, out);
        }
        ++done_;
        return out;
    }
    [[nodiscard]] static bool interrupted() { return InterruptGuard::asked(); }

private:
    Result<Simulation> simulated(const Layer& layer, const Machine& machine, const Mapping& mapping) {
        SimulationOptions options = options_;
        std::stop_source stop;
        options.stop = stop.get_token();
        options.progress = [&](double fraction) {
            if (interrupted()) stop.request_stop();
            bar_.show((static_cast<double>(done_) + fraction) / static_cast<double>(rows_), layer.name);
        };
        return simulate(layer, machine, mapping, options);
    }
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
    void keep(const Layer& layer, const Machine& machine, const Mapping& mapping, const Simulation& simulation,
              LayerResults& results, OutcomeRow& out) const {
        RooflineOptions options;
        options.clock = layer.hints.sm_clock ? layer.hints.sm_clock : chosen_.clock;
        options.roofs = chosen_.roofs;
        Kernel kernel = to_kernel(layer, machine, mapping, simulation, options);
        if (const std::string reason = not_modelled(layer); !reason.empty()) kernel.reasons.emplace_back(reason);
        out.layers.push_back(outcome(layer, mapping, simulation, kernel, roofline(machine, kernel, options).bound));
        results.kernels.push_back(std::move(kernel));
        keep_machine(results.machines, machine);
    }

    const ChosenMachine& chosen_;
    std::optional<Tile> tile_;
    const SimulationOptions& options_;
    std::size_t rows_, done_ = 0;
    ProgressBar bar_;
    InterruptGuard interrupt_;
};

}  // namespace

Errors machine_missing(const Workload& work, const ChosenMachine& chosen) {
    if (work.table || chosen.machine) return {};
    return {{"--machine", "which GPU? a name of `gambrel machines`, such as v100, or a machine file"}};
}

PredictorOptions predictor_options(const ChosenMachine& chosen) {
    PredictorOptions options;
    options.machine = chosen.machine;
    options.clock = chosen.clock;
    options.roofs = chosen.roofs;
    return options;
}

LayerResults predicted_layers(const Workload& work, const PredictorOptions& options) {
    Predictor predictor(options);
    LayerResults results = all_rows(work, machine_name(options.machine),
                                    [&](LayerResults& so_far, const LayerRow* source, std::span<const Layer> layers) {
                                        return std::optional(predicted_row(predictor, so_far, source, layers));
                                    });
    results.report.model = name(options.model);
    return results;
}

LayerResults simulated_layers(const Workload& work, const ChosenMachine& chosen, std::optional<Tile> tile,
                              const SimulationOptions& options, bool quiet) {
    const std::size_t rows = work.table ? work.table->rows.size() : work.network->layers.size();
    SimulatedRows row_of(chosen, tile, options, rows, quiet);
    LayerResults results = all_rows(work, machine_name(chosen.machine), std::ref(row_of));
    results.report.origin = Origin::simulated;
    if (row_of.interrupted()) {
        results.report.title += " (partial)";
        results.notes.push_back({"interrupted", fmt::format("{} of {} rows are here; the last may be partial",
                                                            results.report.rows.size(), rows)});
    }
    return results;
}

}  // namespace gambrel::app
