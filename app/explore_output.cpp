#include "app/explore_output.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <gambrel/explore.hpp>
#include <gambrel/page_views.hpp>

#include "app/command.hpp"

namespace gambrel::app {
namespace {

namespace fs = std::filesystem;

bool is_folder(const std::string& path) { return path.ends_with("/") || fs::is_directory(path); }

// Layers on the Roofline, from where the start has them to where the design that the reader is led to puts them.
std::string page(const ExplorationReport& c, Theme theme) {
    const Analysis start = design_analysis(c, c.designs.front());
    std::optional<Comparison> moved;
    if (const EvaluatedDesign* best = recommended_design(c))
        moved = comparison(start, design_analysis(c, *best), {MatchBy::layer});
    PageView view = explore_view(c, moved ? &*moved : nullptr);
    if (!moved) view.analysis = &start;
    std::string title = view.title;
    return page_of(std::move(title), {std::move(view)}, theme);
}

Result<std::string> rendered(const ExplorationReport& c, const std::string& path, ExploreChart chart, Theme theme) {
    if (path.ends_with(".csv")) return explore_csv(c);
    if (path.ends_with(".json")) return explore_json(c);
    if (path.ends_with(".html")) return page(c, theme);
    ChartStyle style;
    style.theme = theme;
    const std::string svg = explore_svg(c, chart, style);
    if (svg.empty())
        return failure(path, fmt::format("nothing to draw for --chart {}: it needs --vary{}", name(chart),
                                         chart == ExploreChart::map ? " of two resources" : ""));
    if (path.ends_with(".png")) return svg_to_png(svg);
    if (path.ends_with(".pdf")) return svg_to_pdf(svg);
    return svg;
}

bool write(const ExplorationReport& c, const std::string& path, ExploreChart chart, const ExploreOutput& flags) {
    const auto bytes = rendered(c, path, chart, flags.theme == "dark" ? Theme::dark : Theme::light);
    if (!bytes) {
        bad_input(bytes.error());
        return false;
    }
    if (!write_file(path, *bytes)) return false;
    if (!flags.output.quiet) fmt::print(stderr, "wrote {}\n", path);
    return true;
}

bool write_all(const ExplorationReport& c, const std::string& folder, const ExploreOutput& flags) {
    std::error_code ignored;
    fs::create_directories(folder, ignored);
    bool ok = true;
    for (std::size_t i = 0; i < kExploreCharts; ++i) {
        const auto chart = static_cast<ExploreChart>(i);
        if (!explore_svg(c, chart).empty())
            ok = write(c, (fs::path(folder) / fmt::format("{}.svg", name(chart))).string(), chart, flags) && ok;
    }
    return ok;
}

}  // namespace

void ExploreOutput::add_to(CLI::App& command) {
    command.add_option("--csv", output.csv)->expected(0, 1)->default_str("-");
    command.add_option("--json", output.json)->expected(0, 1)->default_str("-");
    command.add_option("-o,--output", output.files)->allow_extra_args(false);
    command.add_option("--theme", theme)->check(CLI::IsMember({"light", "dark"}));
    command.add_option("--chart", chart)->check(CLI::IsMember({"designs", "sensitivity", "map", "pareto"}));
    command.add_option("--top", top);
    command.add_flag("--no-chart", no_chart);
    command.add_flag("--quiet,-q", output.quiet);
}

Errors faults(const ExploreOutput& flags) {
    OutputFlags files = flags.output;
    std::erase_if(files.files, is_folder);
    return faults(files);
}

int emit(const ExplorationReport& c, const ExploreOutput& flags) {
    bool ok = true;
    const auto table = [&](const std::string& where, const std::string& text) {
        if (where.empty()) return;
        ok = (where == "-" ? print_result(text) : write_file(where, text)) && ok;
    };
    table(flags.output.csv, flags.output.csv.empty() ? "" : explore_csv(c));
    table(flags.output.json, flags.output.json.empty() ? "" : explore_json(c));
    const ExploreChart chart = *explore_chart_from(flags.chart);
    for (const std::string& file : flags.output.files)
        ok = (is_folder(file) ? write_all(c, file, flags) : write(c, file, chart, flags)) && ok;
    const bool elsewhere = flags.output.csv == "-" || flags.output.json == "-" ||
                           (flags.output.quiet &&
                            (!flags.output.files.empty() || !flags.output.csv.empty() || !flags.output.json.empty()));
    if (!elsewhere) {
        TextStyle style = terminal_style();
        style.max_rows = flags.top;
        ok = print_result(explore_text(c, style)) && ok;
        for (std::size_t i = 0; i < kExploreCharts && !flags.no_chart; ++i)
            if (const std::string text = explore_terminal(c, static_cast<ExploreChart>(i), style); !text.empty())
                ok = print_result("\n" + text) && ok;
    }
    return ok ? kDone : kBadInput;
}

}  // namespace gambrel::app
