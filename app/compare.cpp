#include <gambrel/compare.hpp>

#include <fmt/format.h>
#include <gambrel/report.hpp>

#include "app/analysis_flags.hpp"
#include "app/command.hpp"
#include "app/layer_output.hpp"

namespace gambrel::app {
namespace {

struct CompareFlags {
    AnalysisFlags analysis;
    NetworkFlags network;
    SimulationOptions simulation;
    bool predict = false, simulate = false;
    std::string match = "auto";
    std::vector<std::string> files;  // if layers are asked for, the first is a network, unless --layers is
};

MatchBy match_by(const std::string& flag) {
    for (const MatchBy by : {MatchBy::name, MatchBy::order, MatchBy::layer})
        if (flag == name(by)) return by;
    return MatchBy::automatic;
}

// A network's layers as one side of the comparison.
Result<Analysis> side_of(std::shared_ptr<const LayerSet> layers, const EstimatorOptions& options,
                         const AnalysisFlags& flags) {
    auto estimates = estimated(std::move(layers), options, flags.output.quiet);
    if (!estimates) return tl::unexpected(estimates.error());
    const auto keep = kernel_filter(flags.kernel);
    if (!keep) return tl::unexpected(keep.error());
    if (*keep)
        for (EstimatedRow& row : estimates->rows)
            std::erase_if(row.estimates, [&](const Estimate& e) { return !(*keep)(e.layer->name); });
    Analysis side = analysis_of(*estimates, grouping_of(flags));
    if (side.rows.empty()) return failure("--kernel", fmt::format("\"{}\" matches no layer", flags.kernel));
    side.title = fmt::format("{}, {}", side.title, name(side.origin));
    return side;
}

Result<std::vector<Analysis>> layer_sides(CompareFlags flags) {
    if (flags.network.layers.empty() && !flags.files.empty()) flags.network.network = flags.files.front();
    auto options = estimator_of({flags.analysis.machine, flags.analysis.clock,
                                 flags.analysis.roofs == "theoretical" ? "theoretical" : "measured"});
    if (!options) return tl::unexpected(options.error());
    const auto layers = layers_of(flags.network);
    if (!layers) return tl::unexpected(layers.error());
    options->simulation = flags.simulation;
    std::vector<Analysis> sides;
    for (const Method method : {Method::model, Method::simulation}) {
        if (!(method == Method::model ? flags.predict : flags.simulate)) continue;
        options->method = method;
        auto side = side_of(*layers, *options, flags.analysis);
        if (!side) return tl::unexpected(side.error());
        sides.push_back(std::move(*side));
    }
    return sides;
}

Errors faults(const CompareFlags& flags) {
    Errors wrong = faults(flags.analysis);
    const bool layers = flags.predict || flags.simulate;
    if (!layers && flags.network.any())
        wrong.push_back({"compare", "--layers, --batch, --precision and the like are for --predict and --simulate"});
    if (!layers && flags.simulation.sample > 0) wrong.push_back({"--sample", "is for --simulate"});
    const bool network_is_first = layers && flags.network.layers.empty();
    if (network_is_first && flags.files.empty())
        wrong.push_back({"NETWORK", "give a network (a built-in name or an .onnx file) or --layers F.csv"});
    const std::size_t sides = flags.files.size() - (network_is_first && !flags.files.empty() ? 1 : 0) +
                              (flags.predict ? 1 : 0) + (flags.simulate ? 1 : 0);
    if (sides < 2)
        wrong.push_back({"compare",
                         "one result is nothing to compare; give two or more: gambrel compare A B, or "
                         "gambrel compare --predict --simulate NETWORK"});
    return wrong;
}

// The network's sides come first, so that a file is what they are judged by.
Result<std::vector<Analysis>> sides_of(const CompareFlags& flags) {
    std::vector<Analysis> sides;
    Errors errors;
    const auto file = [&](const std::string& path) {
        auto side = analysis_of({path}, flags.analysis);
        if (side)
            sides.push_back(std::move(*side));
        else
            errors.insert(errors.end(), side.error().begin(), side.error().end());
    };
    const bool layers = flags.predict || flags.simulate;
    if (layers) {
        auto made = layer_sides(flags);
        if (!made) return made;
        sides = std::move(*made);
    }
    for (std::size_t i = layers && flags.network.layers.empty() ? 1 : 0; i < flags.files.size(); ++i)
        file(flags.files[i]);
    if (!errors.empty()) return tl::unexpected(errors);
    return sides;
}

// Of two traces: the same operator of the same module with the same shapes, whatever kernels a GPU or library runs for
// it.
CompareFlags by_operator(CompareFlags flags) {
    flags.analysis.group = "operator";
    flags.analysis.shapes_in_operators = true;
    flags.match = "name";
    return flags;
}

int run_compare(const CompareFlags& given) {
    const CompareFlags flags = given.match == "operator" ? by_operator(given) : given;
    if (const auto wrong = faults(flags); !wrong.empty()) return bad_input(wrong);
    auto sides = sides_of(flags);
    if (!sides) return bad_input(sides.error());
    std::vector<Comparison> all;
    for (const Analysis& side : *sides)
        if (!flags.analysis.output.quiet) print_notes(side.notes);
    for (std::size_t i = 1; i < sides->size(); ++i)
        all.push_back(comparison(sides->front(), std::move((*sides)[i]), {match_by(flags.match)}));

    OutputFlags output = flags.analysis.output;
    output.inputs = flags.files;
    output.inputs.insert(output.inputs.end(), {flags.network.layers, flags.analysis.machine});
    const TextStyle style = output.text_style();
    const ChartStyle chart = output.chart_style();
    Renderings forms;
    forms.text = [&] { return comparison_text(all, style); };
    forms.csv = [&] { return comparison_csv(all); };
    forms.json = [&] { return comparison_json(all); };
    forms.svg = [&] { return comparison_svg(all.front(), chart); };
    forms.html = [&] { return result_page(all, {command_line(), chart.theme}); };
    return emit(forms, output);
}

}  // namespace

Action setup_compare(Parser& command) {
    auto flags = std::make_shared<CompareFlags>();
    command.add_option("FILE", flags->files);
    command.add_option("--match", flags->match).one_of({"auto", "name", "order", "layer", "operator"});
    command.add_flag("--predict", flags->predict);
    command.add_flag("--simulate", flags->simulate);
    flags->network.add_options_to(command);
    command.add_option("--sample", flags->simulation.sample).optional_value("5").range(2, 1000);
    flags->analysis.add_reading_to(command);
    flags->analysis.output.add_files_to(command);
    command.add_option("--top", flags->analysis.output.top).not_negative();
    return [flags] { return run_compare(*flags); };
}

}  // namespace gambrel::app
