// What `gambrel analyze step.ncu-rep -o report.html` does.
#include <fstream>
#include <iostream>

#include <gambrel/ingest.hpp>
#include <gambrel/report.hpp>

int main(int argc, char** argv) {
    auto run = gambrel::ingest(std::vector<std::string>(argv + 1, argv + argc));
    if (!run) return std::cerr << gambrel::to_text(run.error()), 2;
    gambrel::resolve_machines(*run);
    const auto analysis = gambrel::analysis(*run);
    std::cout << gambrel::text_table(analysis, {});
    std::ofstream("report.html") << gambrel::html_page({.title = "report", .views = {{.analysis = &analysis}}}).value();
}
