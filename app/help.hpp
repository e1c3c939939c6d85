// --help prints the page of docs/cli that is compiled in; --list-options prints the names that the parser knows, so
// that a check can compare the two.
#pragma once

#include <optional>
#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace gambrel::app {

struct HelpFlags {
    explicit HelpFlags(CLI::App& command);
    bool help = false, list_options = false;
};

// The status to exit with if the arguments ask for help or the list of options, after printing it.
std::optional<int> asked_for_help(int argc, char** argv, const CLI::App& root);
std::string overview(const CLI::App& root);
// What is wrong with the arguments: which of them, what was expected there, and the nearest name. `command` is null
// where none was recognised.
std::string usage_fault(const CLI::App& root, const CLI::App* command, int argc, char** argv,
                        const CLI::ParseError& error);

}  // namespace gambrel::app
