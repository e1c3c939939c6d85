// The only room that formats: results as text, CSV, JSON, Markdown, JUnit, as charts and tables (chart.hpp), and as one
// interactive page. Computes no verdict. All functions return text or bytes; none writes to a terminal. Equal input
// gives equal bytes. Every picture says whether its numbers were measured, modelled, simulated or derived.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <gambrel/base.hpp>
#include <gambrel/chart.hpp>
#include <gambrel/compare.hpp>
#include <gambrel/estimate.hpp>
#include <gambrel/explore.hpp>
#include <gambrel/ingest.hpp>
#include <gambrel/inpage.hpp>
#include <gambrel/measure.hpp>
#include <gambrel/roofline.hpp>
#include <gambrel/trace.hpp>
#include <gambrel/validate.hpp>

namespace gambrel {

// An analysis. CSV: one row per group, base units, empty where unknown.
std::string text_table(const Analysis& analysis, const TextStyle& style);
std::string terminal_chart(const Analysis& analysis, const TextStyle& style);
std::string csv(const Analysis& analysis);
std::string json(const Analysis& analysis);
std::string roofline_svg(const Analysis& analysis, const ChartStyle& style = {});

// Comparisons, usually of several results with the first. In the chart an arrow leads from where a point was.
std::string comparison_text(std::span<const Comparison> comparisons, const TextStyle& style);
std::string comparison_csv(std::span<const Comparison> comparisons);
std::string comparison_json(std::span<const Comparison> comparisons);
std::string comparison_svg(const Comparison& comparison, const ChartStyle& style = {});

// A gate's verdict: failures first, for a terminal, a pull request, and what CI systems read.
std::string check_text(const CheckResult& result, const TextStyle& style);
std::string check_markdown(const CheckResult& result, std::string_view title);
std::string check_junit(const CheckResult& result, std::string_view title);
std::string check_json(const CheckResult& result, std::string_view title);

// Several runs of one application side by side, as arXiv 2009.05257 compares those of DeepCAM: launches, time, work by
// pipe, bytes and intensity at each level, the share of kernels that do no FLOP, the longest kernels.
struct StudyRun {
    std::string framework, name, phase, precision;
    Analysis analysis;  // grouped by kernel
};
std::string study_text(std::span<const StudyRun> runs, const TextStyle& style, std::size_t top_kernels);
std::string study_csv(std::span<const StudyRun> runs);

// A catalogue listing, and one machine with the origin and citation of each number.
std::string machine_list(std::span<const Machine> machines, const TextStyle& style);
std::string machine_sheet(const Machine& machine, const TextStyle& style);
std::string machine_list_csv(std::span<const Machine> machines);

// What `gambrel measure` found: a table, its rows as CSV, the sweeps over working sets with their plateaus, and the
// result in the form of the Empirical Roofline Toolkit. The Roofline of the machine is roofline_svg of
// machine_analysis.
std::string measurement_text(const Measurement& measurement, const TextStyle& style);
std::string cluster_text(const ClusterSummary& summary, const TextStyle& style);
std::string measurement_csv(const Measurement& measurement);
std::vector<Chart> sweep_charts(const Measurement& measurement);  // one for each sweep
std::string sweep_svg(const Measurement& measurement, const ChartStyle& style = {});
// `plateaus` are those that gambrel finds in the imported sweep.
std::string ert_text(const ErtImport& imported, const std::vector<Plateau>& plateaus, const TextStyle& style);
std::string ert_json(const Measurement& measurement);
// Every kernel of a device once: a table, and the file that a user can attach to a report.
std::string self_test_text(const SelfTest& test, const TextStyle& style);
std::string self_test_json(const SelfTest& test);

// One thing that `gambrel doctor` looked at.
enum class Health : std::uint8_t { good, poor, missing };
struct HealthCheck {
    Health health = Health::good;
    std::string what;     // "NVIDIA driver"
    std::string found;    // "13.0", "libcuda.so.1 cannot be opened"
    std::string follows;  // what can or cannot be done
    std::string fix;      // a command or a step; "" if nothing is to be done
};
std::string health_text(const std::vector<HealthCheck>& checks, const TextStyle& style);
Analysis machine_analysis(Machine machine, std::string title);  // a machine alone: measured roofs, no kernel

// What layers would do. CSV: the input's columns, then pred_tile_m ... pred_origin. JSON: the layers, and the same as
// kernels on their machine (`roofline`), which `gambrel compare` reads back.
std::string estimates_text(const Estimates& estimates, const TextStyle& style);
std::string estimates_csv(const Estimates& estimates);
// That CSV row by row.
class EstimateRowsCsv {
public:
    EstimateRowsCsv(std::vector<std::string> columns, Method method, bool partial = false);
    [[nodiscard]] const std::string& heading() const { return heading_; }
    void add(std::string& text, const StreamedRow& row) const;

private:
    std::size_t given_;
    std::string heading_;
    std::string end_;  // of a row with figures
};
std::string estimates_json(const Estimates& estimates, const Analysis& roofline);
// The same network on several GPUs: one column for each.
std::string side_by_side_text(std::span<const Estimates> each, const TextStyle& style);
std::string side_by_side_csv(std::span<const Estimates> each);
std::string side_by_side_json(std::span<const Estimates> each);
// "A100 is 1.8x as fast as L40S (83 ms against 151 ms), which waits 66 ms longer for DRAM (...)."; empty for fewer than
// two.
std::string side_by_side_answer(std::span<const Estimates> each);

// An equation of a prediction, what was put in, and what came out; none for a simulation.
struct ExplainedTerm {
    std::string name, equation, values, result;
};
std::vector<ExplainedTerm> explanation(const Estimate& estimate);
std::string explained_text(const std::string& title, const std::vector<ExplainedTerm>& terms, const TextStyle& style);

// An exploration. designs: bars of time by what it waits for. sensitivity: bars of elasticity. map: two resources with
// lines of equal speed-up. pareto: speed-up against cost.
enum class ExploreChart : std::uint8_t { designs, sensitivity, map, pareto };
inline constexpr std::size_t kExploreCharts = 4;
std::string_view name(ExploreChart chart);
std::optional<ExploreChart> explore_chart_from(std::string_view name);
// The answer first and last; between them tables, then the charts if asked for.
std::string explore_text(const ExplorationReport& report, const TextStyle& style, bool charts = false);
// "" where the report holds nothing to draw.
std::string explore_terminal(const ExplorationReport& report, ExploreChart chart, const TextStyle& style);
std::string explore_svg(const ExplorationReport& report, ExploreChart chart, const ChartStyle& style = {});
std::string explore_json(const ExplorationReport& report);
// One row per design: those of the text, then the front.
std::string explore_csv(const ExplorationReport& report);

// How far predicted ratios between two GPUs can be trusted.
std::string proof_text(const RatioProof& proof, const TextStyle& style);
std::string proof_csv(const RatioProof& proof);
std::string gpu_pairs_text(const std::vector<GpuPair>& pairs, const TextStyle& style);

// The models compared with measured rows. Markdown is for publishing: mean errors by precision, pass and algorithm,
// then every row; `made_by` is the command.
std::string validation_text(const Validation& validation, const std::string& title, const TextStyle& style,
                            std::size_t worst);
std::string validation_csv(const Validation& validation);
std::string validation_json(const Validation& v, const std::vector<HeldOutErrors>& held_out = {});
std::string held_out_text(const std::vector<HeldOutErrors>& lines, const TextStyle& style);
std::string validation_markdown(const Validation& validation, const std::string& title, const std::string& made_by);
// Predicted against measured, one for each quantity that the rows have.
std::vector<Chart> validation_charts(const Validation& validation);
std::string validation_svg(const Validation& validation, const std::string& title, Theme theme);

// The same kernels measured, modelled and simulated. CSV: one row for each kernel and origin.
std::string joined_text(const JoinedStudy& study, const TextStyle& style);
std::string joined_csv(const JoinedStudy& study);

// One self-contained, interactive HTML page for results of any origin, in views that the reader switches between. A
// part that is empty is not shown. The page makes no network request.

// One layer of a network, in the order in which it runs.
struct PageLayer {
    std::string name;
    std::string detail;              // shape, tile: whatever explains it, on one line
    Seconds time{};                  // its width in the strip
    std::string bottleneck;          // its colour: "DRAM", "L2", "Tensor FP16", "DRAM latency"
    std::optional<std::size_t> row;  // of the view's analysis: a click isolates that kernel
};
// Layer i is kernel i of to_run.
std::vector<PageLayer> page_layers(const Estimates& estimates);

// What a page needs to compute its layers for another machine.
struct PageModel {
    struct Placed {
        Layer layer;
        std::size_t row = 0;  // of the view's analysis
        std::size_t machine = 0;
        std::optional<Frequency> clock;  // that the row or the command gave
        double times = 1;                // that the row holds it
        Bytes extra{};                   // that the row moves at every level beside its layers
    };
    std::vector<Machine> machines;
    std::vector<Placed> layers;
    Roofs roofs = Roofs::measured;
    std::optional<NetworkRecipe> recipe = {};  // that made the layers: they can be made for another batch or sequence
    // What the recipe came to; 0: the network does not have it.
    std::int64_t batch = 0, sequence = 0, context = 0;
    bool traced = false;         // times of rows are measured: the model says by how much they change
    bool any_precision = false;  // all layers may be stored in another one, as --precision does it
};
// Nothing where the page would compute something else: simulations, the paper's equations, tiles that were given or
// searched for, machines with an architecture of their own.
std::optional<PageModel> page_model(const Estimates& estimates);

// The layers of a trace's kernels, collected while it is read (TraceOptions::on_modelled).
class LaunchLayers {
public:
    void add(const Kernel& launch, const LaunchLayer& of);
    // Of a trace that was grouped by kernel. Nothing where no layer is known, or where there are too many for a page.
    [[nodiscard]] std::optional<PageModel> page_model(const Analysis& analysis) const;

private:
    struct Counted {
        LaunchLayer of;
        double launches = 0;
    };
    struct Row {
        std::vector<Counted> layers;  // in the order that they were met
        std::unordered_map<const LaunchLayer*, std::size_t> index;
    };
    std::map<std::array<Symbol, 3>, Row> rows_;  // by name, phase and device
    std::size_t layers_ = 0;
};

// A view as a page holds it, read back by read_page: shown as it was, whatever command made it.
struct SavedView {
    std::string title, json;
};

struct PageView {
    std::string title;                       // on its tab
    const Analysis* analysis = nullptr;      // must outlive the call of html_page
    const Comparison* comparison = nullptr;  // in place of an analysis; must outlive the call too
    std::vector<PageLayer> layers;
    std::vector<Chart> charts;
    std::vector<BarChart> bars{};
    std::vector<Table> tables{};
    std::string command{};             // that made it, if it is not the page's
    std::optional<SavedView> saved{};  // in place of all the above but the title
    std::string answer{};              // the first sentence, where it is not that of the analysis
    std::optional<PageModel> model{};  // the page can compute this view again
    // The rows are the same kernels by several origins, told apart by their phases: nothing is summed over all.
    bool side_by_side = false;
};
// `machine` is machine_analysis of what was measured: its Roofline stands beside the sweeps.
PageView measure_view(const Measurement& measurement, const Analysis& machine);
// `moved`: the start and the recommended design, layer by layer. Null if there is no such design.
PageView explore_view(const ExplorationReport& report, const Comparison* moved);

// `analysis` is of study.run, a row for each launch.
PageView joined_view(const JoinedStudy& study, const Analysis& analysis);

struct PageInput {
    std::string title;
    std::string command;  // that made it, as one would type it
    bool dark = false;    // else as the reader's system has it; the page can be switched
    std::vector<PageView> views;
    bool overview = false;  // a first tab that summarizes all views
};
// Fails only in a build without the page (GAMBREL_PAGE=OFF).
Result<std::string> html_page(const PageInput& input);

// The views of a page that html_page made with this version's format. Every index and type that the page's scripts rely
// on is checked; all faults at once.
Result<std::vector<SavedView>> read_page(std::string_view html, const std::string& source);
bool is_page(std::string_view text);

// One result as one whole page, as every command that takes `-o page.html` writes it. Pages of several results are made
// of views, above. Fails only in a build without the page (GAMBREL_PAGE=OFF).
struct PageStyle {
    std::string command = {};  // that made it, as one would type it
    Theme theme = Theme::light;
};
Result<std::string> result_page(const Analysis& analysis, const PageStyle& style);
// `roofline` is the analysis of to_run(estimates).
Result<std::string> result_page(const Estimates& estimates, const Analysis& roofline, const PageStyle& style);
// One network on several GPUs: the answer, and how its layers move from the first to the second; then each by itself.
Result<std::string> result_page(std::span<const Estimates> each, const PageStyle& style);
// The comparisons first, then each side of them.
Result<std::string> result_page(std::span<const Comparison> comparisons, const PageStyle& style);
// Layers on the Roofline, at the start and at the recommended design.
Result<std::string> result_page(const ExplorationReport& report, const PageStyle& style);
Result<std::string> result_page(const Measurement& measurement, const PageStyle& style);

}  // namespace gambrel
