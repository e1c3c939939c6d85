// Ctrl-C as a question: the first asks the run to end and keep what is done, the second ends the program.
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

}  // namespace gambrel::app
