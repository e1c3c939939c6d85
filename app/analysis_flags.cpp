#include "app/analysis_flags.hpp"

#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <re2/re2.h>

#include "app/command.hpp"

namespace gambrel::app {

Result<std::optional<Frequency>> clock_of(const std::string& text) {
    if (text.empty()) return std::optional<Frequency>{};
    // --clock takes MHz, as nvidia-smi prints them; a unit may be written all the same.
    const bool bare = text.find_first_not_of("0123456789.") == std::string::npos;
    const auto parsed = parse_quantity<Frequency>(bare ? text + " MHz" : text);
    if (!parsed || parsed->value() <= 0)
        return failure("--clock", fmt::format("\"{}\" is no clock; write MHz, such as 1380", text));
    return std::optional<Frequency>{*parsed};
}

// Accepts full and shortened names, because the table shows the short ones.
Result<std::function<bool(const std::string&)>> kernel_filter(const std::string& pattern) {
    if (pattern.empty()) return std::function<bool(const std::string&)>{};
    const auto regex = std::make_shared<re2::RE2>(pattern, re2::RE2::Quiet);
    if (!regex->ok())
        return failure("--kernel", fmt::format("\"{}\" is no regular expression: {}", pattern, regex->error()));
    return std::function<bool(const std::string&)>{[regex](const std::string& name) {
        return re2::RE2::PartialMatch(name, *regex) || re2::RE2::PartialMatch(short_name(name, 200), *regex);
    }};
}

namespace {

// The machines of the files: from the flag, else from the catalogue by name, else as the files describe them.
Result<std::vector<Machine>> machines_for(const std::vector<Machine>& described, const std::string& flag,
                                          std::vector<Error>& notes) {
    if (!flag.empty()) {
        auto chosen = machine_from(flag);
        if (!chosen) return tl::unexpected(chosen.error());
        return std::vector<Machine>(described.size(), *chosen);
    }
    std::vector<Machine> machines;
    for (const Machine& d : described) {
        // A result of our own carries its machine in full; the catalogue may since have changed.
        if (!d.source.empty() && !d.source.starts_with("built from") && (d.sm.sms || !d.levels.empty())) {
            machines.push_back(d);
            continue;
        }
        const Machine* known = find_in_catalogue(d.name);
        machines.push_back(known ? *known : d);
        if (known) continue;
        if (!d.sm.sms)
            notes.push_back(
                {d.name, "the files do not tell which GPU it was, so there are no roofs; say it with --machine NAME"});
        else
            notes.push_back(
                {d.name, "not in the catalogue: its ceilings come from the attributes and peaks inside the files"});
    }
    return machines;
}

// A machine file made by measuring has measured ceilings and wants to be judged by them; the catalogue by theory.
// A result of ours is judged as it was when it was saved, unless the machine is another.
Roofs roofs_for(const AnalysisFlags& flags, const std::vector<Machine>& machines, std::optional<Roofs> saved) {
    if (flags.roofs == "measured") return Roofs::measured;
    if (flags.roofs == "theoretical" || machines.empty()) return Roofs::theoretical;
    if (saved && flags.machine.empty()) return *saved;
    const Machine& m = machines.front();
    const bool from_file = m.source != "catalogue" && !m.source.starts_with("built from");
    const bool has_measured =
        std::any_of(m.levels.begin(), m.levels.end(), [](const auto& l) { return l.measured.has_value(); });
    return from_file && has_measured ? Roofs::measured : Roofs::theoretical;
}

std::string title_of(const std::vector<std::string>& files) {
    const std::filesystem::path first(files.front());
    const std::string name = first.has_filename() ? first.filename().string() : first.parent_path().filename().string();
    return files.size() == 1 ? name : fmt::format("{} and {} more", name, files.size() - 1);
}

}  // namespace

void AnalysisFlags::add_reading_to(CLI::App& command) {
    command.add_option("--machine,--gpu", machine);
    command.add_option("--clock", clock);
    command.add_option("--roofs", roofs)->check(CLI::IsMember({"auto", "theoretical", "measured"}));
    command.add_option("--kernel,-k", kernel);
    command.add_option("--group", group)->check(CLI::IsMember({"launch", "kernel", "phase"}));
    command.add_option("--flop-rule", flop_rule)->check(CLI::IsMember({"corrected", "paper"}));
    command.add_option("--nvtx-depth", nvtx_depth)->check(CLI::Range(0, 64));
}

void AnalysisFlags::add_files_to(CLI::App& command) {
    command.add_option("--csv", output.csv)->expected(0, 1)->default_str("-");
    command.add_option("--json", output.json)->expected(0, 1)->default_str("-");
    command.add_option("-o,--output", output.files)->allow_extra_args(false);
    command.add_option("--theme", theme)->check(CLI::IsMember({"light", "dark"}));
    command.add_option("--top", top);
    command.add_flag("--quiet,-q", output.quiet);
}

void AnalysisFlags::add_to(CLI::App& command) {
    add_reading_to(command);
    add_files_to(command);
    command.add_flag("--no-chart", no_chart);
    command.add_flag("--explain", explain);
}

OutputFlags AnalysisFlags::files() const {
    OutputFlags out = output;
    out.theme = theme == "dark" ? Theme::dark : Theme::light;
    return out;
}

Errors faults(const AnalysisFlags& flags) {
    Errors wrong = faults(flags.output);
    if (const auto clock = clock_of(flags.clock); !clock)
        wrong.insert(wrong.end(), clock.error().begin(), clock.error().end());
    if (const auto keep = kernel_filter(flags.kernel); !keep)
        wrong.insert(wrong.end(), keep.error().begin(), keep.error().end());
    return wrong;
}

Grouping grouping_of(const AnalysisFlags& flags) {
    if (flags.group == "launch") return Grouping::launch;
    return flags.group == "phase" ? Grouping::phase : Grouping::kernel;
}

Result<Analysis> analysis_of(const std::vector<std::string>& files, const AnalysisFlags& flags) {
    const auto clock = clock_of(flags.clock);
    const auto keep = kernel_filter(flags.kernel);
    if (!clock || !keep) return tl::unexpected(faults(flags));

    IngestOptions ingest_options;
    ingest_options.flop_rule = flags.flop_rule == "paper" ? FlopRule::paper : FlopRule::corrected;
    ingest_options.nvtx_depth = flags.nvtx_depth;
    ingest_options.keep = *keep;
    if (!flags.machine.empty())
        if (const auto machine = machine_from(flags.machine)) ingest_options.assumed_cc = machine->compute_capability;
    auto ingested = ingest(files, ingest_options);
    if (!ingested) return tl::unexpected(ingested.error());

    std::vector<Error> notes = std::move(ingested->notes);
    auto machines = machines_for(ingested->machines, flags.machine, notes);
    if (!machines) return tl::unexpected(machines.error());

    AnalysisOptions options;
    options.grouping = grouping_of(flags);
    options.time_sum = flags.flop_rule == "paper" ? TimeSum::mean_rate : TimeSum::exact;
    options.roofline.clock = *clock;
    options.roofline.roofs = roofs_for(flags, *machines, ingested->roofs);
    options.roofline.use_reported_peaks = flags.machine.empty();
    const auto machine_of = [&](const Kernel& k) -> std::size_t {
        for (std::size_t i = 0; i < ingested->machines.size(); ++i)
            if (ingested->machines[i].name == k.device.str()) return i;
        return 0;
    };
    if (machines->empty()) machines->emplace_back();
    Analysis result = analysis(std::move(ingested->launches), std::move(*machines), machine_of, options);
    result.title = title_of(files);
    result.notes = std::move(notes);
    if (ingested->filtered_launches > 0)
        result.notes.push_back({"--kernel", fmt::format("{} launches do not match and are left out of everything",
                                                        ingested->filtered_launches)});
    return result;
}

int run_analysis(const std::vector<std::string>& files, const AnalysisFlags& flags) {
    const OutputFlags output = flags.files();
    const auto result = analysis_of(files, flags);
    if (!result) return bad_input(result.error());
    if (!output.quiet) print_notes(result->notes);
    TextStyle style = terminal_style();
    style.explain = flags.explain;
    style.max_rows = flags.top;
    return emit(*result, output, style, !flags.no_chart);
}

}  // namespace gambrel::app
