#include <fcntl.h>

#include <algorithm>
#include <exception>
#include <new>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <gambrel/base.hpp>
#include <gambrel/version.hpp>

#include "app/child_process.hpp"
#include "app/command.hpp"
#include "app/help.hpp"
#include "app/interrupt.hpp"
#include "app/map_fault.hpp"
#include "app/output.hpp"

namespace {

using namespace gambrel;
using namespace gambrel::app;

struct Entry {
    const char* name;
    const char* summary;
    Action (*setup)(Parser&);
};
constexpr Entry kCommands[] = {
    {"analyze", "the hierarchical Roofline of profiler reports and traces", setup_analyze},
    {"doctor", "what this machine can and cannot do, and how to fix it", setup_doctor},
    {"check", "a gate for CI: minimum percent of roof, nothing slower than a baseline", setup_check},
    {"compare", "compare results of any origin: change or error at each level", setup_compare},
    {"explore", "which resources of a GPU to scale: speed-up, bottleneck, sensitivity, cost", setup_explore},
    {"machines", "the catalogue of GPUs; one machine with the origin of each number", setup_machines},
    {"predict", "predict time and bytes at each level of every layer, without a GPU", setup_predict},
    {"measure", "measure the ceilings of this machine for arithmetic and memory", setup_measure},
    {"profile", "run ncu with exactly the metrics that the analysis needs, then analyse", setup_profile},
    {"report", "several results on one page: pages, results and machine files of the other commands", setup_report},
    {"reproduce", "repeat published studies from their raw data", setup_reproduce},
    {"simulate", "bytes at each level of every layer, by simulating every address", setup_simulate},
    {"validate", "compare the model with measurements: error tables", setup_validate},
};

int usage_error(const CLI::App& root, int argc, char** argv, const CLI::ParseError& e) {
    const CLI::App* command = root.get_subcommands().empty() ? nullptr : root.get_subcommands().front();
    bad_input({{"", usage_fault(root, command, argc, argv, e)}});
    say(fmt::format("`gambrel {}--help` says more.", command ? command->get_name() + " " : ""));
    return kBadInput;
}

int without_foreign_arguments(int argc, char** argv) {
    if (argc < 2 || std::string_view(argv[1]) != "profile") return argc;
    char** const dashes = std::find(argv + 2, argv + argc, std::string_view("--"));
    if (dashes != argv + argc) arguments_behind_dashes().assign(dashes + 1, argv + argc);
    return static_cast<int>(dashes - argv);
}

// Without the path: two people who type the same get the same page.
std::string typed(int argc, char** argv) {
    std::vector<std::string> words(argv, argv + argc);
    if (!words.empty()) words.front() = "gambrel";
    return shell_quoted(words);
}

// A file that is opened while stdout or stderr is closed would take its number, and our messages with it.
void keep_standard_streams() {
    for (int stream = 0; stream <= 2; ++stream)
        if (fcntl(stream, F_GETFD) == -1 && open("/dev/null", O_RDWR) == -1) return;
}

int run_main(int argc, char** argv) {
    command_line() = typed(argc, argv);
    CLI::App root{"gambrel"};
    root.set_help_flag();
    bool help = false, version = false;
    root.add_flag("-h,--help", help);
    root.add_flag("--version", version);
    std::vector<std::pair<CLI::App*, Action>> actions;
    std::vector<std::unique_ptr<HelpFlags>> flags;
    for (const auto& entry : kCommands) {
        CLI::App* command = root.add_subcommand(entry.name, entry.summary);
        command->set_help_flag();
        // A command that is not named cannot run, and the options of all of them take milliseconds to describe.
        if (std::find(argv, argv + argc, std::string_view(entry.name)) == argv + argc) continue;
        flags.push_back(std::make_unique<HelpFlags>(*command));
        Parser parser(*command);
        actions.emplace_back(command, entry.setup(parser));
    }
    argc = without_foreign_arguments(argc, argv);
    // Help must work whatever else is missing, so it is looked for before the options are judged.
    if (const auto status = asked_for_help(argc, argv, root)) return *status;
    try {
        root.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return usage_error(root, argc, argv, e);
    }
    if (version) return print_result(fmt::format("gambrel {}\n", kVersion)) ? kDone : kBadInput;
    for (auto& [command, action] : actions)
        if (command->parsed()) return action();
    return print_result(overview(root)) && argc > 1 ? kDone : kBadInput;
}

}  // namespace

int main(int argc, char** argv) {
    keep_standard_streams();
    install_map_fault_handler();
    try {
        return interrupted_status(run_main(argc, argv));
    } catch (const std::bad_alloc&) {
        say("error: not enough memory for this input");
    } catch (const std::system_error& e) {  // files, folders and threads that the system refuses
        say(fmt::format("error: {}", e.what()));
    } catch (const std::exception& e) {
        say(fmt::format("error: this is an internal error of gambrel {}: {}\nPlease report it with the command line.",
                        gambrel::kVersion, e.what()));
        return kInternalError;
    }
    return kBadInput;
}
