#include "app/map_fault.hpp"

#include <csignal>
#include <cstring>

#include <unistd.h>

#include "app/command.hpp"
#include "base/file_bytes.hpp"

namespace gambrel::app {
namespace {

// Only what is safe in a signal handler: no allocation, no stdio, no destructors.
void on_map_fault(int, siginfo_t* info, void*) {
    const char* file = base_detail::mapped_file_at(info->si_addr);
    if (file == nullptr) {
        std::signal(SIGBUS, SIG_DFL);  // not a mapped input: the access repeats and ends as it would have
        return;
    }
    for (const char* text : {"error: ", file, ": became shorter while it was read; run again when it is complete\n"})
        if (::write(STDERR_FILENO, text, std::strlen(text)) < 0) break;
    ::_exit(kBadInput);
}

}  // namespace

void install_map_fault_handler() {
    struct sigaction action {};
    action.sa_sigaction = on_map_fault;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    ::sigaction(SIGBUS, &action, nullptr);
}

}  // namespace gambrel::app
