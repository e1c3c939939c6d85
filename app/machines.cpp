#include <gambrel/machine.hpp>
#include <gambrel/report.hpp>

#include "app/command.hpp"
#include "app/output.hpp"

namespace gambrel::app {
namespace {

struct MachinesFlags {
    std::string name;
    OutputFlags output;
};

int run_machines(const MachinesFlags& flags) {
    const TextStyle style = terminal_style();
    std::string text;
    if (flags.name.empty()) {
        text = flags.output.csv.empty() ? machine_list(catalogue(), style) : machine_list_csv(catalogue());
        if (!flags.output.json.empty()) {
            text = "[";
            for (const auto& m : catalogue()) text += (text.size() > 1 ? ",\n" : "\n") + to_json(m);
            text += "]\n";
        }
    } else if (const auto family = machines_like(flags.name);
               flags.output.json.empty() && family.size() > 1 && machine_choice_note(flags.name)) {
        // A name that several boards share asks which there are.
        std::vector<Machine> boards;
        for (const Machine* board : family) boards.push_back(*board);
        text = flags.output.csv.empty() ? machine_list(boards, style) : machine_list_csv(boards);
    } else {
        const auto machine = machine_from(flags.name);
        if (!machine) return bad_input(machine.error());
        text = !flags.output.json.empty()  ? to_json(*machine)
               : !flags.output.csv.empty() ? machine_list_csv({&*machine, 1})
                                           : machine_sheet(*machine, style);
    }
    const std::string& where = !flags.output.json.empty() ? flags.output.json : flags.output.csv;
    return write_output(where.empty() ? "-" : where, text, flags.output) ? kDone : kBadInput;
}

}  // namespace

Action setup_machines(Parser& command) {
    auto flags = std::make_shared<MachinesFlags>();
    command.add_option("NAME", flags->name);
    command.add_option("--csv", flags->output.csv).optional_value("-");
    command.add_option("--json", flags->output.json).optional_value("-").excludes("--csv");
    command.add_flag("-f,--force", flags->output.force);
    return [flags] { return run_machines(*flags); };
}

}  // namespace gambrel::app
