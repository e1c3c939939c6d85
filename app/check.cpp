#include <gambrel/compare.hpp>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "app/analysis_flags.hpp"
#include "app/command.hpp"
#include "base/file_bytes.hpp"

namespace gambrel::app {
namespace {

struct CheckFlags {
    AnalysisFlags analysis;
    std::vector<std::string> files;
    std::string min_roof, min_share = "1%", max_time = "5%", max_bytes = "2%";
    std::string baseline, write_baseline, markdown, junit, json;
    bool quiet = false, allow_partial = false;
};

// "60%" and "0.6" are the same; 60 alone would be one or the other.
std::optional<double> share_of(const std::string& flag, const std::string& text, Errors& errors,
                               double most = INFINITY) {
    const bool percent = text.ends_with('%');
    const std::string_view digits = std::string_view(text).substr(0, text.size() - (percent ? 1 : 0));
    double value = 0;
    const auto [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool read = ec == std::errc{} && end == digits.data() + digits.size() && std::isfinite(value) && value >= 0;
    if (read && (percent || value <= 1) && value <= (percent ? 100 * most : most)) return percent ? value / 100 : value;
    errors.push_back({flag, fmt::format("\"{}\" is not a valid share: expected {} such as 60% or 0.6", text,
                                        std::isfinite(most) ? "0% to 100%," : "0% or more,")});
    return std::nullopt;
}

Result<CheckLimits> limits_of(const CheckFlags& flags) {
    Errors errors = faults(flags.analysis);
    CheckLimits limits;
    if (!flags.min_roof.empty()) limits.min_roof = share_of("--min-roof", flags.min_roof, errors, 1);
    limits.min_share = share_of("--min-share", flags.min_share, errors, 1).value_or(0);
    limits.max_time = share_of("--max-time", flags.max_time, errors).value_or(0);
    limits.max_bytes = share_of("--max-bytes", flags.max_bytes, errors).value_or(0);
    if (flags.min_roof.empty() && flags.baseline.empty() && flags.write_baseline.empty())
        errors.push_back({"check", "nothing to check; give --min-roof 60%, --baseline F or --write-baseline F"});
    if (!flags.baseline.empty() && !flags.write_baseline.empty())
        errors.push_back({"check", "--baseline checks against a file, --write-baseline makes one; give one of them"});
    if (!errors.empty()) return tl::unexpected(std::move(errors));
    return limits;
}

// For a baseline each FILE is a run of its own; for a check they are one run, as for analyze.
Result<std::vector<Analysis>> runs_of(const CheckFlags& flags) {
    std::vector<Analysis> runs;
    Errors errors;
    const auto add = [&](const std::vector<std::string>& files) {
        auto run = analysis_of(files, flags.analysis);
        if (!run) {
            errors.insert(errors.end(), run.error().begin(), run.error().end());
            return;
        }
        if (!flags.quiet) print_notes(run->notes);
        runs.push_back(std::move(*run));
    };
    if (flags.write_baseline.empty()) add(flags.files);
    if (!flags.write_baseline.empty())
        for (const auto& file : flags.files) add({file});
    if (!errors.empty()) return tl::unexpected(std::move(errors));
    return runs;
}

Error incomplete(const Analysis& a) {
    return {a.title,
            "was cut short or damaged, so the check would be incomplete; profile again, or give --allow-partial"};
}

// A file of --write-baseline, or an earlier run of any kind that FILE may be.
Result<Baseline> earlier_run(const CheckFlags& flags) {
    if (!std::filesystem::is_directory(flags.baseline)) {
        const auto bytes = base_detail::FileBytes::open(flags.baseline);
        if (!bytes) return tl::unexpected(bytes.error());
        if (names_baseline(bytes->view())) return parse_baseline(bytes->view(), flags.baseline);
    }
    auto run = analysis_of({flags.baseline}, flags.analysis);
    if (!run) {
        Errors errors{
            {flags.baseline, "is not a baseline of `gambrel check --write-baseline`, and cannot be read as a run"}};
        errors.insert(errors.end(), run.error().begin(), run.error().end());
        return tl::unexpected(std::move(errors));
    }
    if (run->partial && !flags.allow_partial) return tl::unexpected(Errors{incomplete(*run)});
    return baseline_of(std::span(&*run, 1));
}

int write_baseline(const CheckFlags& flags, const std::vector<Analysis>& runs) {
    for (const Analysis& run : runs)
        if (run.partial && !flags.allow_partial) return bad_input({incomplete(run)});
    const auto baseline = baseline_of(runs);
    if (!baseline) return bad_input(baseline.error());
    if (!write_output(flags.write_baseline, to_json(*baseline), flags.analysis.output)) return kBadInput;
    if (!flags.quiet)
        say(fmt::format("baseline: {} kernels of {} on {}", baseline->kernels.size(),
                        runs.size() == 1 ? "one run" : fmt::format("{} runs", runs.size()), baseline->machine));
    return kDone;
}

bool write_summary(const std::string& where, const std::string& text, const OutputFlags& flags) {
    return where.empty() || write_output(where, text, flags);
}

int run_check(const CheckFlags& flags) {
    const auto limits = limits_of(flags);
    if (!limits) return bad_input(limits.error());
    const auto runs = runs_of(flags);
    if (!runs) return bad_input(runs.error());
    int status = kDone;
    if (!flags.write_baseline.empty()) status = write_baseline(flags, *runs);
    if (status != kDone || (!flags.write_baseline.empty() && !limits->min_roof)) return status;

    std::optional<Baseline> baseline;
    if (!flags.baseline.empty()) {
        auto earlier = earlier_run(flags);
        if (!earlier) return bad_input(earlier.error());
        baseline = std::move(*earlier);
    }
    const Analysis& analysis = runs->front();
    const auto result = check(analysis, *limits, baseline ? &*baseline : nullptr);
    if (!result) return bad_input(result.error());
    bool ok = write_summary(flags.markdown, check_markdown(*result, analysis.title), flags.analysis.output);
    ok &= write_summary(flags.junit, check_junit(*result, analysis.title), flags.analysis.output);
    ok &= write_summary(flags.json, check_json(*result, analysis.title), flags.analysis.output);
    const bool stdout_taken = flags.markdown == "-" || flags.junit == "-" || flags.json == "-";
    TextStyle style = terminal_style();
    style.max_rows = flags.analysis.output.top;
    if (!stdout_taken && !flags.quiet) ok &= print_result(check_text(*result, style));
    if (!ok) return kBadInput;
    // Nothing to judge is not a pass: a gate that looks at an empty profile must not stay green.
    if (result->items.empty()) return bad_input({{analysis.title, "no kernel could be checked"}});
    // Nor is half a profile: what was lost may be what has become slow. Said even under -q.
    if (result->partial && !flags.allow_partial) return bad_input({incomplete(analysis)});
    return result->passed() ? kDone : kNo;
}

}  // namespace

Action setup_check(Parser& command) {
    auto flags = std::make_shared<CheckFlags>();
    command.add_option("FILE", flags->files).required();
    command.add_option("--min-roof", flags->min_roof);
    command.add_option("--min-share", flags->min_share);
    command.add_option("--baseline", flags->baseline);
    command.add_option("--max-time", flags->max_time);
    command.add_option("--max-bytes", flags->max_bytes);
    command.add_option("--write-baseline", flags->write_baseline);
    command.add_option("--markdown", flags->markdown).optional_value("-");
    command.add_option("--junit", flags->junit).optional_value("-");
    command.add_option("--json", flags->json).optional_value("-");
    command.add_option("--top", flags->analysis.output.top).not_negative();
    command.add_flag("--allow-partial", flags->allow_partial);
    command.add_flag("--quiet,-q", flags->quiet);
    flags->analysis.add_reading_to(command);
    command.add_flag("-f,--force", flags->analysis.output.force);
    return [flags] {
        flags->analysis.output.inputs = flags->files;
        flags->analysis.output.inputs.insert(flags->analysis.output.inputs.end(),
                                             {flags->baseline, flags->analysis.machine});
        flags->analysis.output.quiet = true;  // the summaries of a gate are not announced
        return run_check(*flags);
    };
}

}  // namespace gambrel::app
