// The options of a command, as its file states them. CLI11 stands behind this in three files only: its templates would
// cost every file that includes them four seconds of compiling.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace gambrel::app {

// What may be given for an option. Refers to the parser's own option, so copies say the same.
class Option {
public:
    explicit Option(CLI::Option* option) : option_(option) {}
    Option one_of(const std::vector<std::string>& words);
    Option range(std::int64_t least, std::int64_t most);  // a whole number
    Option not_negative();
    Option count();  // a whole number of 1 or more
    Option required();
    Option one_value();                            // each time it is given, so that what follows is not taken for it
    Option optional_value(const char* otherwise);  // --csv alone means --csv -
    Option excludes(const char* other);

private:
    CLI::Option* option_;
};

class Parser {
public:
    explicit Parser(CLI::App& command) : command_(command) {}
    // "--kernel,-k", or "FILE" for an argument without a name. The variable keeps its value if nothing is given.
    Option add_option(const char* names, std::string& text);
    Option add_option(const char* names, std::vector<std::string>& texts);
    Option add_option(const char* names, int& number);
    Option add_option(const char* names, unsigned& number);
    Option add_option(const char* names, std::int64_t& number);
    Option add_option(const char* names, std::uint64_t& number);
    Option add_option(const char* names, std::optional<std::uint64_t>& number);
    Option add_option(const char* names, double& number);
    Option add_flag(const char* names, bool& on);

private:
    CLI::App& command_;
};

}  // namespace gambrel::app
