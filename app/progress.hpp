// A progress bar with the time left on stderr, if that is a terminal; nothing otherwise.
#pragma once

#include <chrono>
#include <string_view>

namespace gambrel::app {

class ProgressBar {
public:
    explicit ProgressBar(bool quiet);
    ~ProgressBar();
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;
    void show(double fraction, std::string_view doing);

private:
    bool shown_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::chrono::steady_clock::time_point last_{};
};

}  // namespace gambrel::app
