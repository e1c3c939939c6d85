#include <gambrel/machine.hpp>
#include <gambrel/report.hpp>

#include "app/command.hpp"
#include "app/output.hpp"

namespace gambrel::app {
namespace {

struct Flags {
    std::string name, csv, json;
};

int run(const Flags& flags) {
    const TextStyle style = terminal_style();
    std::string text;
    if (flags.name.empty()) {
        text = flags.csv.empty() ? machine_list(catalogue(), style) : machine_list_csv(catalogue());
        if (!flags.json.empty()) {
            text = "[";
            for (const auto& m : catalogue()) text += (text.size() > 1 ? ",\n" : "\n") + to_json(m);
            text += "]\n";
        }
    } else {
        const auto machine = machine_from(flags.name);
        if (!machine) return bad_input(machine.error());
        text = !flags.json.empty()  ? to_json(*machine)
               : !flags.csv.empty() ? machine_list_csv({&*machine, 1})
                                    : machine_sheet(*machine, style);
    }
    const std::string where = !flags.json.empty() ? flags.json : flags.csv;
    const bool ok = where.empty() || where == "-" ? print_result(text) : write_file(where, text);
    return ok ? kDone : kBadInput;
}

}  // namespace

Action setup_machines(CLI::App& command) {
    auto flags = std::make_shared<Flags>();
    command.add_option("NAME", flags->name);
    command.add_option("--csv", flags->csv)->expected(0, 1)->default_str("-");
    auto* json = command.add_option("--json", flags->json)->expected(0, 1)->default_str("-");
    json->excludes("--csv");
    return [flags] { return run(*flags); };
}

}  // namespace gambrel::app
