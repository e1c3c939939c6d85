// Compiles kernels in a thread before they are asked for: some take half a second, and a short run has some fifty.
// Invariant: `get` never waits for a kernel that is still in the queue; it compiles that one itself.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "measure/cuda/nvrtc.hpp"

namespace gambrel::measure_detail {

class CompileAhead {
public:
    CompileAhead(std::shared_ptr<const Nvrtc> compiler, std::string architecture)
        : compiler_(std::move(compiler)), architecture_(std::move(architecture)) {}
    ~CompileAhead();
    CompileAhead(const CompileAhead&) = delete;
    CompileAhead& operator=(const CompileAhead&) = delete;

    void expect(std::vector<KernelSource> sources);
    Result<Nvrtc::Binary> get(const KernelSource& source);
    [[nodiscard]] int compiled_ahead() const;  // of those that `get` has returned

private:
    void work();

    std::shared_ptr<const Nvrtc> compiler_;
    std::string architecture_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<KernelSource> waiting_;
    std::string begun_;  // text of the kernel that the thread compiles now
    std::map<std::string, Result<Nvrtc::Binary>> done_;
    int used_ = 0;
    bool ending_ = false;
    std::thread thread_;
};

}  // namespace gambrel::measure_detail
