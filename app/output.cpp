#include "app/output.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/command.hpp"

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

constexpr std::string_view kExtensions[] = {".html", ".svg", ".png", ".pdf", ".csv", ".json"};

Error unknown_extension(const std::string& path) {
    return {path, fmt::format("\"{}\" is no known extension; expected one of {}", extension(path),
                              fmt::join(kExtensions, " "))};
}

Result<std::string> rendered(const Forms& forms, const std::string& path) {
    const std::string kind = extension(path);
    if (kind == ".html") return forms.html();
    if (kind == ".csv") return forms.csv();
    if (kind == ".json") return forms.json();
    if (kind == ".svg") return forms.svg();
    if (kind == ".png") return svg_to_png(forms.svg());
    if (kind == ".pdf") return svg_to_pdf(forms.svg());
    return tl::unexpected(Errors{unknown_extension(path)});
}

// `--csv F` may be a slip for `--csv FILE`, where FILE is a profiler's table that must not be lost.
bool may_replace(const std::string& path, std::string_view own_mark) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return true;
    std::string head(4096, '\0');
    file.read(head.data(), static_cast<std::streamsize>(head.size()));
    if (file.gcount() == 0 || head.find(own_mark) != std::string::npos) return true;
    fmt::print(stderr,
               "error: {}: exists and was not written by gambrel; not replaced. Give another name, or - for stdout.\n",
               path);
    return false;
}

bool emit_text(const std::string& where, const std::string& text, std::string_view own_mark, bool quiet) {
    if (where == "-") return print_result(text);
    if (!may_replace(where, own_mark) || !write_file(where, text)) return false;
    if (!quiet) fmt::print(stderr, "wrote {}\n", where);
    return true;
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

bool print_result(const std::string& text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return true;
    fmt::print(stderr, "error: standard output: not all could be written\n");
    return false;
}

bool write_file(const std::string& path, const std::string& bytes) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    file.flush();
    if (file) return true;
    fmt::print(stderr, "error: {}: cannot be written\n", path);
    return false;
}

void print_notes(const std::vector<Error>& notes, const char* kind) {
    for (const auto& note : notes) fmt::print(stderr, "{}: {}\n", kind, to_text(note));
}

int bad_input(const Errors& errors) {
    print_notes(errors, "error");
    return kBadInput;
}

Errors faults(const OutputFlags& flags) {
    Errors wrong;
    for (const auto& path : flags.files)
        if (std::find(std::begin(kExtensions), std::end(kExtensions), extension(path)) == std::end(kExtensions))
            wrong.push_back(unknown_extension(path));
    return wrong;
}

std::string page_of(std::string title, std::vector<PageView> views, Theme theme, bool overview) {
    PageInput input;
    input.title = std::move(title), input.command = command_line(), input.dark = theme == Theme::dark;
    input.views = std::move(views), input.overview = overview;
    return html_page(input);
}

int emit(const Forms& forms, const OutputFlags& flags) {
    bool ok = true;
    if (!flags.csv.empty()) ok &= emit_text(flags.csv, forms.csv(), forms.csv_mark, flags.quiet);
    if (!flags.json.empty()) ok &= emit_text(flags.json, forms.json(), forms.json_mark, flags.quiet);
    for (const auto& path : flags.files) {
        const auto bytes = rendered(forms, path);
        if (!bytes) return bad_input(bytes.error());
        if (!write_file(path, *bytes)) return kBadInput;
        if (!flags.quiet) fmt::print(stderr, "wrote {}\n", path);
    }
    const bool stdout_taken = flags.csv == "-" || flags.json == "-";
    const bool written = !flags.files.empty() || !flags.csv.empty() || !flags.json.empty();
    if (!stdout_taken && !(flags.quiet && written)) ok &= print_result(forms.text());
    return ok ? kDone : kBadInput;
}

int emit(const Analysis& analysis, const OutputFlags& flags, const TextStyle& style, bool chart,
         const PageView& beside) {
    ChartStyle chart_style;
    chart_style.theme = flags.theme;
    Forms forms;
    forms.text = [&] { return text_table(analysis, style) + (chart ? "\n" + terminal_chart(analysis, style) : ""); };
    forms.csv = [&] { return csv(analysis); };
    forms.json = [&] { return json(analysis); };
    forms.svg = [&] { return roofline_svg(analysis, chart_style); };
    forms.html = [&] {
        PageView view = beside;
        if (view.title.empty()) view.title = analysis.title;
        view.analysis = &analysis;
        std::string title = view.title;
        return page_of(std::move(title), {view}, flags.theme);
    };
    forms.csv_mark = "name,phase,launches,time_s", forms.json_mark = "\"gambrel-analysis-";
    return emit(forms, flags);
}

}  // namespace gambrel::app
