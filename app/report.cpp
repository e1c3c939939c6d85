#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <gambrel/report.hpp>

#include "app/analysis_flags.hpp"
#include "app/command.hpp"
#include "base/file_bytes.hpp"
#include "base/printable.hpp"

namespace gambrel::app {
namespace {

namespace fs = std::filesystem;

struct ReportFlags {
    AnalysisFlags analysis;
    std::string title;
    std::vector<std::string> files;
};

// "V100=page.html": what its tab is called. A file that has such a name is meant as it is.
struct Part {
    std::string name, path;
};
Part part_of(const std::string& argument) {
    std::error_code ignored;
    const auto equals = argument.find('=');
    if (equals == std::string::npos || fs::exists(argument, ignored)) return {"", argument};
    return {argument.substr(0, equals), argument.substr(equals + 1)};
}

// Everything that the views point to.
struct Shown {
    std::vector<PageView> views;
    std::vector<std::unique_ptr<Analysis>> analyses;

    void add(const std::string& name, Analysis analysis) {
        analyses.push_back(std::make_unique<Analysis>(std::move(analysis)));
        PageView view;
        view.title = name.empty() ? analyses.back()->title : name, view.analysis = analyses.back().get();
        views.push_back(std::move(view));
    }
    void add(const std::string& name, std::vector<SavedView> saved) {
        for (SavedView& s : saved) {
            PageView view;
            const bool first = &s == &saved.front();
            view.title = first && !name.empty() ? name : s.title;
            view.saved = std::move(s);
            views.push_back(std::move(view));
        }
    }
};

// Files are recognised by content, as everywhere: a page, a machine file, or what analyze reads.
Result<bool> add(const Part& part, const ReportFlags& flags, Shown& shown) {
    std::error_code ignored;
    std::string text;
    if (fs::is_regular_file(part.path, ignored)) {
        const auto bytes = base_detail::FileBytes::open(part.path);
        if (!bytes) return tl::unexpected(bytes.error());
        // Reports and databases are read by those who know them, not held here as text.
        if (!base_detail::is_binary(bytes->view())) text = bytes->view();
    }
    if (is_page(text)) {
        auto saved = read_page(text, part.path);
        if (!saved) return tl::unexpected(saved.error());
        shown.add(part.name, std::move(*saved));
        return true;
    }
    const std::string head = text.substr(0, 4096);
    const bool result =
        head.find("\"gambrel-analysis-") != std::string::npos || head.find("\"gambrel-layers-") != std::string::npos;
    if (head.starts_with("{") && !result) {
        if (head.find("\"schema\": \"gambrel-") != std::string::npos)
            return failure(part.path,
                           "JSON of this kind is not read back; give the page that the same command writes "
                           "with -o F.html");
        auto machine = load_machine_file(part.path);
        if (!machine) return tl::unexpected(machine.error());
        std::string title = machine->name.empty() ? machine->id : machine->name;
        shown.add(part.name, machine_analysis(std::move(*machine), std::move(title)));
        return true;
    }
    auto analysis = analysis_of({part.path}, flags.analysis);
    if (!analysis) return tl::unexpected(analysis.error());
    if (!flags.analysis.output.quiet) print_notes(analysis->notes);
    shown.add(part.name, std::move(*analysis));
    return true;
}

Errors faults_of(const ReportFlags& flags) {
    Errors wrong = faults(flags.analysis);
    for (const std::string& file : flags.files)
        if (part_of(file).path.empty())
            wrong.push_back({fmt::format("\"{}\"", file), "names no file; expected FILE or NAME=FILE"});
    if (flags.analysis.output.files.empty()) wrong.push_back({"-o", "where to? such as -o one.html"});
    for (const std::string& file : flags.analysis.output.files)
        if (!file.ends_with(".html")) wrong.push_back({file, "expected a name that ends in .html"});
    return wrong;
}

int run_report(const ReportFlags& flags) {
    Errors wrong = faults_of(flags);
    Shown shown;
    if (wrong.empty())
        for (const std::string& file : flags.files)
            if (const auto added = add(part_of(file), flags, shown); !added)
                wrong.insert(wrong.end(), added.error().begin(), added.error().end());
    if (!wrong.empty()) return bad_input(wrong);
    std::string title = flags.title;
    if (title.empty() && !shown.views.empty())
        title = shown.views.front().title +
                (shown.views.size() > 1 ? fmt::format(" and {} more", shown.views.size() - 1) : "");
    OutputFlags output = flags.analysis.output;
    for (const std::string& file : flags.files) output.inputs.push_back(part_of(file).path);
    const bool several = shown.views.size() > 1;
    const auto page = page_of(std::move(title), std::move(shown.views), output.chart_style().theme, several);
    bool ok = true;
    for (const std::string& file : output.files) ok &= write_output(file, page, output);
    return ok ? kDone : kBadInput;
}

}  // namespace

Action setup_report(Parser& command) {
    auto flags = std::make_shared<ReportFlags>();
    command.add_option("FILE", flags->files).required();
    command.add_option("--title", flags->title);
    flags->analysis.add_reading_to(command);
    command.add_option("-o,--output", flags->analysis.output.files).one_value();
    command.add_option("--theme", flags->analysis.output.theme).one_of({"light", "dark"});
    command.add_flag("-f,--force", flags->analysis.output.force);
    command.add_flag("--quiet,-q", flags->analysis.output.quiet);
    return [flags] { return run_report(*flags); };
}

}  // namespace gambrel::app
