#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "app/analysis_flags.hpp"
#include "app/child_process.hpp"
#include "app/command.hpp"
#include "app/ncu_command.hpp"
#include "app/nsys_command.hpp"

namespace gambrel::app {
namespace {

namespace fs = std::filesystem;

struct ProfileFlags {
    AnalysisFlags analysis;
    NcuSettings ncu;
    std::string ncu_path, nsys_path, cc, tensor_by = "auto";
    std::vector<std::string> misplaced;
    bool dry_run = false, trace = false;
};

bool is_report(const std::string& path) { return fs::path(path).extension() == ".ncu-rep"; }

// Of the files behind -o one is the report; the others are charts and tables of the analysis.
Result<std::string> take_report_name(std::vector<std::string>& files, const std::string& program) {
    std::vector<std::string> reports;
    for (const auto& f : files)
        if (is_report(f)) reports.push_back(f);
    std::erase_if(files, is_report);
    if (reports.size() > 1)
        return failure("-o", fmt::format("{} and {}: one run writes one report", reports[0], reports[1]));
    return reports.empty() ? fmt::format("gambrel-{}.ncu-rep", fs::path(program).filename().string()) : reports.front();
}

TensorBy tensor_by(const std::string& flag) {
    return flag == "operations"     ? TensorBy::operations
           : flag == "instructions" ? TensorBy::instructions
                                    : TensorBy::automatic;
}

// All that the command line needs. A dry run may be made for another machine, so there ncu and the program need not be
// here.
Result<ProfileRun> prepared(ProfileFlags& flags) {
    Errors errors;
    const auto keep = [&](const Errors& more) { errors.insert(errors.end(), more.begin(), more.end()); };
    ProfileRun run;
    run.settings = flags.ncu;
    run.settings.kernel = flags.analysis.kernel;
    run.program = arguments_behind_dashes();
    auto gpu = find_gpu(flags.analysis.machine, flags.cc);
    if (!gpu) keep(gpu.error());
    // A GPU that no ncu can profile is the answer, whatever else is missing.
    if (gpu)
        if (const auto any = metrics_to_collect({gpu->cc, gpu->chip, std::nullopt, TensorBy::automatic}); !any)
            return tl::unexpected(any.error());
    if (!flags.dry_run && !find_program(run.program.front()))
        keep({{run.program.front(),
               "is not a program that can be run; a path needs a slash (./app), and arguments stand apart"}});
    auto ncu = find_ncu(flags.ncu_path);
    if (!ncu && !flags.dry_run) keep(ncu.error());
    run.ncu = ncu ? std::move(*ncu) : NcuTool{flags.ncu_path.empty() ? "ncu" : flags.ncu_path, std::nullopt};
    auto report = take_report_name(flags.analysis.output.files, run.program.front());
    if (!report) keep(report.error());
    keep(faults(flags.analysis));
    if (!errors.empty()) return tl::unexpected(std::move(errors));

    run.report = std::move(*report);
    run.gpu = std::move(*gpu);
    auto collection = metrics_to_collect({run.gpu.cc, run.gpu.chip, run.ncu.version, tensor_by(flags.tensor_by)});
    if (!collection) return tl::unexpected(collection.error());
    run.collection = std::move(*collection);
    return run;
}

int failed(const ProfileRun& run, const ChildResult& child, bool report_exists) {
    std::string what = fmt::format("ended with status {}", child.status);
    if (!child.started) what = fmt::format("could not be started: {}", child.output);
    if (child.signal != 0) what = fmt::format("was ended by signal {} ({})", child.signal, strsignal(child.signal));
    if (child.status == 0 && child.signal == 0 && child.started) what = fmt::format("wrote no report {}", run.report);
    say(fmt::format("error: {}: {}", run.ncu.path, what));
    if (const std::string help = advice(child.output); child.started && !help.empty()) say(help);
    if (child.output.find("ERR_NVGPUCTRPERM") != std::string::npos)
        say("A trace needs no permission: gambrel profile --trace -- " + shell_quoted(run.program));
    if (report_exists) say("What it measured until then: gambrel analyze " + shell_quoted({run.report}));
    return kBadInput;
}

// The report of an earlier run, moved aside while ncu writes: else it could be taken for this run's. It goes only when
// the new one is whole.
class OldReport {
public:
    explicit OldReport(std::string path) : path_(std::move(path)) {}

    Result<void> move_aside() {
        std::error_code fault;
        if (!fs::exists(path_, fault)) return {};
        aside_ = path_ + ".old";
        for (int n = 2; fs::exists(aside_, fault); ++n) aside_ = fmt::format("{}.old{}", path_, n);
        fs::rename(path_, aside_, fault);
        if (!fault) return {};
        return failure(path_, fmt::format("cannot be moved aside before ncu writes it: {}", fault.message()));
    }
    void settle(bool replaced, bool whole) const {
        std::error_code fault;
        if (aside_.empty()) return;
        if (!replaced)
            fs::rename(aside_, path_, fault);
        else if (whole)
            fs::remove(aside_, fault);
        else
            say(fmt::format("note: {}: not whole; the report of the earlier run is kept as {}", path_, aside_));
    }

private:
    std::string path_, aside_;
};

int profile_and_analyze(const ProfileRun& run, const ProfileFlags& flags) {
    std::error_code fault;
    if (fs::exists(run.report, fault) && !flags.analysis.output.force)
        return bad_input({{run.report, "exists; --force replaces it, -o OTHER.ncu-rep keeps both"}});
    OldReport old(run.report);
    if (const auto moved = old.move_aside(); !moved) return bad_input(moved.error());
    const ChildResult child = run_child(ncu_arguments(run), Echo::to_stderr);
    const bool there = fs::exists(run.report, fault);
    const bool whole = there && child.status == 0 && child.signal == 0 && !child.interrupted;
    old.settle(there, whole);
    if (there && child.interrupted)
        say("note: interrupted; this is what was measured until then");
    else if (!whole)
        return failed(run, child, there);
    return run_analysis({run.report}, flags.analysis);
}

// The program and what it is run with, or all that is missing.
Result<NsysRun> prepared_trace(ProfileFlags& flags) {
    Errors errors = faults(flags.analysis);
    NsysRun run;
    run.program = arguments_behind_dashes();
    if (!flags.dry_run && !find_program(run.program.front()))
        errors.push_back({run.program.front(), "is not a program that can be run; a path needs a slash (./app)"});
    const auto nsys = find_nsys(flags.nsys_path);
    if (!nsys && !flags.dry_run) errors.insert(errors.end(), nsys.error().begin(), nsys.error().end());
    run.nsys = nsys ? *nsys : "nsys";
    run.records_shapes =
        nsys && fs::path(run.program.front()).filename().string().starts_with("python") && can_record_shapes(*nsys);
    auto& files = flags.analysis.output.files;
    const auto is_ours = [](const std::string& f) { return fs::path(f).extension() == ".nsys-rep"; };
    const auto named = std::find_if(files.begin(), files.end(), is_ours);
    run.report = named != files.end()
                     ? *named
                     : fmt::format("gambrel-{}.nsys-rep", fs::path(run.program.front()).filename().string());
    std::erase_if(files, is_ours);
    std::error_code none;
    for (const std::string& file : {run.report, run.exported()})
        if (!flags.dry_run && fs::exists(file, none) && !flags.analysis.output.force)
            errors.push_back({file, "exists; --force replaces it, -o OTHER.nsys-rep keeps both"});
    if (!errors.empty()) return tl::unexpected(std::move(errors));
    return run;
}

int trace_and_analyze(ProfileFlags& flags) {
    const auto ready = prepared_trace(flags);
    if (!ready) return bad_input(ready.error());
    const auto record = record_arguments(*ready), convert = export_arguments(*ready);
    if (flags.dry_run)
        return print_result(shell_quoted(record) + "\n" + shell_quoted(convert) + "\n") ? kDone : kBadInput;
    if (const std::string why = why_no_counters(); !flags.analysis.output.quiet)
        say(fmt::format("note: {}{}: times are measured by nsys, work and bytes are modelled", why,
                        why.empty() ? "a trace" : "; a trace instead"));
    for (const auto* step : {&record, &convert}) {
        const ChildResult child = run_child(*step, Echo::to_stderr);
        if (child.started && child.status == 0 && child.signal == 0) continue;
        // A program that fails still leaves a trace of what it did.
        std::error_code none;
        if (step == &record && child.started && fs::exists(ready->report, none)) {
            say(fmt::format("note: {} ended with status {}; what it did until then is analysed", ready->program.front(),
                            child.status));
            continue;
        }
        say(fmt::format("error: {}: {}", step->front(),
                        child.started ? fmt::format("ended with status {}", child.status)
                                      : "could not be started: " + child.output));
        return kBadInput;
    }
    return run_analysis({ready->exported()}, flags.analysis);
}

int run_profile(ProfileFlags& flags) {
    if (!flags.misplaced.empty())
        return bad_input({{flags.misplaced.front(), fmt::format("write -- before the program: gambrel profile -- {}",
                                                                flags.misplaced.front())}});
    if (arguments_behind_dashes().empty())
        return bad_input({{"profile", "no program to run: gambrel profile -- APP ARGS"}});
    if (flags.trace) return trace_and_analyze(flags);
    const auto ready = prepared(flags);
    if (!ready) return bad_input(ready.error());
    if (!flags.analysis.output.quiet) say(statement(*ready));
    if (flags.dry_run) return print_result(shell_quoted(ncu_arguments(*ready)) + "\n") ? kDone : kBadInput;
    return profile_and_analyze(*ready, flags);
}

}  // namespace

std::vector<std::string>& arguments_behind_dashes() {
    static std::vector<std::string> arguments;
    return arguments;
}

Action setup_profile(Parser& command) {
    auto flags = std::make_shared<ProfileFlags>();
    command.add_option("APP", flags->misplaced);
    command.add_option("--ncu", flags->ncu_path);
    command.add_option("--cc", flags->cc);
    command.add_option("--clock-control", flags->ncu.clock_control).one_of({"base", "none"});
    command.add_option("--cache-control", flags->ncu.cache_control).one_of({"all", "none"});
    command.add_option("--replay-mode", flags->ncu.replay_mode).one_of({"kernel", "application"});
    command.add_option("--launch-skip", flags->ncu.launch_skip);
    command.add_option("--launch-count", flags->ncu.launch_count);
    command.add_option("--nvtx-include", flags->ncu.nvtx_include).one_value();
    command.add_option("--tensor-by", flags->tensor_by).one_of({"auto", "operations", "instructions"});
    command.add_flag("--dry-run", flags->dry_run);
    command.add_flag("--trace", flags->trace);
    command.add_option("--nsys", flags->nsys_path);
    flags->analysis.add_to(command);
    return [flags] { return run_profile(*flags); };
}

}  // namespace gambrel::app
