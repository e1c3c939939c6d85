// A trace where counters may not be read: nsys is found, run on the program, and its report exported as SQLite.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <gambrel/base.hpp>

namespace gambrel::app {

// --nsys, then PATH, then the places where NVIDIA's installers put it. The error says what to install, and what to do
// without it.
Result<std::string> find_nsys(const std::string& flag);

struct NsysRun {
    std::string nsys, report;     // R.nsys-rep; the export is R.sqlite
    bool records_shapes = false;  // nsys can ask PyTorch for the shapes of operators
    std::vector<std::string> program;
    [[nodiscard]] std::string exported() const;
};
bool can_record_shapes(const std::string& nsys);
std::vector<std::string> record_arguments(const NsysRun& run);
std::vector<std::string> export_arguments(const NsysRun& run);

// Why the counters of this machine are closed to this user; empty where nothing says so.
std::string why_no_counters();

}  // namespace gambrel::app
