// The only room that formats: an Analysis as table, terminal chart, CSV, JSON, SVG, PNG and PDF. Computes no verdict.
// All functions return text or bytes; none writes to a terminal. Equal input gives equal bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <gambrel/base.hpp>
#include <gambrel/compare.hpp>
#include <gambrel/doctor.hpp>
#include <gambrel/ert.hpp>
#include <gambrel/estimate.hpp>
#include <gambrel/measure.hpp>
#include <gambrel/page.hpp>
#include <gambrel/roofline.hpp>

namespace gambrel {

enum class Theme : std::uint8_t { light, dark };

struct TextStyle {
    int width = 100;      // columns of the terminal; lines never exceed it
    bool color = false;   // ANSI colours
    bool unicode = true;  // box drawing and braille; plain ASCII otherwise
    std::size_t max_rows = 30;
    bool explain = false;  // under each row: the rule of each amount, the time of each roof, findings
};

std::string text_table(const Analysis& analysis, const TextStyle& style);
std::string terminal_chart(const Analysis& analysis, const TextStyle& style);

// One row per group, base units, empty where unknown.
std::string csv(const Analysis& analysis);
std::string json(const Analysis& analysis);

struct ChartStyle {
    Theme theme = Theme::light;
    double width = 960, height = 600;  // CSS pixels
    std::size_t max_labels = 12;       // kernels named beside their points, the longest-running first
    std::size_t max_kernels = 400;     // drawn; the rest is counted in a note under the chart
};
std::string roofline_svg(const Analysis& analysis, const ChartStyle& style = {});

// The same drawing as bytes of another format, through librsvg.
Result<std::string> svg_to_png(const std::string& svg, double scale = 2.0);
Result<std::string> svg_to_pdf(const std::string& svg);

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

// Several runs of one application side by side, as arXiv 2009.05257 tells of DeepCAM: launches, time, work by pipe,
// bytes and intensity at each level, the share of kernels that do no FLOP, the kernels that take the time.
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
std::string sweep_svg(const Measurement& measurement, const ChartStyle& style = {});
std::string ert_text(const ErtImport& imported, const TextStyle& style);
std::string ert_json(const Measurement& measurement);
std::string doctor_text(const std::vector<Finding>& findings, const TextStyle& style);
Analysis machine_analysis(Machine machine, std::string title);  // a machine alone: measured roofs, no kernel

// What layers would do. CSV: the input's columns, then pred_tile_m ... pred_origin. JSON: the layers, and the same as
// kernels on their machine (`roofline`), which `gambrel compare` reads back. The strip of layers on a page: row i is
// that of kernel i of to_run.
std::string estimates_text(const Estimates& estimates, const TextStyle& style);
std::string estimates_csv(const Estimates& estimates);
std::string estimates_json(const Estimates& estimates, const Analysis& roofline);
std::vector<PageLayer> page_layers(const Estimates& estimates);

// An equation of a prediction, what was put in, and what came out; none for a simulation.
struct ExplainedTerm {
    std::string name, equation, values, result;
};
std::vector<ExplainedTerm> explanation(const Estimate& estimate);
std::string explained_text(const std::string& title, const std::vector<ExplainedTerm>& terms, const TextStyle& style);

}  // namespace gambrel
