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
            Times& t = times_[static_cast<std::size_t>(me)];
            const double before = issue_width();
            // Spinning, so that all start within a fraction of a microsecond; a core that is taken away meanwhile
            // shows in the spread.
            arrived_.fetch_add(1);
            while (arrived_.load(std::memory_order_acquire) < count_) {
            }
            const double cpu = cpu_seconds();
            t.start = seconds_now();
            (*work_)(me);
            t.end = seconds_now();
            t.cpu = cpu_seconds() - cpu;
            const double after = issue_width();
            t.width = std::min(before, after);
            t.whole_width = believed_width(believed_width(t.whole_width, before), after);
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
    double least_share = 0;
    IssueWidth narrowest;
    for (int i = 0; i < count_; ++i) {
        const Times& t = times_[static_cast<std::size_t>(i)];
        first = std::min(first, t.start);
        last = std::max(last, t.end);
        // Two kinds of clocks, read one after the other: a difference of a fifth of a percent and two microseconds does
        // not mean that another program ran.
        disturbed = disturbed || t.cpu < 0.998 * (t.end - t.start) - 2e-6 || t.width < least_width(i);
        const double share = t.whole_width > 0 ? t.width / t.whole_width : 0;
        if (i == 0 || share < least_share) least_share = share, narrowest = {i, t.width};
    }
    // One that started late left the others alone with caches and memory.
    for (int i = 0; i < count_; ++i)
        disturbed = disturbed || times_[static_cast<std::size_t>(i)].start - first > 0.01 * (last - first) + 5e-6;
    return {Seconds{last - first}, disturbed, narrowest};
}

namespace {

constexpr int kAdds = 100;  // of one call of the two below

void dependent_additions([[maybe_unused]] std::uint64_t& x) {
#if defined(__x86_64__)
    asm volatile(".rept 100\n\tadd $1, %0\n\t.endr" : "+r"(x) : : "cc");
#elif defined(__aarch64__)
    asm volatile(".rept 100\n\tadd %0, %0, #1\n\t.endr" : "+r"(x));
#endif
}

void independent_additions([[maybe_unused]] std::uint64_t* x) {
#if defined(__x86_64__)
    asm volatile(".rept 20\n\tadd $1, %0\n\tadd $1, %1\n\tadd $1, %2\n\tadd $1, %3\n\tadd $1, %4\n\t.endr"
                 : "+r"(x[0]), "+r"(x[1]), "+r"(x[2]), "+r"(x[3]), "+r"(x[4])
                 :
                 : "cc");
#elif defined(__aarch64__)
    asm volatile(
        ".rept 20\n\tadd %0, %0, #1\n\tadd %1, %1, #1\n\tadd %2, %2, #1\n\tadd %3, %3, #1\n\tadd %4, %4, #1\n\t.endr"
        : "+r"(x[0]), "+r"(x[1]), "+r"(x[2]), "+r"(x[3]), "+r"(x[4]));
#endif
}

constexpr bool kKnown =
#if defined(__x86_64__) || defined(__aarch64__)
    true;
#else
    false;
#endif

}  // namespace

Frequency core_clock() {
    if (!kKnown) return Frequency{0};
    constexpr int kRounds = 200;
    double best = 0;
    std::uint64_t x = 0;
    for (int attempt = 0; attempt < 3; ++attempt) {
        const double start = seconds_now();
        for (int i = 0; i < kRounds; ++i) dependent_additions(x);
        best = std::max(best, kRounds * kAdds / (seconds_now() - start));
    }
    return Frequency{best};
}

double believed_width(double before, double seen) {
    constexpr double kWidest = 10;                                // no core issues more; it was an interrupt
    constexpr double kLeap = 0.02, kNear = 0.05, kForget = 1e-4;  // what is near holds it against rare leaps
    if (seen > kWidest) return before;
    if (before <= 0) return seen / 2;  // from below: the first look may be one of the wrong ones
    if (seen > before / kWholeCore) return before + kLeap * (std::min(seen, 1.5 * before) - before);
    return before + (seen > kWholeCore * before ? kNear : kForget) * (seen - before);
}

double issue_width() {
    if (!kKnown) return 0;
    constexpr int kChain = 40, kFree = 300;  // three times about a microsecond, and two
    std::uint64_t x[5] = {};
    // The shortest of three: an interrupt here would pass for a wide core, and all that follow for narrow ones.
    double chain = 1;
    for (int attempt = 0; attempt < 3; ++attempt) {
        const double start = seconds_now();
        for (int i = 0; i < kChain; ++i) dependent_additions(x[0]);
        chain = std::min(chain, seconds_now() - start);
    }
    const double start = seconds_now();
    for (int i = 0; i < kFree; ++i) independent_additions(x);
    return chain / (seconds_now() - start) * kFree / kChain;
}

}  // namespace gambrel::measure_detail
