#include "app/output.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "app/command.hpp"
#include "base/output_file.hpp"

namespace gambrel::app {
namespace {

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

bool locale_is_utf8() {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        std::string value = environment(name);
        if (value.empty()) continue;
        std::transform(value.begin(), value.end(), value.begin(), [](unsigned char c) { return std::tolower(c); });
        return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
    }
    return false;
}

std::string extension(const std::string& path) { return std::filesystem::path(path).extension().string(); }

base_detail::OutputGuard guard_of(const OutputFlags& flags) {
    base_detail::OutputGuard guard;
    for (const std::string& input : flags.inputs) guard.protect(input);
    if (flags.force) guard.force();
    if (!flags.has_force) guard.forced_by("");
    return guard;
}

const std::function<std::string()>* form_of(const Renderings& forms, const std::string& kind) {
    if (kind == ".csv") return &forms.csv;
    if (kind == ".json") return &forms.json;
    if (kind == ".md") return &forms.markdown;
    if (kind == ".svg" || kind == ".png" || kind == ".pdf") return &forms.svg;
    return nullptr;
}

Result<std::string> rendered(const Renderings& forms, const std::string& path) {
    const std::string kind = extension(path);
    if (kind == ".html" && forms.html) return forms.html();
    const auto* form = form_of(forms, kind);
    if (!form || !*form) return failure(path, fmt::format("this result cannot be written as \"{}\"", kind));
    return form == &forms.svg ? picture((*form)(), path) : (*form)();
}

}  // namespace

std::string& command_line() {
    static std::string line;
    return line;
}

TextStyle terminal_style() {
    TextStyle style;
    winsize size{};
    const bool terminal = isatty(STDOUT_FILENO) != 0;
    if (terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) style.width = size.ws_col;
    if (const int columns = std::atoi(environment("COLUMNS").c_str()); columns > 0) style.width = columns;
    style.width = std::clamp(style.width, 40, 250);
    style.color = terminal && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
    // A pipe or file is read later by something that most likely knows UTF-8; a terminal says so itself.
    style.unicode = terminal ? locale_is_utf8() : environment("LC_ALL") != "C";
    return style;
}

void say(const std::string& line) {
    const std::string text = line + "\n";
    // Nothing can be done about a stderr that takes no more.
    (void)std::fwrite(text.data(), 1, text.size(), stderr);
}

bool print_result(const std::string& text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return true;
    say(fmt::format("error: standard output: not everything could be written: {}", std::strerror(errno)));
    return false;
}

void print_notes(const std::vector<Error>& notes, const char* kind) {
    for (const auto& note : notes) say(fmt::format("{}: {}", kind, to_text(note)));
}

int bad_input(const Errors& errors) {
    print_notes(errors, "error");
    return kBadInput;
}

Theme theme_of(std::string_view text) { return text == "dark" ? Theme::dark : Theme::light; }

void OutputFlags::add_files_to(Parser& command) {
    command.add_option("--csv", csv).optional_value("-");
    command.add_option("--json", json).optional_value("-");
    command.add_option("-o,--output", files).one_value();
    command.add_option("--theme", theme).one_of({"light", "dark"});
    command.add_flag("-f,--force", force);
    command.add_flag("--quiet,-q", quiet);
}

void OutputFlags::add_to(Parser& command) {
    add_files_to(command);
    command.add_option("--top", top).not_negative();
    command.add_flag("--no-chart", no_chart);
}

ChartStyle OutputFlags::chart_style() const {
    ChartStyle style;
    style.theme = theme_of(theme);
    return style;
}

TextStyle OutputFlags::text_style() const {
    TextStyle style = terminal_style();
    style.max_rows = top;
    return style;
}

bool OutputFlags::shows_text() const {
    const bool written = !files.empty() || !csv.empty() || !json.empty();
    return csv != "-" && json != "-" && !(quiet && written);
}

Errors target_faults(const std::string& path, const OutputFlags& flags) {
    const base_detail::OutputGuard guard = guard_of(flags);
    // Whose a table is only its first line tells, which is not known yet.
    const auto checked = extension(path) == ".csv" ? guard.check_target(path) : guard.check(path, "");
    return checked ? Errors{} : checked.error();
}

Errors faults(const OutputFlags& flags, std::string_view extensions) {
    Errors wrong;
    const auto add = [&](const Errors& more) { wrong.insert(wrong.end(), more.begin(), more.end()); };
    const base_detail::OutputGuard guard = guard_of(flags);
    for (const std::string& path : {flags.csv, flags.json})
        if (!path.empty() && path != "-")
            if (const auto checked = guard.check_target(path); !checked) add(checked.error());
    for (const std::string& path : flags.files) {
        const std::string kind = extension(path);
        if (kind.empty() || (" " + std::string(extensions) + " ").find(" " + kind + " ") == std::string::npos)
            wrong.push_back(
                {path, fmt::format("\"{}\" is not a known extension; expected one of {}", kind, extensions)});
        else
            add(target_faults(path, flags));
    }
    return wrong;
}

Result<std::string> page_of(std::string title, std::vector<PageView> views, Theme theme, bool overview) {
    PageInput input;
    input.title = std::move(title), input.command = command_line(), input.dark = theme == Theme::dark;
    input.views = std::move(views), input.overview = overview;
    return html_page(input);
}

Result<std::string> picture(const std::string& svg, const std::string& path) {
    const std::string kind = extension(path);
    if (kind == ".png") return svg_to_png(svg);
    if (kind == ".pdf") return svg_to_pdf(svg);
    return svg;
}

bool write_output(const std::string& path, const Result<std::string>& bytes, const OutputFlags& flags) {
    if (!bytes) return print_notes(bytes.error(), "error"), false;
    if (path == "-") return print_result(*bytes);
    if (const auto written = base_detail::write_file(path, *bytes, guard_of(flags)); !written)
        return print_notes(written.error(), "error"), false;
    if (!flags.quiet) say("wrote " + path);
    return true;
}

StreamedOutput::StreamedOutput(std::string path, const OutputFlags& flags) : path_(std::move(path)), flags_(flags) {}
StreamedOutput::~StreamedOutput() = default;

bool StreamedOutput::flush() {
    const bool written = write();
    // Keeps its memory: given back and asked for again at every flush, its pages cost a tenth of a table's time.
    text.clear();
    return written;
}

bool StreamedOutput::write() {
    if (path_ == "-") return print_result(text);
    if (!file_) {
        auto opened = base_detail::OutputFile::open(path_, text, guard_of(flags_));
        if (!opened) return print_notes(opened.error(), "error"), false;
        file_ = std::make_unique<base_detail::OutputFile>(std::move(*opened));
    }
    if (const auto written = file_->write(text); !written) return print_notes(written.error(), "error"), false;
    return true;
}

bool StreamedOutput::finish() {
    if (!flush()) return false;
    if (!file_) return true;
    if (const auto done = file_->finish(); !done) return print_notes(done.error(), "error"), false;
    if (!flags_.quiet) say("wrote " + path_);
    return true;
}

Error StreamedOutput::left_behind() const {
    const bool seen = path_ == "-" ? begun_ : file_ && file_->direct();
    return {path_ == "-" ? "standard output" : path_, seen ? "the table is cut short" : "was not written"};
}

int emit(const Renderings& renderings, const OutputFlags& flags) {
    if (const Errors wrong = faults(flags, ".html .svg .png .pdf .csv .json .md"); !wrong.empty())
        return bad_input(wrong);
    bool ok = true;
    if (!flags.csv.empty()) ok &= write_output(flags.csv, renderings.csv(), flags);
    if (!flags.json.empty()) ok &= write_output(flags.json, renderings.json(), flags);
    for (const auto& path : flags.files) ok &= write_output(path, rendered(renderings, path), flags);
    if (flags.shows_text()) ok &= print_result(renderings.text());
    return ok ? kDone : kBadInput;
}

int emit(const Analysis& analysis, const OutputFlags& flags, bool explain, const PageView& beside) {
    TextStyle style = flags.text_style();
    style.explain = explain;
    const ChartStyle chart = flags.chart_style();
    Renderings forms;
    forms.text = [&] {
        return text_table(analysis, style) + (flags.no_chart ? "" : "\n" + terminal_chart(analysis, style));
    };
    forms.csv = [&] { return csv(analysis); };
    forms.json = [&] { return json(analysis); };
    forms.svg = [&] { return roofline_svg(analysis, chart); };
    forms.html = [&] {
        PageView view = beside;
        if (view.title.empty()) view.title = analysis.title;
        view.analysis = &analysis;
        std::string title = view.title;
        return page_of(std::move(title), {view}, chart.theme);
    };
    return emit(forms, flags);
}

}  // namespace gambrel::app
