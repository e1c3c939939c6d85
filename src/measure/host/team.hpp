// A thread pinned to each core, sleeping between runs, started together. What runs is timed by the threads themselves:
// from the first that starts to the last that ends.
#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "measure/host/topology.hpp"
#include "measure/statistics.hpp"

namespace gambrel::measure_detail {

inline constexpr double kWholeCore = 0.9;  // less of its width is a core that others use

class Team {
public:
    explicit Team(const HostTopology& topology);
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    [[nodiscard]] int size() const { return static_cast<int>(threads_.size()); }
    [[nodiscard]] bool pinned() const { return pinned_; }
    // Runs `work(thread)` on threads 0 to count-1 at once and waits. Work throws nothing.
    struct Run {
        Seconds time{};
        // A thread did not have its core all the time, or not the whole of it.
        bool disturbed = false;
        IssueWidth narrowest;  // of the cores, each compared with what it has when whole
    };
    Run run(int count, const std::function<void(int)>& work);
    // A core that can issue less than this is shared, by what all runs until now have seen.
    [[nodiscard]] double least_width(int core) const {
        return kWholeCore * times_[static_cast<std::size_t>(core)].whole_width;
    }

private:
    void loop(int me, const HostTopology& topology);
    struct alignas(128) Times {
        double start = 0, end = 0, cpu = 0;
        double width = 0, whole_width = 0;  // issue_width() around the last run, and of the core when nothing shares it
    };
    std::vector<std::thread> threads_;
    std::vector<Times> times_;
    const std::function<void(int)>* work_ = nullptr;
    int count_ = 0;
    bool quit_ = false;
    std::atomic<bool> pinned_{true};
    alignas(128) std::atomic<unsigned> epoch_{0};
    alignas(128) std::atomic<int> arrived_{0};
    alignas(128) std::atomic<int> done_{0};
};

// Cycles per second of the core that asks, from a chain of dependent additions: one a cycle on every CPU we know.
Frequency core_clock();
// Additions in a cycle where none waits for another: what the core can issue at this moment. It drops when the sibling
// hyperthread is busy, which is the only way to notice that if the sibling belongs to another virtual machine. 0 where
// unknown.
double issue_width();
// The estimate of the width of an unshared core after one more observation. The maximum would stay wrong after one
// badly placed interrupt; the median would be wrong where other programs use the core most of the time.
double believed_width(double before, double seen);

}  // namespace gambrel::measure_detail
