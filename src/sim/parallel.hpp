// f(0) ... f(count - 1) on so many threads, each index once; returns when all are done.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace gambrel::sim_detail {

template <class F>
void parallel_for(std::size_t count, unsigned threads, F f) {
    if (threads <= 1 || count <= 1) {
        for (std::size_t i = 0; i < count; ++i) f(i);
        return;
    }
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
        for (std::size_t i = next++; i < count; i = next++) f(i);
    };
    std::vector<std::jthread> helpers;
    for (std::size_t i = 1; i < std::min<std::size_t>(threads, count); ++i) helpers.emplace_back(work);
    work();
}

}  // namespace gambrel::sim_detail
