#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <gambrel/report.hpp>
#include <gambrel/validate.hpp>

#include "app/command.hpp"
#include "app/interrupt.hpp"
#include "app/network_flags.hpp"
#include "app/output.hpp"
#include "app/progress.hpp"

namespace gambrel::app {
namespace {

struct ValidateFlags {
    std::string file, precision, min_time;
    std::vector<std::string> where;
    MachineFlags machine;
    OutputFlags output;
    std::size_t worst = 8;
    bool simulate = false, hold_out = false, host_drift = false;
    int sample = 0;
};

Result<ValidationOptions> options_of(const ValidateFlags& flags) {
    auto estimator = estimator_of(flags.machine);
    if (!estimator) return tl::unexpected(estimator.error());
    ValidationOptions options;
    options.estimator = std::move(*estimator);
    options.host_drift = flags.host_drift;
    if (!flags.min_time.empty()) {
        const auto time = parse_quantity<Seconds>(flags.min_time);
        if (!time) return failure("--min-time", fmt::format("\"{}\": {}", flags.min_time, time.error()));
        options.min_time = time->value();
    }
    for (const std::string& text : flags.where) {
        const std::size_t equals = text.find('=');
        if (equals == std::string::npos || equals == 0)
            return failure("--where", fmt::format("\"{}\": expected COLUMN=TEXT", text));
        options.columns.push_back(text.substr(0, equals));
        options.values.push_back(text.substr(equals + 1));
    }
    return options;
}

int emit(const Validation& v, const ValidateFlags& flags) {
    const std::string title = std::filesystem::path(flags.file).filename().string();
    const TextStyle style = flags.output.text_style();
    const Theme theme = flags.output.chart_style().theme;
    Renderings forms;
    const auto held_out = flags.hold_out ? held_out_errors(v) : std::vector<HeldOutErrors>{};
    forms.text = [&] {
        std::string text = validation_text(v, title, style, flags.worst);
        if (flags.hold_out) text += held_out_text(held_out, style);
        return text;
    };
    forms.csv = [&] { return validation_csv(v); };
    forms.json = [&] { return validation_json(v, held_out); };
    forms.svg = [&] { return validation_svg(v, title, theme); };
    forms.markdown = [&] { return validation_markdown(v, title, command_line()); };
    return emit(forms, flags.output);
}

Result<Validation> judged(const LayerTable& table, ValidationOptions options, const ValidateFlags& flags) {
    if (!flags.simulate) return validate(table, options);
    ProgressBar bar(flags.output.quiet);
    const InterruptGuard interrupt;
    std::stop_source stop;
    options.simulate = true;
    options.estimator.simulation.sample = flags.sample;
    options.estimator.simulation.stop = stop.get_token();
    options.estimator.simulation.progress = [&](double done) {
        if (InterruptGuard::asked()) stop.request_stop();
        bar.show(done, "simulating");
    };
    return validate(table, options);
}

int run_validate(ValidateFlags flags) {
    flags.output.inputs = {flags.file, flags.machine.machine};
    if (const Errors wrong = faults(flags.output, ".md .svg .png .pdf .csv .json"); !wrong.empty())
        return bad_input(wrong);
    if (flags.sample > 0 && !flags.simulate) return bad_input({{"--sample", "is for --simulate"}});
    const auto options = options_of(flags);
    if (!options) return bad_input(options.error());
    LayerTableOptions table_options;
    if (!flags.precision.empty()) {
        const auto precision = precision_from(flags.precision);
        if (!precision)
            return bad_input({{"--precision", fmt::format("\"{}\": expected fp64, fp32, tf32, fp16, bf16, fp8 or int8",
                                                          flags.precision)}});
        table_options.precision = *precision;
    }
    const auto table = load_layer_table(flags.file, table_options);
    if (!table) return bad_input(table.error());
    if (!flags.output.quiet) print_notes(table->notes);
    auto v = judged(*table, *options, flags);
    if (!v) {
        for (Error& e : v.error()) e.where = flags.file;
        return bad_input(v.error());
    }
    if (v->rows.empty()) {
        std::string why = fmt::format("no row is left to judge: {} left out by --where or --min-time", v->skipped);
        if (!v->unread.empty())
            why += fmt::format(", {} without a prediction; {}: {}", v->unread.size(), v->unread.front().where,
                               v->unread.front().what);
        return bad_input({{flags.file, why}});
    }
    return emit(*v, flags);
}

}  // namespace

Action setup_validate(Parser& command) {
    auto flags = std::make_shared<ValidateFlags>();
    command.add_option("FILE", flags->file).required();
    flags->machine.add_to(command);
    command.add_option("--precision", flags->precision);
    command.add_option("--min-time", flags->min_time);
    command.add_option("--where", flags->where).one_value();
    command.add_option("--worst", flags->worst);
    command.add_flag("--hold-out", flags->hold_out);
    command.add_flag("--host-drift", flags->host_drift);
    command.add_flag("--simulate", flags->simulate);
    command.add_option("--sample", flags->sample).optional_value("5").range(2, 1000);
    flags->output.add_files_to(command);
    return [flags] { return run_validate(*flags); };
}

}  // namespace gambrel::app
