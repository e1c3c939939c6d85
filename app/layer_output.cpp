#include "app/layer_output.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "app/command.hpp"

namespace gambrel::app {
namespace {

bool is_table(const std::string& path) { return path.ends_with(".csv") || path.ends_with(".json"); }

}  // namespace

Analysis analysis_of(const LayerResults& results, Grouping grouping) {
    AnalysisOptions options;
    options.grouping = grouping;
    options.roofline.roofs = Roofs::theoretical;
    Analysis a = analysis(
        results.kernels, results.machines,
        [&](const Kernel& k) {
            for (std::size_t i = 0; i < results.machines.size(); ++i)
                if (results.machines[i].name == k.device.str()) return i;
            return std::size_t{0};
        },
        options);
    a.title = results.report.title;
    return a;
}

void LayerOutputFlags::add_to(CLI::App& command) {
    command.add_option("--csv", output.csv)->expected(0, 1)->default_str("-");
    command.add_option("--json", output.json)->expected(0, 1)->default_str("-");
    command.add_option("-o,--output", output.files)->allow_extra_args(false);
    command.add_option("--theme", theme)->check(CLI::IsMember({"light", "dark"}));
    command.add_option("--top", top);
    command.add_flag("--no-chart", no_chart);
    command.add_flag("--quiet,-q", output.quiet);
}

int emit(const LayerResults& results, const LayerOutputFlags& flags) {
    if (const Errors wrong = faults(flags.output); !wrong.empty()) return bad_input(wrong);
    const bool quiet = flags.output.quiet;
    if (!quiet) print_notes(results.notes);
    bool ok = true;
    const auto write = [&](const std::string& where, const std::string& text) {
        ok = (where == "-" ? print_result(text) : write_file(where, text)) && ok;
        if (where != "-" && ok && !quiet) fmt::print(stderr, "wrote {}\n", where);
    };
    const bool any = !results.kernels.empty();
    const Analysis a = any ? analysis_of(results, Grouping::launch) : Analysis{};
    const auto json_text = [&] { return outcome_json(results.report, any ? &a : nullptr); };
    if (!flags.output.csv.empty()) write(flags.output.csv, outcome_csv(results.report));
    if (!flags.output.json.empty()) write(flags.output.json, json_text());
    OutputFlags pictures;
    pictures.quiet = quiet;
    pictures.theme = flags.theme == "dark" ? Theme::dark : Theme::light;
    for (const std::string& file : flags.output.files) {
        if (is_table(file))
            write(file, file.ends_with(".csv") ? outcome_csv(results.report) : json_text());
        else
            pictures.files.push_back(file);
    }
    TextStyle style = terminal_style();
    style.max_rows = flags.top;
    const bool to_stdout = flags.output.csv == "-" || flags.output.json == "-";
    const bool to_file = !flags.output.files.empty() || !flags.output.csv.empty() || !flags.output.json.empty();
    const bool table = !to_stdout && !(quiet && to_file);
    if (table) ok = print_result(outcome_text(results.report, style)) && ok;
    if (!any) return ok ? kDone : kBadInput;
    if (table && !flags.no_chart) ok = print_result(terminal_chart(a, style)) && ok;
    if (pictures.files.empty()) return ok ? kDone : kBadInput;
    pictures.quiet = true;
    PageView beside;
    beside.title =
        fmt::format("{} on {}, {}", results.report.title, results.report.machine, name(results.report.origin));
    beside.layers = page_layers(results.report);
    const int status = app::emit(a, pictures, style, false, beside);
    if (!quiet && status == kDone)
        for (const std::string& file : pictures.files) fmt::print(stderr, "wrote {}\n", file);
    return ok ? status : kBadInput;
}

}  // namespace gambrel::app
