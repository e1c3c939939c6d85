#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "app/analysis_flags.hpp"
#include "app/command.hpp"

namespace gambrel::app {
namespace {

namespace fs = std::filesystem;

struct Flags {
    std::string study, folder, csv, output, flop_rule = "paper", theme = "light";
    std::size_t top = 5;
    bool quiet = false;
};

// A run is a folder of files that ncu wrote, one metric each, named out.[anything.]METRIC by the authors' scripts.
bool is_run(const fs::path& folder) {
    std::error_code ec;
    for (const auto& entry : fs::directory_iterator(folder, ec))
        if (entry.path().filename().string().starts_with("out.")) return true;
    return false;
}

std::vector<fs::path> runs_below(const std::string& folder) {
    std::vector<fs::path> runs;
    std::error_code ec;
    for (fs::recursive_directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec))
        if (it->is_directory(ec) && is_run(it->path())) runs.push_back(it->path());
    std::sort(runs.begin(), runs.end());
    return runs;
}

// "PT-fp32-O1-Adam-bw-733727" and "TF-fp16-batch2-fw-amp-732365": the authors' names say what was run.
StudyRun described(const fs::path& path) {
    StudyRun run;
    run.name = path.filename().string();
    const auto has = [&](const char* part) { return run.name.find(part) != std::string::npos; };
    run.framework = has("TF-") ? "TensorFlow" : has("PT-") ? "PyTorch" : path.parent_path().filename().string();
    run.phase = has("-bw") ? "backward" : has("-opt") ? "optimizer" : has("-fw") ? "forward" : run.name;
    run.precision = has("fp16") ? "fp16" : "fp32";
    for (const char* mode : {"noamp", "O0", "O1", "O2", "amp"})
        if (has(mode)) {
            run.precision += fmt::format(" {}", mode);
            break;
        }
    return run;
}

int reproduce_deepcam(const Flags& flags) {
    const auto folders = runs_below(flags.folder);
    if (folders.empty())
        return bad_input(
            {{flags.folder,
              "no DeepCAM runs here; expected folders with files named out.METRIC, such as shared/data/deepcam"}});
    AnalysisFlags analysis;
    analysis.machine = "v100-sxm2-16gb";  // Cori GPU, where the authors ran it
    analysis.flop_rule = flags.flop_rule;
    std::vector<StudyRun> runs;
    for (const auto& folder : folders) {
        auto result = analysis_of({folder.string()}, analysis);
        if (!result) return bad_input(result.error());
        if (!flags.quiet) print_notes(result->notes);
        runs.push_back(described(folder));
        runs.back().analysis = std::move(*result);
        runs.back().analysis.title =
            fmt::format("DeepCAM, {} {} {}", runs.back().framework, runs.back().phase, runs.back().precision);
    }
    if (!flags.output.empty()) {
        std::error_code ec;
        fs::create_directories(flags.output, ec);
        ChartStyle style;
        style.theme = flags.theme == "dark" ? Theme::dark : Theme::light;
        std::vector<PageView> views;
        for (const auto& run : runs) {
            views.push_back({run.name, &run.analysis, nullptr, {}, {}});
            const std::string path = (fs::path(flags.output) / (run.name + ".svg")).string();
            if (!write_file(path, roofline_svg(run.analysis, style))) return kBadInput;
            if (!flags.quiet) fmt::print(stderr, "wrote {}\n", path);
        }
        const std::string page = (fs::path(flags.output) / "deepcam.html").string();
        if (!write_file(page, page_of("DeepCAM on V100 (arXiv 2009.05257)", std::move(views), style.theme)))
            return kBadInput;
        if (!flags.quiet) fmt::print(stderr, "wrote {}\n", page);
    }
    if (flags.csv == "-") return print_result(study_csv(runs)) ? kDone : kBadInput;
    if (!flags.csv.empty() && !write_file(flags.csv, study_csv(runs))) return kBadInput;
    std::string head = "DeepCAM on V100 (arXiv 2009.05257), from the authors' raw counters";
    head += flags.flop_rule == "paper" ? "; FLOP as the paper counts them\n\n" : "; FLOP corrected\n\n";
    return print_result(head + study_text(runs, terminal_style(), flags.top)) ? kDone : kBadInput;
}

}  // namespace

Action setup_reproduce(CLI::App& command) {
    auto flags = std::make_shared<Flags>();
    command.add_option("STUDY", flags->study)->required()->check(CLI::IsMember({"deepcam"}));
    command.add_option("DIR", flags->folder)->required();
    command.add_option("--flop-rule", flags->flop_rule)->check(CLI::IsMember({"corrected", "paper"}));
    command.add_option("--csv", flags->csv)->expected(0, 1)->default_str("-");
    command.add_option("-o,--output", flags->output);
    command.add_option("--theme", flags->theme)->check(CLI::IsMember({"light", "dark"}));
    command.add_option("--top", flags->top);
    command.add_flag("--quiet,-q", flags->quiet);
    return [flags] { return reproduce_deepcam(*flags); };
}

}  // namespace gambrel::app
