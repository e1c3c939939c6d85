// A subcommand: its options and what it does. One file each; main.cpp lists them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/parser.hpp"

namespace gambrel::app {

// Exit status, which scripts rely on; docs/formats.md has the table. Interrupted: 128 and the signal
// (app/interrupt.hpp).
enum Status : int { kDone = 0, kNo = 1, kBadInput = 2, kInternalError = 3 };

using Action = std::function<int()>;

// What stands behind "--" is for another program. main() takes it away before parsing, because the parser would split
// arguments such as "[1,2]".
std::vector<std::string>& arguments_behind_dashes();

// As one would type it, quoted for a shell: pages say how they were made.
std::string& command_line();

// Each adds its options to the subcommand and returns what to run after parsing.
Action setup_analyze(Parser& command);
Action setup_doctor(Parser& command);
Action setup_check(Parser& command);
Action setup_compare(Parser& command);
Action setup_explore(Parser& command);
Action setup_machines(Parser& command);
Action setup_predict(Parser& command);
Action setup_measure(Parser& command);
Action setup_profile(Parser& command);
Action setup_report(Parser& command);
Action setup_reproduce(Parser& command);
Action setup_simulate(Parser& command);
Action setup_validate(Parser& command);

}  // namespace gambrel::app
