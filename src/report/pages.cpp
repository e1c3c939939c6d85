#include <gambrel/report.hpp>

#include <fmt/format.h>

#include "report/answer_text.hpp"
#include "report/estimate_words.hpp"
#include "report/model_summary.hpp"

namespace gambrel {
namespace {

using namespace report_detail;

Result<std::string> page_of(std::string title, std::vector<PageView> views, const PageStyle& style) {
    PageInput input;
    input.title = std::move(title), input.command = style.command, input.dark = style.theme == Theme::dark;
    input.views = std::move(views);
    return html_page(input);
}

Result<std::string> page_of(PageView view, const PageStyle& style) {
    std::string title = view.title;
    return page_of(std::move(title), {std::move(view)}, style);
}

// The layers on the machine that an exploration starts from, as `predict` has them, for the sliders of the page.
std::optional<Estimates> start_of(const ExplorationReport& report) {
    LayerSet layers;
    layers.title = report.title;
    layers.network.emplace();
    for (const Workload::Item& item : report.workload.items) {
        layers.network->layers.push_back(item.layer);
        layers.network->layers.back().repeat = item.weight;
    }
    EstimatorOptions options;
    options.machine = report.base;
    // What the exploration was asked for beside the machine, by its inputs: a report does not keep the flags.
    const auto as_sold = model_inputs(report.base);
    if (!as_sold) return std::nullopt;
    if (as_sold->clock != report.hardware.clock) options.clock = report.hardware.clock;
    if (as_sold->dram_bandwidth != report.hardware.dram_bandwidth) options.roofs = Roofs::theoretical;
    auto estimates = estimate(std::make_shared<const LayerSet>(std::move(layers)), options);
    if (!estimates) return std::nullopt;
    return std::move(*estimates);
}

Analysis judged_layers(const Estimates& estimates) {
    Run run = to_run(estimates);
    AnalysisOptions options;
    options.grouping = Grouping::launch;
    options.roofline.roofs = default_roofs(run);
    return analysis(std::move(run), options);
}

// `judged` must outlive the view.
PageView estimated_view(const Estimates& estimates, const Analysis& judged) {
    PageView view;
    view.title = judged.title;
    view.analysis = &judged;
    view.layers = page_layers(estimates);
    view.model = page_model(estimates);
    if (estimates.options.method != Method::simulation) {
        // Conditions and rate first: a time alone says nothing of a batch.
        view.answer =
            estimates.summary ? summary_sentence(*estimates.summary) + " " : conditions_text(estimates) + ". ";
        view.answer += answer_text(judged);
    }
    return view;
}

}  // namespace

Result<std::string> result_page(const Analysis& analysis, const PageStyle& style) {
    PageView view;
    view.title = analysis.title;
    view.analysis = &analysis;
    return page_of(std::move(view), style);
}

Result<std::string> result_page(const Estimates& estimates, const Analysis& roofline, const PageStyle& style) {
    PageView view = estimated_view(estimates, roofline);
    view.title = fmt::format("{} on {}, {}", roofline.title, estimates.machine(), name(roofline.origin));
    return page_of(std::move(view), style);
}

Result<std::string> result_page(std::span<const Estimates> each, const PageStyle& style) {
    std::vector<const Estimates*> answered;
    std::vector<Analysis> judged;
    Errors refused;
    for (const Estimates& e : each) {
        if (!e.refused.empty()) {
            refused.push_back({e.machine(), "no estimate: " + e.refused});
            continue;
        }
        answered.push_back(&e);
        judged.push_back(judged_layers(e));
        judged.back().title = e.machine();
    }
    for (Analysis& a : judged) a.notes.insert(a.notes.begin(), refused.begin(), refused.end());
    std::vector<Comparison> moved;
    moved.reserve(each.size());
    std::vector<PageView> views;
    for (std::size_t i = 1; i < judged.size(); ++i) {
        moved.push_back(comparison(judged.front(), judged[i], {MatchBy::layer}));
        views.push_back(
            {fmt::format("{} → {}", judged.front().title, judged[i].title), nullptr, &moved.back(), {}, {}});
        views.back().answer = side_by_side_answer(each);
    }
    for (std::size_t i = 0; i < judged.size(); ++i) views.push_back(estimated_view(*answered[i], judged[i]));
    if (!refused.empty() && views.size() == 1) views.front().answer += " " + side_by_side_answer(each);
    return page_of(fmt::format("{} on {} GPUs, modelled", each.front().layers->title, each.size()), std::move(views),
                   style);
}

Result<std::string> result_page(std::span<const Comparison> comparisons, const PageStyle& style) {
    std::vector<PageView> views;
    views.reserve(2 * comparisons.size() + 1);
    for (const auto& c : comparisons)
        views.push_back({fmt::format("{} → {}", c.before.title, c.after.title), nullptr, &c, {}, {}});
    for (const auto& c : comparisons) views.push_back({c.after.title, &c.after, nullptr, {}, {}});
    const Analysis& first = comparisons.front().before;
    views.push_back({first.title, &first, nullptr, {}, {}});
    std::string title = views.front().title;
    return page_of(std::move(title), std::move(views), style);
}

Result<std::string> result_page(const ExplorationReport& report, const PageStyle& style) {
    const Analysis start = design_analysis(report, report.designs.front());
    std::optional<Comparison> moved;
    if (const EvaluatedDesign* best = recommended_design(report))
        moved = comparison(start, design_analysis(report, *best), {MatchBy::layer});
    PageView view = explore_view(report, moved ? &*moved : nullptr);
    if (!moved) view.analysis = &start;
    const auto estimates = start_of(report);
    if (!estimates) return page_of(std::move(view), style);
    const Analysis computed = judged_layers(*estimates);
    PageView trial = estimated_view(*estimates, computed);
    trial.title = "Try a design";
    std::string title = view.title;
    return page_of(std::move(title), {std::move(view), std::move(trial)}, style);
}

Result<std::string> result_page(const Measurement& measurement, const PageStyle& style) {
    const Machine machine = measured_machine(measurement);
    const Analysis alone = machine_analysis(machine, "Measured Roofline");
    return page_of(fmt::format("{}: {}", alone.title, machine.name), {measure_view(measurement, alone)}, style);
}

}  // namespace gambrel
