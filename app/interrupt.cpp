#include "app/interrupt.hpp"

#include <csignal>

namespace gambrel::app {
namespace {

volatile std::sig_atomic_t interrupted = 0;

extern "C" void on_signal(int signal) {
    interrupted = 1;
    std::signal(signal, SIG_DFL);
}

}  // namespace

InterruptGuard::InterruptGuard() {
    interrupted = 0;
    std::signal(SIGINT, on_signal);
    std::signal(SIGTERM, on_signal);
}

InterruptGuard::~InterruptGuard() {
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
}

bool InterruptGuard::asked() { return interrupted != 0; }

}  // namespace gambrel::app
