#include "app/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <fmt/format.h>

namespace gambrel::app {

ProgressBar::ProgressBar(bool quiet) : shown_(!quiet && isatty(STDERR_FILENO) != 0) {
    const char* term = std::getenv("TERM");
    if (!term || std::string_view(term) == "dumb") shown_ = false;
}

ProgressBar::~ProgressBar() {
    if (shown_) std::fputs("\r\x1b[K", stderr);
}

void ProgressBar::show(double fraction, std::string_view doing) {
    const auto now = std::chrono::steady_clock::now();
    // Ten times a second: a terminal costs time on the cores that are being measured.
    if (!shown_ || now - last_ < std::chrono::milliseconds(100)) return;
    last_ = now;
    winsize size{};
    const int width = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
    const int bar = std::clamp(width - 48, 5, 30);
    const int full = static_cast<int>(std::clamp(fraction, 0.0, 1.0) * bar);
    const double spent = std::chrono::duration<double>(now - start_).count();
    const std::string left = fraction > 0.02 ? fmt::format("{:.0f} s left  ", spent / fraction - spent) : "";
    const std::string text =
        fmt::format("[{}{}] {:3.0f} %  {}{}", std::string(static_cast<std::size_t>(full), '#'),
                    std::string(static_cast<std::size_t>(bar - full), '.'), 100 * fraction, left, doing);
    const std::string line = "\r" + text.substr(0, static_cast<std::size_t>(std::max(width - 1, 10))) + "\x1b[K";
    std::fputs(line.c_str(), stderr);
}

}  // namespace gambrel::app
