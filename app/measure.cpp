#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include <gambrel/ingest.hpp>
#include <gambrel/measure.hpp>
#include <gambrel/report.hpp>

#include "app/command.hpp"
#include "app/interrupt.hpp"
#include "app/mpi_world.hpp"
#include "app/output.hpp"
#include "app/progress.hpp"
#include "app/self_test.hpp"

namespace gambrel::app {
namespace {

namespace fs = std::filesystem;

struct MeasureFlags {
    std::string device = "cpu", sustained, budget, csv, sweep_chart, ert, import;
    std::vector<std::string> files;
    bool quick = false, list = false, self_test = false, prove = false, quiet = false;
    std::string theme = "light";
};

// Machine file by .json, the Roofline of the machine by the others; a page has what was measured beside it.
Result<std::string> rendered(const std::string& path, const Machine& machine, const std::string& title,
                             const Measurement* measured, Theme theme) {
    const std::string kind = fs::path(path).extension().string();
    if (kind == ".json") return to_json(machine);
    const Analysis alone = machine_analysis(machine, title);
    if (kind == ".html") {
        PageView view = measured ? measure_view(*measured, alone) : PageView{title, &alone, nullptr, {}, {}};
        return page_of(fmt::format("{}: {}", title, machine.name), {std::move(view)}, theme);
    }
    ChartStyle style;
    style.theme = theme;
    const std::string svg = roofline_svg(alone, style);
    return kind == ".svg" ? Result<std::string>(svg) : kind == ".png" ? svg_to_png(svg) : svg_to_pdf(svg);
}

OutputFlags output_flags(bool quiet) {
    OutputFlags flags;
    flags.has_force = false;
    flags.quiet = quiet;
    return flags;
}

bool written(const std::string& path, const Result<std::string>& bytes, bool quiet) {
    return write_output(path, bytes, output_flags(quiet));
}

Errors faults(const MeasureFlags& flags) {
    Errors wrong;
    const auto check = [&](const std::string& path, std::initializer_list<const char*> kinds, const char* expected) {
        const std::string kind = fs::path(path).extension().string();
        for (const char* k : kinds)
            if (kind == k) {
                const Errors found = target_faults(path, output_flags(flags.quiet));
                wrong.insert(wrong.end(), found.begin(), found.end());
                return;
            }
        wrong.push_back({path, fmt::format("\"{}\" is not an extension for this; expected {}", kind, expected)});
    };
    for (const auto& f : flags.files)
        check(f, {".html", ".json", ".svg", ".png", ".pdf"}, ".html .json .svg .png or .pdf");
    OutputFlags table = output_flags(flags.quiet);
    table.csv = flags.csv;
    const Errors unwritable = gambrel::app::faults(table);
    wrong.insert(wrong.end(), unwritable.begin(), unwritable.end());
    if (!flags.sweep_chart.empty()) check(flags.sweep_chart, {".svg", ".png", ".pdf"}, ".svg .png or .pdf");
    if (!flags.ert.empty()) check(flags.ert, {".json"}, ".json");
    if (flags.self_test)
        for (const auto& f : flags.files) check(f, {".json"}, ".json, the one file that --self-test writes");
    return wrong;
}

bool write_machine(const Machine& machine, const std::string& title, const MeasureFlags& flags,
                   const Measurement* measured = nullptr) {
    bool ok = true;
    for (const auto& path : flags.files)
        ok = written(path, rendered(path, machine, title, measured, theme_of(flags.theme)), flags.quiet) && ok;
    return ok;
}

Result<std::string> sweep_chart(const Measurement& m, const MeasureFlags& flags) {
    ChartStyle style;
    style.theme = theme_of(flags.theme);
    const std::string svg = sweep_svg(m, style);
    const std::string kind = fs::path(flags.sweep_chart).extension().string();
    return kind == ".svg" ? Result<std::string>(svg) : kind == ".png" ? svg_to_png(svg) : svg_to_pdf(svg);
}

int import_ert(const MeasureFlags& flags) {
    const auto imported = load_ert(flags.import);
    if (!imported) return bad_input(imported.error());
    std::vector<SweepPoint> points;
    for (const ErtPoint& p : imported->sweep) points.push_back({Bytes{p.working_set}, statistics(p.rates)});
    if (!print_result(ert_text(*imported, plateaus(points, {}), terminal_style()))) return kBadInput;
    if (flags.files.empty()) return kDone;
    const auto machine = machine_from(imported->roofline, flags.import);
    if (!machine) return bad_input(machine.error());
    return write_machine(*machine, "Roofline by ERT", flags) ? kDone : kBadInput;
}

int list_devices() {
    std::string text;
    for (const DeviceFound& d : find_devices()) text += fmt::format("{:<12} {}\n", d.argument, d.name);
    return print_result(text + "sim:NAME     a simulated device, by a name of `gambrel machines`\n") ? kDone
                                                                                                     : kBadInput;
}

Result<MeasureOptions> options_of(const MeasureFlags& flags) {
    MeasureOptions options;
    options.quick = flags.quick;
    options.prove = flags.prove;
    Errors errors;
    const auto time = [&](const std::string& text, const char* flag, Seconds& into) {
        if (text.empty()) return;
        const auto value = parse_quantity<Seconds>(text);
        if (value && value->value() > 0)
            into = *value;
        else
            errors.push_back({flag, fmt::format("\"{}\" is not a time; expected one such as 60s", text)});
    };
    time(flags.budget, "--budget", options.budget);
    time(flags.sustained, "--sustained", options.sustained);
    if (!errors.empty()) return tl::unexpected(errors);
    return options;
}

Result<Measurement> measured(const std::string& device, MeasureOptions options, bool quiet) {
    const InterruptGuard guard;
    ProgressBar bar(quiet);
    options.stop = InterruptGuard::asked;
    options.progress = [&](double fraction, std::string_view doing) { bar.show(fraction, doing); };
    return measure(device, options);
}

bool write_all(const Measurement& m, const MeasureFlags& flags) {
    bool ok = true;
    if (flags.csv == "-")
        ok = print_result(measurement_csv(m));
    else if (!flags.csv.empty())
        ok = written(flags.csv, measurement_csv(m), flags.quiet);
    if (!flags.sweep_chart.empty()) ok = written(flags.sweep_chart, sweep_chart(m, flags), flags.quiet) && ok;
    if (!flags.ert.empty()) ok = written(flags.ert, ert_json(m), flags.quiet) && ok;
    return write_machine(measured_machine(m), "Measured Roofline", flags, &m) && ok;
}

// Every rank sends its result; rank 0 reports them all. The machine file then has the medians over the ranks.
int run_ranks(MpiWorld& ranks, const MeasureFlags& flags, const MeasureOptions& options) {
    const auto result = measured(ranks.filled(flags.device), options, flags.quiet || ranks.rank() != 0);
    RankResult mine{ranks.rank(), result ? "" : to_text(result.error().front()), result ? *result : Measurement{}};
    std::vector<RankResult> all;
    Errors errors;
    for (const std::string& text : ranks.gather(to_wire(mine))) {
        auto received = from_wire(text);
        if (received)
            all.push_back(std::move(*received));
        else
            errors.insert(errors.end(), received.error().begin(), received.error().end());
    }
    if (ranks.rank() != 0) return kDone;
    if (!errors.empty()) return bad_input(errors);
    const ClusterSummary summary = cluster_summary(all);
    if (flags.csv != "-" && !print_result(cluster_text(summary, terminal_style()))) return kBadInput;
    if (summary.ceilings.empty()) return kBadInput;
    if (!write_all(summary.typical, flags)) return kBadInput;
    return has_outliers(summary) || !summary.failed.empty() ? kNo : kDone;
}

int run_measure(const MeasureFlags& flags) {
    if (flags.list) return list_devices();
    if (const Errors wrong = faults(flags); !wrong.empty()) return bad_input(wrong);
    if (!flags.import.empty()) return import_ert(flags);
    const auto options = options_of(flags);
    if (!options) return bad_input(options.error());
    MpiWorld ranks;
    if (const Errors different = disagreement(ranks, "measure"); !different.empty()) return bad_input(different);
    if (flags.self_test) return run_self_test(ranks.filled(flags.device), flags.files, flags.quiet);
    if (ranks.size() > 1) return run_ranks(ranks, flags, *options);
    const auto result = measured(ranks.filled(flags.device), *options, flags.quiet);
    if (!result) return bad_input(result.error());
    if (flags.csv != "-" && !flags.quiet && !print_result(measurement_text(*result, terminal_style())))
        return kBadInput;
    if (!write_all(*result, flags)) return kBadInput;
    return has_failures(*result) ? kNo : kDone;
}

}  // namespace

Action setup_measure(Parser& command) {
    auto flags = std::make_shared<MeasureFlags>();
    command.add_option("--device,-d", flags->device);
    command.add_flag("--list", flags->list);
    command.add_flag("--quick", flags->quick);
    command.add_flag("--self-test", flags->self_test);
    command.add_flag("--prove", flags->prove);
    command.add_option("--budget", flags->budget);
    command.add_option("--sustained", flags->sustained);
    command.add_option("-o,--output", flags->files).one_value();
    command.add_option("--sweep-chart", flags->sweep_chart);
    command.add_option("--csv", flags->csv).optional_value("-");
    command.add_option("--ert", flags->ert);
    command.add_option("--import-ert", flags->import);
    command.add_option("--theme", flags->theme).one_of({"light", "dark"});
    command.add_flag("--quiet,-q", flags->quiet);
    return [flags] { return run_measure(*flags); };
}

}  // namespace gambrel::app
