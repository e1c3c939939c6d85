#include "app/progress.hpp"

#include <csignal>
#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

namespace gambrel::app {
namespace {

volatile std::sig_atomic_t interrupted = 0;

extern "C" void on_interrupt(int) {
    interrupted = 1;
    std::signal(SIGINT, SIG_DFL);
}

}  // namespace

ProgressBar::ProgressBar(bool wanted)
    : on_(wanted && isatty(STDERR_FILENO) != 0), start_(std::chrono::steady_clock::now()), last_(start_) {}

ProgressBar::~ProgressBar() {
    if (drawn_) fmt::print(stderr, "\r\033[K");
}

void ProgressBar::show(double fraction, const std::string& what) {
    const auto now = std::chrono::steady_clock::now();
    if (!on_ || now - last_ < std::chrono::milliseconds(200)) return;
    last_ = now;
    drawn_ = true;
    constexpr int kWidth = 24;
    const int filled = static_cast<int>(fraction * kWidth);
    const double spent = std::chrono::duration<double>(now - start_).count();
    const std::string left = fraction > 0.01 ? fmt::format("{:.0f} s left", spent / fraction - spent) : "";
    fmt::print(stderr, "\r\033[K[{:#>{}}{:.>{}}] {:3.0f} % {} {:.30}", "", filled, "", kWidth - filled, 100 * fraction,
               left, what);
    std::fflush(stderr);
}

Interrupt::Interrupt() {
    interrupted = 0;
    std::signal(SIGINT, on_interrupt);
}
Interrupt::~Interrupt() { std::signal(SIGINT, SIG_DFL); }
bool Interrupt::asked() { return interrupted != 0; }

}  // namespace gambrel::app
