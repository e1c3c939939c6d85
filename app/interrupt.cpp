#include "app/interrupt.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>

namespace gambrel::app {
namespace {

constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGHUP};
volatile std::sig_atomic_t caught = 0;

std::atomic<std::int64_t> first_ns = 0;
static_assert(std::atomic<std::int64_t>::is_always_lock_free);  // a handler may not wait

std::int64_t now_ns() {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * std::int64_t{1'000'000'000} + t.tv_nsec;
}

// timeout and batch systems signal a process and then its group: what arrives within half a second is one request. A
// later signal ends the program.
extern "C" void on_signal(int signal) {
    constexpr std::int64_t kOneRequest = 500'000'000;
    const std::int64_t now = now_ns();
    if (caught == 0) {
        first_ns = now;
        caught = signal;
    } else if (now - first_ns > kOneRequest) {
        std::signal(signal, SIG_DFL);
        std::raise(signal);
    }
}

}  // namespace

InterruptGuard::InterruptGuard() {
    // A signal that the parent ignores, as nohup does with SIGHUP, stays ignored.
    for (const int signal : kSignals)
        if (std::signal(signal, on_signal) == SIG_IGN) std::signal(signal, SIG_IGN);
}

InterruptGuard::~InterruptGuard() {
    // What was found so far is still to be written: the second half of the same request must not end the program first.
    if (caught != 0) return;
    for (const int signal : kSignals)
        if (std::signal(signal, SIG_DFL) == SIG_IGN) std::signal(signal, SIG_IGN);
}

bool InterruptGuard::asked() { return caught != 0; }

int interrupted_status(int status) { return caught != 0 ? 128 + caught : status; }

}  // namespace gambrel::app
