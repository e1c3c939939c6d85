#include "app/help.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <gambrel/base.hpp>

#include "app/command.hpp"
#include "app/output.hpp"
#include "base/embedded.hpp"

namespace gambrel::app {
namespace {

std::string page(std::string_view name) {
    for (const auto& entry : embedded("cli"))
        if (entry.name == name) return std::string(entry.text);
    return "";
}

std::vector<std::string> option_names(const CLI::App& command) {
    std::vector<std::string> names;
    for (const auto* option : command.get_options()) {
        for (const auto& name : option->get_lnames()) names.push_back("--" + name);
        for (const auto& name : option->get_snames()) names.push_back("-" + name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

// "; did you mean --flop-rule?" for the first argument that looks like an option and is none.
std::string option_hint(const CLI::App& command, int argc, char** argv) {
    const auto names = option_names(command);
    for (int i = 2; i < argc; ++i) {
        const std::string argument = std::string(argv[i]).substr(0, std::string_view(argv[i]).find('='));
        if (argument == "--") break;
        if (!argument.starts_with("--") || std::find(names.begin(), names.end(), argument) != names.end()) continue;
        if (const std::string nearest = nearest_name(argument, names); !nearest.empty())
            return fmt::format("; did you mean {}?", nearest);
    }
    return "";
}

// CLI11 lists all arguments that it could not place, last one first; the first of them is where the slip is.
std::string first_unplaced(const CLI::App& root, int argc, char** argv) {
    const auto unplaced = root.remaining(true);
    for (int i = 1; i < argc; ++i)
        if (std::find(unplaced.begin(), unplaced.end(), argv[i]) != unplaced.end()) return argv[i];
    return unplaced.empty() ? "" : unplaced.front();
}

}  // namespace

HelpFlags::HelpFlags(CLI::App& command) {
    command.add_flag("-h,--help", help);
    command.add_flag("--list-options", list_options);
}

std::string overview(const CLI::App& root) {
    std::string text = page("gambrel");
    text += "\n";
    for (const auto* command : root.get_subcommands([](const CLI::App*) { return true; }))
        text += fmt::format("  gambrel {:<10} {}\n", command->get_name(), command->get_description());
    return text + "\n`gambrel COMMAND --help` says more about each.\n";
}

std::optional<int> asked_for_help(int argc, char** argv, const CLI::App& root) {
    const CLI::App* command = nullptr;
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        if (argument == "--") break;
        if (!command && !argument.starts_with("-")) {
            for (const auto* known : root.get_subcommands([](const CLI::App*) { return true; }))
                if (known->get_name() == argument) command = known;
            if (!command) return std::nullopt;  // an unknown command, which the parser reports
        }
        if (argument == "--list-options" && command) {
            std::string text;
            for (const auto& name : option_names(*command))
                if (name != "--list-options") text += name + "\n";
            return print_result(text) ? kDone : kBadInput;
        }
        if (argument == "--help" || argument == "-h") {
            return print_result(command ? page(command->get_name()) : overview(root)) ? kDone : kBadInput;
        }
    }
    return std::nullopt;
}

std::string usage_fault(const CLI::App& root, const CLI::App* command, int argc, char** argv,
                        const CLI::ParseError& error) {
    const std::string hint = command ? option_hint(*command, argc, argv) : "";
    const std::string said = error.what(), place = said.substr(0, said.find(':'));
    if (dynamic_cast<const CLI::ExtrasError*>(&error)) {
        const std::string argument = first_unplaced(root, argc, argv);
        if (!command && !argument.starts_with("-")) {
            std::vector<std::string> names;
            for (const auto* known : root.get_subcommands([](const CLI::App*) { return true; }))
                names.push_back(known->get_name());
            return fmt::format("\"{}\" is not a command; expected one of {}{}", argument, fmt::join(names, ", "),
                               did_you_mean(argument, names));
        }
        const std::string of = command ? "gambrel " + command->get_name() : "gambrel";
        if (argument.starts_with("-")) return fmt::format("{}: is not an option of `{}`{}", argument, of, hint);
        return fmt::format("\"{}\": is one argument more than `{}` expects{}", argument, of, hint);
    }
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) && said.ends_with("missing"))
        return fmt::format("{}: needs a value, and none follows{}", place, hint);
    if (dynamic_cast<const CLI::RequiredError*>(&error) && said.ends_with(" is required"))
        return fmt::format("{}: none was given{}", said.substr(0, said.find(' ')), hint);
    return said + hint;
}

}  // namespace gambrel::app
