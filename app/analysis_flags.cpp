#include "app/analysis_flags.hpp"

#include <algorithm>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <re2/re2.h>
#include <gambrel/load.hpp>

#include "app/command.hpp"
#include "app/network_flags.hpp"

namespace gambrel::app {

Result<std::function<bool(const std::string&)>> kernel_filter(const std::string& pattern) {
    if (pattern.empty()) return std::function<bool(const std::string&)>{};
    const auto regex = std::make_shared<re2::RE2>(pattern, re2::RE2::Quiet);
    if (!regex->ok())
        return failure("--kernel",
                       fmt::format("\"{}\" is not a valid regular expression: {}", pattern, regex->error()));
    return std::function<bool(const std::string&)>{[regex](const std::string& name) {
        return re2::RE2::PartialMatch(name, *regex) || re2::RE2::PartialMatch(short_name(name, 200), *regex);
    }};
}

void AnalysisFlags::add_reading_to(Parser& command) {
    command.add_option("--machine,--gpu", machine);
    command.add_option("--clock", clock);
    command.add_option("--roofs", roofs).one_of({"auto", "theoretical", "measured"});
    command.add_option("--kernel,-k", kernel);
    command.add_option("--group", group).one_of(grouping_names());
    command.add_option("--operators", operators);
    command.add_option("--flop-rule", flop_rule).one_of({"corrected", "paper"});
    command.add_option("--nvtx-depth", nvtx_depth).range(0, 64);
}

void AnalysisFlags::add_to(Parser& command) {
    add_reading_to(command);
    output.add_to(command);
    command.add_flag("--explain", explain);
}

Errors faults(const AnalysisFlags& flags) {
    Errors wrong = faults(flags.output);
    if (const auto clock = clock_of(flags.clock); !clock)
        wrong.insert(wrong.end(), clock.error().begin(), clock.error().end());
    if (const auto keep = kernel_filter(flags.kernel); !keep)
        wrong.insert(wrong.end(), keep.error().begin(), keep.error().end());
    return wrong;
}

Grouping grouping_of(const AnalysisFlags& flags) { return grouping_from(flags.group).value_or(Grouping::kernel); }

Result<Analysis> analysis_of(const std::vector<std::string>& files, const AnalysisFlags& flags, const TraceShare& share,
                             LaunchLayers* layers) {
    const auto clock = clock_of(flags.clock);
    const auto keep = kernel_filter(flags.kernel);
    if (!clock || !keep) return tl::unexpected(faults(flags));

    std::vector<std::string> inputs = files;
    std::replace(inputs.begin(), inputs.end(), std::string("-"), std::string("/dev/stdin"));
    LoadOptions load;
    load.flop_rule = flags.flop_rule == "paper" ? FlopRule::paper : FlopRule::corrected;
    load.nvtx_depth = flags.nvtx_depth;
    load.operator_files = flags.operators;
    load.keep = *keep;
    load.network = flags.network;
    load.shapes_in_operators = flags.shapes_in_operators;
    load.share = share;
    if (layers) load.on_modelled = [layers](const Kernel& k, const LaunchLayer& of) { layers->add(k, of); };
    if (!flags.machine.empty()) {
        auto machine = machine_from(flags.machine);
        if (!machine) return tl::unexpected(machine.error());
        load.machine = std::move(*machine);
    }
    auto run = load_run(inputs, load);
    if (!run) return tl::unexpected(std::move(run.error()));

    AnalysisOptions options;
    options.grouping = grouping_of(flags);
    options.time_sum = flags.flop_rule == "paper" ? TimeSum::mean_rate : TimeSum::exact;
    options.roofline.clock = *clock;
    options.roofline.roofs = flags.roofs == "measured"      ? Roofs::measured
                             : flags.roofs == "theoretical" ? Roofs::theoretical
                                                            : default_roofs(*run);
    options.roofline.use_reported_peaks = flags.machine.empty();
    return analysis(std::move(*run), options);
}

int run_analysis(const std::vector<std::string>& files, const AnalysisFlags& flags, const TraceShare& share) {
    if (share.rank > 0) {  // it reads a part of the traces; the first analyses, and says what is wrong
        if (clock_of(flags.clock) && kernel_filter(flags.kernel)) (void)traces_in(files, share);
        return kDone;
    }
    OutputFlags output = flags.output;
    output.inputs = files;
    if (!flags.machine.empty()) output.inputs.push_back(flags.machine);
    LaunchLayers layers;
    const bool has_page = std::any_of(output.files.begin(), output.files.end(),
                                      [](const std::string& file) { return file.ends_with(".html"); });
    const auto result = analysis_of(files, flags, share, has_page ? &layers : nullptr);
    if (!result) return bad_input(result.error());
    PageView beside;
    if (has_page) beside.model = layers.page_model(*result);
    if (!output.quiet) print_notes(machine_notes(flags.machine, flags.clock));
    if (!output.quiet) print_notes(result->notes);
    return emit(*result, output, flags.explain, beside);
}

}  // namespace gambrel::app
