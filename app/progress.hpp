// A bar with the time left on stderr, where that is a terminal; nothing anywhere else. And Ctrl-C as a request to stop,
// which the second one makes the usual end.
#pragma once

#include <chrono>
#include <string>

namespace gambrel::app {

class ProgressBar {
public:
    explicit ProgressBar(bool wanted);
    ~ProgressBar();
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;
    void show(double fraction, const std::string& what);

private:
    bool on_;
    bool drawn_ = false;
    std::chrono::steady_clock::time_point start_, last_;
};

class Interrupt {
public:
    Interrupt();
    ~Interrupt();
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;
    [[nodiscard]] static bool asked();
};

}  // namespace gambrel::app
