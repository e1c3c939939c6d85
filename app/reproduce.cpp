#include <algorithm>
#include <filesystem>
#include <functional>

#include <fmt/format.h>

#include "app/analysis_flags.hpp"
#include "app/command.hpp"
#include "app/explore_output.hpp"
#include "app/interrupt.hpp"
#include "app/progress.hpp"

namespace gambrel::app {
namespace {

namespace fs = std::filesystem;

struct ReproduceFlags {
    std::string study, folder, path, flop_rule = "paper";
    OutputFlags output;
    double min_time = 0;
    bool host_drift = false;
};

constexpr std::size_t kListed = 5, kJoinedKernels = 24;  // unless --top says how many

int write_table(const ReproduceFlags& flags, const std::string& csv, const std::function<std::string()>& text) {
    if (!flags.output.csv.empty() && !write_output(flags.output.csv, csv, flags.output)) return kBadInput;
    if (flags.output.csv == "-") return kDone;
    return print_result(text()) ? kDone : kBadInput;
}

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

int reproduce_deepcam(const ReproduceFlags& flags) {
    const auto folders = runs_below(flags.folder);
    if (folders.empty())
        return bad_input({{flags.folder,
                           "no DeepCAM runs here; expected folders with files named out.METRIC, as in "
                           "github.com/cyanguwa/DeepLearningProfiling"}});
    AnalysisFlags analysis;
    analysis.machine = "v100-sxm2-16gb";  // Cori GPU, where the authors ran it
    analysis.flop_rule = flags.flop_rule;
    std::vector<StudyRun> runs;
    for (const auto& folder : folders) {
        auto result = analysis_of({folder.string()}, analysis);
        if (!result) return bad_input(result.error());
        if (!flags.output.quiet) print_notes(result->notes);
        runs.push_back(described(folder));
        runs.back().analysis = std::move(*result);
        runs.back().analysis.title =
            fmt::format("DeepCAM, {} {} {}", runs.back().framework, runs.back().phase, runs.back().precision);
    }
    if (!flags.path.empty()) {
        std::error_code ec;
        fs::create_directories(flags.path, ec);
        const ChartStyle style = flags.output.chart_style();
        std::vector<PageView> views;
        bool ok = true;
        for (const auto& run : runs) {
            views.push_back({run.name, &run.analysis, nullptr, {}, {}});
            const std::string path = (fs::path(flags.path) / (run.name + ".svg")).string();
            ok &= write_output(path, roofline_svg(run.analysis, style), flags.output);
        }
        const auto page = page_of("DeepCAM on V100 (arXiv 2009.05257)", std::move(views), style.theme);
        ok &= write_output((fs::path(flags.path) / "deepcam.html").string(), page, flags.output);
        if (!ok) return kBadInput;
    }
    return write_table(flags, study_csv(runs), [&] {
        std::string head = "DeepCAM on V100 (arXiv 2009.05257), from the authors' raw counters";
        head += flags.flop_rule == "paper" ? "; FLOP as the paper counts them\n\n" : "; FLOP corrected\n\n";
        return head + study_text(runs, terminal_style(), flags.output.top);
    });
}

// The paper's scaling study: where its designs lead on the convolutions of ResNet-152.
int reproduce_scaling(const ReproduceFlags& flags) {
    const Machine& titan = *find_in_catalogue("titan-xp");
    const auto network = builtin_network("resnet152", {.batch = 256});
    if (!network) return bad_input(network.error());
    ExploreRequest request;
    request.machine = titan;
    request.hardware = *model_inputs(titan);
    request.workload.add(*network, 1, true);
    request.proposed = proposed_designs();
    ExploreOutput output;
    output.output = flags.output;
    output.chart = "designs";
    if (!flags.path.empty()) output.output.files = {flags.path};
    if (const Errors wrong = faults(output); !wrong.empty()) return bad_input(wrong);
    auto report = explore(request);
    if (!report) return bad_input(report.error());
    report->title = "resnet152, batch 256, convolutions";
    return emit(*report, output);
}

// Of every table in the folder that can be read; the others are not needed.
std::vector<GpuPair> pairs_below(const ReproduceFlags& flags) {
    std::vector<GpuPair> pairs;
    for (const auto& [file, precision] : {std::pair{"conv_time_tiles_fp32.csv.gz", Precision::fp32},
                                          {"conv_time_cudnn_fp32.csv.gz", Precision::fp32},
                                          {"conv_time_cudnn_fp16tc.csv.gz", Precision::fp16},
                                          {"gemm_time_tiles_fp32.csv.gz", Precision::fp32},
                                          {"gemm_time_bf16.csv.gz", Precision::bf16},
                                          {"gemm_time_lowp.csv.gz", Precision::bf16}}) {
        const auto table = load_layer_table((fs::path(flags.folder) / file).string(), {precision});
        if (!table) continue;
        const auto more = gpu_pairs(*table, flags.min_time / 1e3, flags.host_drift);
        pairs.insert(pairs.end(), more.begin(), more.end());
    }
    return pairs;
}

// Scales one GPU by factors to another's resources, and compares the predicted speed-up with the measured one.
int reproduce_ratios(const ReproduceFlags& flags) {
    RatioProof all;
    for (const char* file : {"conv_time_tiles_fp32.csv.gz", "gemm_time_tiles_fp32.csv.gz"}) {
        const auto table = load_layer_table((fs::path(flags.folder) / file).string());
        if (!table) return bad_input(table.error());
        const auto proof = ratio_proof(*table, "Tesla P100-PCIE-16GB", flags.min_time / 1e3);
        if (!proof) return bad_input(proof.error());
        all.from = proof->from;
        all.short_rows += proof->short_rows;
        all.rows.insert(all.rows.end(), proof->rows.begin(), proof->rows.end());
    }
    const std::vector<GpuPair> pairs = pairs_below(flags);
    return write_table(flags, proof_csv(all),
                       [&] { return proof_text(all, terminal_style()) + gpu_pairs_text(pairs, terminal_style()); });
}

// DeepCAM's convolutions by counters, model and simulator on one Roofline, in a page that can move the machine.
int reproduce_joined(const ReproduceFlags& flags) {
    LayerRequest request;
    // DeepCAM is DeepLabv3+ with Xception as its encoder.
    if (flags.folder.empty())
        request.network = "deeplabv3plus-xception", request.batch = 2, request.training = true;
    else
        request.table = flags.folder;
    auto layers = load_layers(request);
    if (!layers) return bad_input(layers.error());
    layers->title = "DeepCAM's convolutions";
    JoinedOptions options;
    options.estimator.machine = *find_in_catalogue("v100-sxm2-16gb");
    options.estimator.simulation.sample = 5;
    options.longest = flags.output.top;
    const auto study = [&] {
        const InterruptGuard interrupt;
        ProgressBar bar(flags.output.quiet);
        options.progress = [&](double done, const std::string& layer) {
            bar.show(done, layer);
            return !InterruptGuard::asked();
        };
        return joined_study(*layers, options);
    }();
    if (!study) return bad_input(study.error());
    if (!flags.output.quiet) print_notes(study->run.notes);
    if (!flags.path.empty()) {
        AnalysisOptions judged;
        judged.grouping = Grouping::launch;
        judged.roofline.roofs = Roofs::measured;
        const Analysis all = analysis(study->run, judged);
        const auto page = page_of("DeepCAM on a V100: measured, modelled, simulated", {joined_view(*study, all)},
                                  flags.output.chart_style().theme);
        if (!write_output(flags.path, page, flags.output)) return kBadInput;
    }
    return write_table(flags, joined_csv(*study), [&] { return joined_text(*study, terminal_style()); });
}

int reproduce(const ReproduceFlags& flags) {
    if (flags.study == "joined") return reproduce_joined(flags);
    if (flags.study == "delta-scaling") {
        if (flags.folder.empty()) return reproduce_scaling(flags);
        return bad_input({{"DIR", fmt::format("\"{}\": delta-scaling needs no data", flags.folder)}});
    }
    if (flags.folder.empty()) return bad_input({{"DIR", fmt::format("{} needs the folder of its data", flags.study)}});
    return flags.study == "scaling-proof" ? reproduce_ratios(flags) : reproduce_deepcam(flags);
}

}  // namespace

Action setup_reproduce(Parser& command) {
    auto flags = std::make_shared<ReproduceFlags>();
    command.add_option("STUDY", flags->study)
        .required()
        .one_of({"deepcam", "delta-scaling", "scaling-proof", "joined"});
    command.add_option("DIR", flags->folder);
    command.add_option("--min-ms", flags->min_time).not_negative();
    command.add_flag("--host-drift", flags->host_drift);
    command.add_option("--flop-rule", flags->flop_rule).one_of({"corrected", "paper"});
    command.add_option("--csv", flags->output.csv).optional_value("-");
    command.add_option("-o,--output", flags->path);
    command.add_option("--theme", flags->output.theme).one_of({"light", "dark"});
    flags->output.top = 0;
    command.add_option("--top", flags->output.top).not_negative();
    command.add_flag("-f,--force", flags->output.force);
    command.add_flag("--quiet,-q", flags->output.quiet);
    return [flags] {
        if (flags->output.top == 0) flags->output.top = flags->study == "joined" ? kJoinedKernels : kListed;
        return reproduce(*flags);
    };
}

}  // namespace gambrel::app
