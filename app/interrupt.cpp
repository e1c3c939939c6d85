#include "app/interrupt.hpp"

#include <array>
#include <csignal>

namespace gambrel::app {
namespace {

constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGHUP};
volatile std::sig_atomic_t caught = 0;

extern "C" void on_signal(int signal) {
    caught = signal;
    std::signal(signal, SIG_DFL);
}

}  // namespace

InterruptGuard::InterruptGuard() {
    // A signal that the parent ignores, as nohup does with SIGHUP, stays ignored.
    for (const int signal : kSignals)
        if (std::signal(signal, on_signal) == SIG_IGN) std::signal(signal, SIG_IGN);
}

InterruptGuard::~InterruptGuard() {
    for (const int signal : kSignals)
        if (std::signal(signal, SIG_DFL) == SIG_IGN) std::signal(signal, SIG_IGN);
}

bool InterruptGuard::asked() { return caught != 0; }

int interrupted_status(int status) { return caught != 0 ? 128 + caught : status; }

}  // namespace gambrel::app
