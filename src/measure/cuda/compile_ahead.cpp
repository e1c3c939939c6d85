#include "measure/cuda/compile_ahead.hpp"

#include <algorithm>

namespace gambrel::measure_detail {

CompileAhead::~CompileAhead() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
        waiting_.clear();
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void CompileAhead::expect(std::vector<KernelSource> sources) {
    const std::lock_guard lock(mutex_);
    for (KernelSource& source : sources) {
        const auto same = [&](const KernelSource& other) { return other.text == source.text; };
        if (source.text == begun_ || done_.contains(source.text) || std::any_of(waiting_.begin(), waiting_.end(), same))
            continue;
        waiting_.push_back(std::move(source));
    }
    if (!thread_.joinable() && !waiting_.empty()) thread_ = std::thread([this] { work(); });
    changed_.notify_all();
}

Result<Nvrtc::Binary> CompileAhead::get(const KernelSource& source) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return begun_ != source.text; });
    if (const auto it = done_.find(source.text); it != done_.end()) {
        ++used_;
        return it->second;
    }
    std::erase_if(waiting_, [&](const KernelSource& other) { return other.text == source.text; });
    lock.unlock();
    return compiler_->compile(source, architecture_);
}

int CompileAhead::compiled_ahead() const {
    const std::lock_guard lock(mutex_);
    return used_;
}

void CompileAhead::work() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [&] { return ending_ || !waiting_.empty(); });
        if (ending_) return;
        const KernelSource source = std::move(waiting_.front());
        waiting_.pop_front();
        begun_ = source.text;
        lock.unlock();
        auto binary = compiler_->compile(source, architecture_);
        lock.lock();
        done_.emplace(begun_, std::move(binary));
        begun_.clear();
        changed_.notify_all();
    }
}

}  // namespace gambrel::measure_detail
