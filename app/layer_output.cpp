#include "app/layer_output.hpp"

#include <optional>

#include <gambrel/report.hpp>

#include "app/command.hpp"
#include "app/interrupt.hpp"
#include "app/progress.hpp"

namespace gambrel::app {

Result<Estimates> estimated(std::shared_ptr<const LayerSet> layers, const EstimatorOptions& options, bool quiet) {
    if (options.method != Method::simulation) return estimate(std::move(layers), options);
    const InterruptGuard interrupt;
    ProgressBar bar(quiet);
    return estimate(std::move(layers), options, [&](double done, const std::string& layer) {
        bar.show(done, layer);
        return !InterruptGuard::asked();
    });
}

Analysis analysis_of(const Estimates& estimates, Grouping grouping) {
    Run run = to_run(estimates);
    AnalysisOptions options;
    options.grouping = grouping;
    options.roofline.roofs = default_roofs(run);
    return analysis(std::move(run), options);
}

int emit(const Estimates& estimates, const OutputFlags& flags) {
    if (!flags.quiet) print_notes(estimates.notes);
    // Made on demand: a table for scripts shows no verdicts, and judging every row takes as long as predicting it.
    std::optional<Analysis> judged;
    const auto verdicts = [&]() -> const Analysis& {
        if (!judged) judged = analysis_of(estimates);
        return *judged;
    };
    const TextStyle style = flags.text_style();
    const ChartStyle chart = flags.chart_style();
    Renderings forms;
    forms.text = [&] {
        return estimates_text(estimates, style) + (flags.no_chart ? "" : terminal_chart(verdicts(), style));
    };
    forms.csv = [&] { return estimates_csv(estimates); };
    forms.json = [&] { return estimates_json(estimates, verdicts()); };
    forms.svg = [&] { return roofline_svg(verdicts(), chart); };
    forms.html = [&] { return result_page(estimates, verdicts(), {command_line(), chart.theme}); };
    return emit(forms, flags);
}

}  // namespace gambrel::app
