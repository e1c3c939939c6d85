// Where results go: stdout, or files by their extension; notes go to stderr. The terminal's width, colours and letters.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <gambrel/roofline.hpp>
#include <gambrel/base.hpp>
#include <gambrel/page.hpp>
#include <gambrel/report.hpp>

namespace gambrel::app {

TextStyle terminal_style();

// False, after saying why on stderr, if not all bytes could be written.
bool print_result(const std::string& text);
bool write_file(const std::string& path, const std::string& bytes);

void print_notes(const std::vector<Error>& notes, const char* kind = "note");
int bad_input(const Errors& errors);

struct OutputFlags {
    std::string csv, json;           // empty: not asked for; "-": stdout
    std::vector<std::string> files;  // -o, any number
    Theme theme = Theme::light;
    bool quiet = false;
};

// One result in all its forms; each is made only if it is asked for.
struct Forms {
    std::function<std::string()> text, csv, json, svg, html;
    std::string csv_mark, json_mark;  // what tells a file of ours from another's that must not be replaced
};

// What can be known to be wrong before there is anything to write.
Errors faults(const OutputFlags& flags);
// Writes everything that was asked for; the text goes to stdout unless CSV or JSON does. Exit status.
int emit(const Forms& forms, const OutputFlags& flags);
// `beside` is what a page shows beside the analysis: layers, sweeps.
int emit(const Analysis& analysis, const OutputFlags& flags, const TextStyle& style, bool chart,
         const PageView& beside = {});

// A page with the views given and the command that made it; with `overview` its first tab tells of all of them.
std::string page_of(std::string title, std::vector<PageView> views, Theme theme, bool overview = false);

}  // namespace gambrel::app
