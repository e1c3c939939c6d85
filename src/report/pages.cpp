#include <gambrel/pages.hpp>

#include <fmt/format.h>

namespace gambrel {
namespace {

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

}  // namespace

Result<std::string> result_page(const Analysis& analysis, const PageStyle& style) {
    PageView view;
    view.title = analysis.title;
    view.analysis = &analysis;
    return page_of(std::move(view), style);
}

Result<std::string> result_page(const Estimates& estimates, const Analysis& roofline, const PageStyle& style) {
    PageView view;
    view.title = fmt::format("{} on {}, {}", roofline.title, estimates.machine(), name(roofline.origin));
    view.analysis = &roofline;
    view.layers = page_layers(estimates);
    return page_of(std::move(view), style);
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
    return page_of(std::move(view), style);
}

Result<std::string> result_page(const Measurement& measurement, const PageStyle& style) {
    const Machine machine = measured_machine(measurement);
    const Analysis alone = machine_analysis(machine, "Measured Roofline");
    return page_of(fmt::format("{}: {}", alone.title, machine.name), {measure_view(measurement, alone)}, style);
}

}  // namespace gambrel
