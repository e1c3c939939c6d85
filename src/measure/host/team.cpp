#include "measure/host/team.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>

namespace gambrel::measure_detail {
namespace {

double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double cpu_seconds() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace

Team::Team(const HostTopology& topology) : times_(static_cast<std::size_t>(topology.cores())) {
    for (int i = 0; i < topology.cores(); ++i) threads_.emplace_back([this, i, &topology] { loop(i, topology); });
    run(size(), [](int) {});  // every thread has bound itself when this returns
}

Team::~Team() {
    quit_ = true;
    epoch_.fetch_add(1);
    epoch_.notify_all();
    for (auto& t : threads_) t.join();
}

void Team::loop(int me, const HostTopology& topology) {
    if (!topology.bind_to(me)) pinned_ = false;
    for (unsigned seen = 0;;) {
        epoch_.wait(seen);
        seen = epoch_.load();
        if (quit_) return;
        if (me < count_) {
            // Spinning, so that all start within a fraction of a microsecond; a cpu that is taken away meanwhile is
            // the system's affair and shows in the spread.
            arrived_.fetch_add(1);
            while (arrived_.load(std::memory_order_acquire) < count_) {
            }
            Times& t = times_[static_cast<std::size_t>(me)];
            const double cpu = cpu_seconds();
            t.start = seconds_now();
            (*work_)(me);
            t.end = seconds_now();
            t.cpu = cpu_seconds() - cpu;
        }
        if (done_.fetch_add(1) + 1 == size()) done_.notify_all();
    }
}

Team::Run Team::run(int count, const std::function<void(int)>& work) {
    work_ = &work;
    count_ = std::min(count, size());
    arrived_ = 0;
    done_ = 0;
    epoch_.fetch_add(1);
    epoch_.notify_all();
    for (int done = done_.load(); done < size(); done = done_.load()) done_.wait(done);
    double first = times_[0].start, last = times_[0].end;
    bool disturbed = false;
    for (int i = 0; i < count_; ++i) {
        const Times& t = times_[static_cast<std::size_t>(i)];
        first = std::min(first, t.start);
        last = std::max(last, t.end);
        // Clocks of two kinds, read one after the other: a fifth of a percent and two microseconds are no other
        // program.
        disturbed = disturbed || t.cpu < 0.998 * (t.end - t.start) - 2e-6;
    }
    // One that started late left the others alone with caches and memory.
    for (int i = 0; i < count_; ++i)
        disturbed = disturbed || times_[static_cast<std::size_t>(i)].start - first > 0.01 * (last - first) + 5e-6;
    return {Seconds{last - first}, disturbed};
}

Frequency core_clock() {
    constexpr int kRounds = 200, kAddsPerRound = 100;
    double best = 0;
    for (int attempt = 0; attempt < 3; ++attempt) {
        [[maybe_unused]] std::uint64_t x = 0;
        const double start = seconds_now();
        for (int i = 0; i < kRounds; ++i) {
#if defined(__x86_64__)
            asm volatile(".rept 100\n\tadd $1, %0\n\t.endr" : "+r"(x) : : "cc");
#elif defined(__aarch64__)
            asm volatile(".rept 100\n\tadd %0, %0, #1\n\t.endr" : "+r"(x));
#else
            return Frequency{0};
#endif
        }
        best = std::max(best, kRounds * kAddsPerRound / (seconds_now() - start));
    }
    return Frequency{best};
}

}  // namespace gambrel::measure_detail
