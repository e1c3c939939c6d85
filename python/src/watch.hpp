// Long work without the GIL: it runs in a thread of its own while the calling thread looks for Ctrl-C and hands
// progress to Python. A failure of the library becomes an exception that carries its Errors.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <nanobind/nanobind.h>

#include <gambrel/base.hpp>

namespace gambrel::python {

// What the library answered with; becomes gambrel.Error.
struct Failure : std::exception {
    explicit Failure(Errors e) : errors(std::move(e)) {}
    [[nodiscard]] const char* what() const noexcept override { return "gambrel.Error"; }
    Errors errors;
};
[[noreturn]] void fail(std::string where, std::string what);

template <class T>
T checked(Result<T> result) {
    if (!result) throw Failure(std::move(result.error()));
    return std::move(*result);
}

// What the work may call, from any of its threads.
class Watch {
public:
    [[nodiscard]] bool stopped() const { return stop_; }
    void report(double fraction, std::string_view doing);
    bool go_on(double fraction, std::string_view doing) { return report(fraction, doing), !stop_; }

private:
    friend void run_watched(const std::function<void(Watch&)>& work, const nanobind::object& progress);
    std::atomic<bool> stop_ = false;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool done_ = false;
    double fraction_ = 0;
    std::string doing_;
    std::exception_ptr failed_;
};

// Returns when the work has ended. `progress` is called with (fraction, what is done) at most ten times a second; None:
// not at all. After Ctrl-C, or an exception of `progress`, the work is asked to stop and the exception is raised.
void run_watched(const std::function<void(Watch&)>& work, const nanobind::object& progress);

template <class Work>
auto watched(const nanobind::object& progress, Work work) {
    std::optional<decltype(work(std::declval<Watch&>()))> result;
    run_watched([&](Watch& watch) { result.emplace(work(watch)); }, progress);
    return std::move(*result);
}

}  // namespace gambrel::python
