#include <gambrel/compare.hpp>

#include <fmt/format.h>

#include "app/analysis_flags.hpp"
#include "app/command.hpp"

namespace gambrel::app {
namespace {

struct Flags {
    AnalysisFlags analysis;
    std::string match = "auto";
    std::vector<std::string> files;
};

MatchBy match_by(const std::string& flag) {
    for (const MatchBy by : {MatchBy::name, MatchBy::order, MatchBy::layer})
        if (flag == name(by)) return by;
    return MatchBy::automatic;
}

std::string page(const std::vector<Comparison>& all, Theme theme) {
    std::vector<PageView> views;
    for (const auto& c : all)
        views.push_back({fmt::format("{} → {}", c.before.title, c.after.title), nullptr, &c, {}, {}});
    for (const auto& c : all) views.push_back({c.after.title, &c.after, nullptr, {}, {}});
    views.push_back({all.front().before.title, &all.front().before, nullptr, {}, {}});
    std::string title = views.front().title;
    return page_of(std::move(title), std::move(views), theme);
}

int run(const Flags& flags) {
    if (flags.files.size() < 2)
        return bad_input({{"compare", "one file is nothing to compare; give two or more: gambrel compare A B"}});
    if (const auto wrong = faults(flags.analysis); !wrong.empty()) return bad_input(wrong);
    std::vector<Analysis> sides;
    Errors errors;
    for (const auto& file : flags.files) {
        auto side = analysis_of({file}, flags.analysis);
        if (!side) {
            errors.insert(errors.end(), side.error().begin(), side.error().end());
            continue;
        }
        if (!flags.analysis.output.quiet) print_notes(side->notes);
        sides.push_back(std::move(*side));
    }
    if (!errors.empty()) return bad_input(errors);
    std::vector<Comparison> all;
    for (std::size_t i = 1; i < sides.size(); ++i)
        all.push_back(comparison(sides.front(), std::move(sides[i]), {match_by(flags.match)}));

    const OutputFlags output = flags.analysis.files();
    TextStyle style = terminal_style();
    style.max_rows = flags.analysis.top;
    ChartStyle chart;
    chart.theme = output.theme;
    Forms forms;
    forms.text = [&] { return comparison_text(all, style); };
    forms.csv = [&] { return comparison_csv(all); };
    forms.json = [&] { return comparison_json(all); };
    forms.svg = [&] { return comparison_svg(all.front(), chart); };
    forms.html = [&] { return page(all, output.theme); };
    forms.csv_mark = "before,after,name,phase,in", forms.json_mark = "\"gambrel-comparison-";
    return emit(forms, output);
}

}  // namespace

Action setup_compare(CLI::App& command) {
    auto flags = std::make_shared<Flags>();
    command.add_option("FILE", flags->files)->required();
    command.add_option("--match", flags->match)->check(CLI::IsMember({"auto", "name", "order", "layer"}));
    flags->analysis.add_reading_to(command);
    flags->analysis.add_files_to(command);
    return [flags] { return run(*flags); };
}

}  // namespace gambrel::app
