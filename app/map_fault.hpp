// A mapped input that becomes shorter while it is read ends the process by SIGBUS. With this it ends with the file's
// name and exit status 2.
#pragma once

namespace gambrel::app {

void install_map_fault_handler();

}  // namespace gambrel::app
