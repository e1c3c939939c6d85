// The first bytes that wait in a pipe, without taking them out of it: what it holds can be recognised before one of
// several readers, each of which can read it only once, is chosen.
#pragma once

#include <string>

namespace gambrel::base_detail {

// A pipe of the shell, as /dev/stdin or /dev/fd/63, or a FIFO with a name.
bool is_pipe(const std::string& path);
// At most 64 KiB; waits for the writer's first bytes. Empty where the system cannot tell. A FIFO is kept open for
// open_input, which takes it over: to open it a second time could wait for ever.
std::string pipe_head(const std::string& path);

}  // namespace gambrel::base_detail
