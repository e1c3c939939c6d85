// f(0) ... f(count - 1) on up to `threads` threads, each index once; returns when all are done. The threads are
// oneTBB's, which outlive the call: a simulation makes thousands of them.
#pragma once

#include <cstddef>

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

namespace gambrel::sim_detail {

template <class F>
void parallel_for(std::size_t count, unsigned threads, F f) {
    if (threads <= 1 || count <= 1) {
        for (std::size_t i = 0; i < count; ++i) f(i);
        return;
    }
    tbb::task_arena arena(static_cast<int>(threads));
    // One index for each task: an index is one SM or one slice of L2, whose work differs widely.
    arena.execute([&] { tbb::parallel_for(std::size_t{0}, count, f, tbb::simple_partitioner{}); });
}

}  // namespace gambrel::sim_detail
