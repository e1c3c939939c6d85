// A layer table to CSV, row by row: memory does not grow with the table.
#pragma once

#include "app/network_flags.hpp"
#include "app/output.hpp"

namespace gambrel::app {

// Whether CSV is all that is asked for: a text, a picture or a page shows all rows together.
bool can_stream(const NetworkFlags& network, const OutputFlags& output);
// Exit status. What is noted of the choice of the machine is printed before the notes of the table.
int stream_table(const NetworkFlags& network, const EstimatorOptions& options, const OutputFlags& output,
                 const std::string& machine);

}  // namespace gambrel::app
