#include "watch.hpp"

#include <chrono>
#include <thread>

namespace gambrel::python {

namespace nb = nanobind;

void fail(std::string where, std::string what) { throw Failure(Errors{{std::move(where), std::move(what)}}); }

void Watch::report(double fraction, std::string_view doing) {
    const std::lock_guard lock(mutex_);
    fraction_ = fraction;
    doing_ = doing;
}

void run_watched(const std::function<void(Watch&)>& work, const nb::object& progress) {
    Watch watch;
    std::thread worker([&] {
        try {
            work(watch);
        } catch (...) {
            watch.failed_ = std::current_exception();
        }
        const std::lock_guard lock(watch.mutex_);
        watch.done_ = true;
        watch.changed_.notify_one();
    });
    std::exception_ptr raised;
    for (bool done = false; !done;) {
        double fraction = 0;
        std::string doing;
        {
            const nb::gil_scoped_release released;
            std::unique_lock lock(watch.mutex_);
            done = watch.changed_.wait_for(lock, std::chrono::milliseconds(100), [&] { return watch.done_; });
            fraction = watch.fraction_;
            doing = watch.doing_;
        }
        try {
            if (PyErr_CheckSignals() != 0) throw nb::python_error();
            if (!done && !raised && !progress.is_none()) progress(fraction, doing);
        } catch (...) {
            raised = std::current_exception();
            watch.stop_ = true;
        }
    }
    worker.join();
    if (raised) std::rethrow_exception(raised);
    if (watch.failed_) std::rethrow_exception(watch.failed_);
}

}  // namespace gambrel::python
