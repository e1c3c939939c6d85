// Other programs: found on a search path, started with an argument list (never through a shell), their output read.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gambrel::app {

struct ChildResult {
    bool started = false;      // false: `output` says why
    int status = 0;            // exit status; meaningless after a signal
    int signal = 0;            // that ended it, or 0
    bool interrupted = false;  // somebody asked us to stop while it ran, and it was passed on
    std::string output;
};

enum class Echo : bool { no, to_stderr };

// Runs until the program ends; its standard output and error come together. Only the last megabyte is kept.
ChildResult run_child(const std::vector<std::string>& arguments, Echo echo);

// The file that a shell would run for this name; a name with a slash is taken as it is.
std::optional<std::string> find_program(const std::string& name);
bool is_executable(const std::string& path);

// One line that a POSIX shell reads back as exactly these arguments.
std::string shell_quoted(const std::vector<std::string>& arguments);

}  // namespace gambrel::app
