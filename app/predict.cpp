#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gambrel/report.hpp>

#include "app/command.hpp"
#include "app/layer_output.hpp"
#include "app/streamed_table.hpp"

namespace gambrel::app {
namespace {

struct PredictFlags {
    NetworkFlags network;
    MachineFlags machine;
    OutputFlags output;
    std::string model = "gambrel", tile, explain, host_gap;
    bool best_mapping = false;
};

Result<EstimatorOptions> options_of(const PredictFlags& flags) {
    auto options = estimator_of(flags.machine);
    const auto tile = tile_of(flags.tile);
    if (!options) return options;
    if (!tile) return tl::unexpected(tile.error());
    options->method = flags.model == "paper" ? Method::paper : Method::model;
    options->search = flags.best_mapping;
    options->tile = *tile;
    if (!flags.host_gap.empty()) {
        const auto gap = parse_quantity<Seconds>(flags.host_gap);
        if (!gap || *gap < Seconds{})
            return failure("--host-gap", fmt::format("\"{}\": expected a time such as 20us", flags.host_gap));
        options->host_gap = *gap;
    }
    return options;
}

int explain(const std::string& wanted, const Estimates& estimates, const OutputFlags& output) {
    std::vector<std::string> names;
    for (const EstimatedRow& row : estimates.rows)
        for (const Estimate& e : row.estimates) {
            names.push_back(e.layer->name);
            if (e.layer->name != wanted) continue;
            const std::string title = e.layer->name + " on " + e.on->machine.name;
            return print_result(explained_text(title, explanation(e), output.text_style())) ? kDone : kBadInput;
        }
    constexpr std::size_t kShown = 8;
    std::string choice = did_you_mean(wanted, names);
    if (choice.empty() && !names.empty())
        choice = fmt::format("; expected a layer's name, such as \"{}\"",
                             fmt::join(names.begin(), names.begin() + std::min(names.size(), kShown), "\", \""));
    return bad_input({{"--explain", fmt::format("no layer \"{}\"{}", wanted, choice)}});
}

// One network on several GPUs: a line for each instead of layers.
int run_side_by_side(const PredictFlags& flags, const std::vector<std::string>& machines) {
    if (!flags.explain.empty()) return bad_input({{"--explain", "is for one GPU; --gpu names several"}});
    if (!flags.network.layers.empty())
        return bad_input({{"--gpu", "names several, which is for a network; rows of a table have a column gpu"}});
    OutputFlags output = flags.output;
    output.inputs = machines;
    output.inputs.push_back(flags.network.network);
    if (const Errors wrong = faults(output, ".csv .json .html"); !wrong.empty()) return bad_input(wrong);
    const auto layers = layers_of(flags.network);
    if (!layers) return bad_input(layers.error());
    std::vector<EstimatorOptions> options;
    for (const std::string& name : machines) {
        if (name.empty())
            return bad_input({{"--gpu", fmt::format("\"{}\" has an empty name; expected names with single commas "
                                                    "between them",
                                                    flags.machine.machine)}});
        PredictFlags one = flags;
        one.machine.machine = name;
        auto of_machine = options_of(one);
        if (!of_machine) return bad_input(of_machine.error());
        if (!output.quiet) print_notes(machine_notes(name, flags.machine.clock));
        options.push_back(std::move(*of_machine));
    }
    const auto each = estimate_each(*layers, options);
    if (!each) return bad_input(each.error());
    Renderings forms;
    forms.text = [&] { return side_by_side_text(*each, output.text_style()); };
    forms.csv = [&] { return side_by_side_csv(*each); };
    forms.json = [&] { return side_by_side_json(*each); };
    forms.html = [&] { return result_page(*each, {command_line(), output.chart_style().theme}); };
    return emit(forms, output);
}

int run_predict(const PredictFlags& flags) {
    if (const auto machines = machine_names(flags.machine.machine); machines.size() > 1)
        return run_side_by_side(flags, machines);
    const auto options = options_of(flags);
    if (!options) return bad_input(options.error());
    OutputFlags output = flags.output;
    output.inputs = {flags.network.network, flags.network.layers, flags.machine.machine};
    if (const Errors wrong = faults(output); !wrong.empty()) return bad_input(wrong);
    if (flags.explain.empty() && can_stream(flags.network, output))
        return stream_table(flags.network, *options, output, flags.machine.machine);
    auto layers = layers_of(flags.network);
    if (!layers) return bad_input(layers.error());
    if (!output.quiet) print_notes(machine_notes(flags.machine.machine, flags.machine.clock));
    const auto estimates = estimated(std::move(*layers), *options, output.quiet);
    if (!estimates) return bad_input(estimates.error());
    if (!flags.explain.empty()) return explain(flags.explain, *estimates, output);
    return emit(*estimates, output);
}

}  // namespace

Action setup_predict(Parser& command) {
    auto flags = std::make_shared<PredictFlags>();
    flags->network.add_to(command);
    flags->network.add_algorithm_to(command);
    flags->machine.add_to(command);
    flags->output.add_to(command);
    command.add_option("--model", flags->model).one_of({"gambrel", "paper"});
    command.add_option("--tile", flags->tile);
    command.add_option("--host-gap", flags->host_gap);
    command.add_flag("--best-mapping", flags->best_mapping);
    command.add_option("--explain", flags->explain);
    return [flags] { return run_predict(*flags); };
}

}  // namespace gambrel::app
