// Ctrl-C, SIGTERM and SIGHUP as a question: the first asks the run to end and keep what is done, the second ends the
// program. The exit status of an interrupted run is 128 and the signal's number, whatever the command returned.
#pragma once

namespace gambrel::app {

class InterruptGuard {
public:
    InterruptGuard();
    ~InterruptGuard();
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;
    [[nodiscard]] static bool asked();
};

// `status`, or 130, 143, 129 if a signal was caught.
int interrupted_status(int status);

}  // namespace gambrel::app
