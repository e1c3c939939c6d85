#include "app/explore_output.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <gambrel/explore.hpp>
#include <gambrel/report.hpp>

#include "app/command.hpp"

namespace gambrel::app {
namespace {

namespace fs = std::filesystem;

bool is_folder(const std::string& path) { return path.ends_with("/") || fs::is_directory(path); }

Result<std::string> rendered(const ExplorationReport& c, const std::string& path, ExploreChart chart, Theme theme) {
    if (path.ends_with(".csv")) return explore_csv(c);
    if (path.ends_with(".json")) return explore_json(c);
    if (path.ends_with(".html")) return result_page(c, {command_line(), theme});
    ChartStyle style;
    style.theme = theme;
    const std::string svg = explore_svg(c, chart, style);
    if (svg.empty())
        return failure(path, fmt::format("nothing to draw for --chart {}: it needs --vary{}", name(chart),
                                         chart == ExploreChart::map ? " of two resources" : ""));
    return picture(svg, path);
}

bool write(const ExplorationReport& c, const std::string& path, ExploreChart chart, const ExploreOutput& flags) {
    return write_output(path, rendered(c, path, chart, flags.output.chart_style().theme), flags.output);
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

void ExploreOutput::add_to(Parser& command) {
    output.top = 15;
    output.add_to(command);
    command.add_option("--chart", chart).one_of({"designs", "sensitivity", "map", "pareto"});
}

Errors faults(const ExploreOutput& flags) {
    OutputFlags files = flags.output;
    std::erase_if(files.files, is_folder);
    return faults(files);
}

int emit(const ExplorationReport& c, const ExploreOutput& flags) {
    bool ok = true;
    if (!flags.output.csv.empty()) ok &= write_output(flags.output.csv, explore_csv(c), flags.output);
    if (!flags.output.json.empty()) ok &= write_output(flags.output.json, explore_json(c), flags.output);
    const ExploreChart chart = *explore_chart_from(flags.chart);
    for (const std::string& file : flags.output.files)
        ok = (is_folder(file) ? write_all(c, file, flags) : write(c, file, chart, flags)) && ok;
    if (flags.output.shows_text()) {
        const TextStyle style = flags.output.text_style();
        ok = print_result(explore_text(c, style, !flags.output.no_chart)) && ok;
    }
    return ok ? kDone : kBadInput;
}

}  // namespace gambrel::app
