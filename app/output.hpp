// Where results go: stdout, or files by their extension; notes go to stderr. One way out for all commands: one set of
// flags, one writer, one guard that keeps inputs and files of others from being replaced.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gambrel/base.hpp>
#include <gambrel/report.hpp>
#include <gambrel/roofline.hpp>

#include "app/parser.hpp"

namespace gambrel::base_detail {
class OutputFile;
}

namespace gambrel::app {

TextStyle terminal_style();
Theme theme_of(std::string_view text);  // "light" or "dark"

// A line on stderr. A closed or full stderr loses the line, never the result.
void say(const std::string& line);
void print_notes(const std::vector<Error>& notes, const char* kind = "note");
int bad_input(const Errors& errors);
// False, after saying why on stderr, if not all bytes could be written.
bool print_result(const std::string& text);

struct OutputFlags {
    std::string csv, json;           // empty: not asked for; "-": stdout
    std::vector<std::string> files;  // -o, any number
    std::string theme = "light";
    std::size_t top = 30;
    bool no_chart = false, quiet = false, force = false;
    bool has_force = true;            // whether the command has --force, which its messages then offer
    std::vector<std::string> inputs;  // what the command reads, so that no output replaces it

    void add_files_to(Parser& command);  // --csv, --json, -o, --theme, --force, --quiet
    void add_to(Parser& command);        // and --top, --no-chart
    [[nodiscard]] ChartStyle chart_style() const;
    [[nodiscard]] TextStyle text_style() const;
    // Whether the text goes to stdout: CSV or JSON is not there, and --quiet with a file does not silence it.
    [[nodiscard]] bool shows_text() const;
};

// One result in all its forms; each is made only if it is asked for. A form that is empty cannot be asked for.
struct Renderings {
    std::function<std::string()> text, csv, json, svg, markdown{};
    std::function<Result<std::string>()> html{};  // a build may be without the page
};

inline constexpr std::string_view kPictures = ".html .svg .png .pdf .csv .json";
// What can be known to be wrong before there is anything to write: extensions, and targets that must not be replaced.
Errors faults(const OutputFlags& flags, std::string_view extensions = kPictures);
// Of one file. A table that exists is judged when it is written.
Errors target_faults(const std::string& path, const OutputFlags& flags);
// Writes everything that was asked for; the text goes to stdout unless CSV or JSON does. Exit status.
int emit(const Renderings& renderings, const OutputFlags& flags);
// A file that a flag of its own asks for. False, after saying why, if it could not be written.
bool write_output(const std::string& path, const Result<std::string>& bytes, const OutputFlags& flags);
// A table that is written while it is made. Nothing is written, and no file is touched, before begin().
class StreamedOutput {
public:
    StreamedOutput(std::string path, const OutputFlags& flags);  // "-": stdout
    ~StreamedOutput();
    std::string text;  // what is not written yet: add to it
    void begin() { begun_ = true; }
    // Writes what has gathered, if it is enough to be worth it. False, after saying why, if that failed.
    bool flush_some() { return !begun_ || text.size() < kEnough || flush(); }
    // Writes the rest, and lets a file take its place.
    bool finish();
    // What a run that ends without finish() leaves there, in words.
    [[nodiscard]] Error left_behind() const;

private:
    static constexpr std::size_t kEnough = std::size_t{1} << 18;
    bool flush();
    bool write();  // all of `text`
    std::string path_;
    const OutputFlags& flags_;
    bool begun_ = false;
    std::unique_ptr<base_detail::OutputFile> file_;
};
// A picture by its extension: .svg, .png or .pdf.
Result<std::string> picture(const std::string& svg, const std::string& path);

// `beside` is what a page shows beside the analysis: layers, sweeps.
int emit(const Analysis& analysis, const OutputFlags& flags, bool explain = false, const PageView& beside = {});

// A page with the views given and the command that made it; with `overview` its first tab summarises all of them.
Result<std::string> page_of(std::string title, std::vector<PageView> views, Theme theme, bool overview = false);

}  // namespace gambrel::app
