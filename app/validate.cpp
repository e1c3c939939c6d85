#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <gambrel/validate.hpp>
#include <gambrel/validation_report.hpp>

#include "app/command.hpp"
#include "app/interrupt.hpp"
#include "app/network_flags.hpp"
#include "app/output.hpp"
#include "app/progress.hpp"

namespace gambrel::app {
namespace {

struct Flags {
    std::string file, precision, min_time, csv, json, theme = "light";
    std::vector<std::string> where, files;
    MachineFlags machine;
    std::size_t worst = 8;
    bool quiet = false, simulate = false;
    int sample = 0;
};

Result<ValidationOptions> options_of(const Flags& flags) {
    const auto chosen = machine_of(flags.machine);
    if (!chosen) return tl::unexpected(chosen.error());
    ValidationOptions options;
    options.predictor.machine = chosen->machine;
    options.predictor.clock = chosen->clock;
    options.predictor.roofs = chosen->roofs;
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

bool write(const std::string& where, const std::string& bytes, bool quiet) {
    if (where == "-") return print_result(bytes);
    if (!write_file(where, bytes)) return false;
    if (!quiet) fmt::print(stderr, "wrote {}\n", where);
    return true;
}

int emit(const Validation& v, const Flags& flags, const std::string& title) {
    const Theme theme = flags.theme == "dark" ? Theme::dark : Theme::light;
    bool ok = true;
    if (!flags.csv.empty()) ok = write(flags.csv, validation_csv(v), flags.quiet) && ok;
    if (!flags.json.empty()) ok = write(flags.json, validation_json(v), flags.quiet) && ok;
    for (const std::string& file : flags.files) {
        Result<std::string> bytes = failure(file, "expected an extension .md, .svg, .png, .pdf, .csv or .json");
        if (file.ends_with(".md")) bytes = validation_markdown(v, title, command_line());
        if (file.ends_with(".csv")) bytes = validation_csv(v);
        if (file.ends_with(".json")) bytes = validation_json(v);
        if (file.ends_with(".svg")) bytes = validation_svg(v, title, theme);
        if (file.ends_with(".png")) bytes = svg_to_png(validation_svg(v, title, theme));
        if (file.ends_with(".pdf")) bytes = svg_to_pdf(validation_svg(v, title, theme));
        if (!bytes) return bad_input(bytes.error());
        ok = write(file, *bytes, flags.quiet) && ok;
    }
    if (flags.csv != "-" && flags.json != "-")
        ok = print_result(validation_text(v, title, terminal_style(), flags.worst)) && ok;
    return ok ? kDone : kBadInput;
}

Result<Validation> judged(const LayerTable& table, ValidationOptions options, const Flags& flags) {
    if (!flags.simulate) return validate(table, options);
    ProgressBar bar(flags.quiet);
    const InterruptGuard interrupt;
    std::stop_source stop;
    options.simulate = true;
    options.simulation.sample = flags.sample;
    options.simulation.stop = stop.get_token();
    options.simulation.progress = [&](double done) {
        if (InterruptGuard::asked()) stop.request_stop();
        bar.show(done, "simulating");
    };
    return validate(table, options);
}

int run(const Flags& flags) {
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
    } else if (flags.file.find("bf16") != std::string::npos) {
        table_options.precision = Precision::bf16;
        if (!flags.quiet)
            print_notes({{flags.file, "no --precision: taken as bf16, by the file's name, where the rows do not say"}});
    }
    const auto table = load_layer_table(flags.file, table_options);
    if (!table) return bad_input(table.error());
    auto v = judged(*table, *options, flags);
    if (!v) {
        for (Error& e : v.error()) e.where = flags.file;
        return bad_input(v.error());
    }
    return emit(*v, flags, std::filesystem::path(flags.file).filename().string());
}

}  // namespace

Action setup_validate(CLI::App& command) {
    auto flags = std::make_shared<Flags>();
    command.add_option("FILE", flags->file)->required();
    flags->machine.add_to(command);
    command.add_option("--precision", flags->precision);
    command.add_option("--min-time", flags->min_time);
    command.add_option("--where", flags->where)->allow_extra_args(false);
    command.add_option("--worst", flags->worst);
    command.add_flag("--simulate", flags->simulate);
    command.add_option("--sample", flags->sample)->expected(0, 1)->default_str("5")->check(CLI::Range(2, 1000));
    command.add_option("--csv", flags->csv)->expected(0, 1)->default_str("-");
    command.add_option("--json", flags->json)->expected(0, 1)->default_str("-");
    command.add_option("-o,--output", flags->files)->allow_extra_args(false);
    command.add_option("--theme", flags->theme)->check(CLI::IsMember({"light", "dark"}));
    command.add_flag("--quiet,-q", flags->quiet);
    return [flags] { return run(*flags); };
}

}  // namespace gambrel::app
