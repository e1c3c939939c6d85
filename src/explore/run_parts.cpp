#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>

#include <tbb/enumerable_thread_specific.h>
#include <tbb/global_control.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include "explore/search.hpp"

namespace gambrel {

// A pipeline whose last stage is in order gives `done` the parts as a single thread would, and holds no more of them
// than there are tokens: memory does not grow with the space.
void run_parts(const Exploration& exploration, PartRange range, int threads, bool keep_designs, const PartDone& done) {
    struct Numbered {
        std::uint64_t number = 0;
        Exploration::Part part;
    };
    const int cores = threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    // Asked for more threads than cores, TBB would give fewer and say so on stderr.
    const tbb::global_control allowed(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(cores));
    tbb::task_arena arena(cores);
    // A scratch holds a copy of the machine and lives as long as the run.
    tbb::enumerable_thread_specific<DesignEvaluator::Scratch> scratches(
        [&] { return exploration.evaluator().scratch(); });
    std::uint64_t next = range.first;
    std::atomic<bool> stop = false;
    const auto hand_out = [&](tbb::flow_control& control) -> std::uint64_t {
        if (stop || next >= range.last) {
            control.stop();
            return 0;
        }
        return next++;
    };
    const auto work = [&](std::uint64_t number) {
        return std::make_shared<Numbered>(Numbered{number, exploration.run(number, scratches.local(), keep_designs)});
    };
    const auto collect = [&](const std::shared_ptr<Numbered>& finished) {
        if (!stop && !done(finished->number, finished->part)) stop = true;
    };
    arena.execute([&] {
        tbb::parallel_pipeline(
            static_cast<std::size_t>(cores) * 4,
            tbb::make_filter<void, std::uint64_t>(tbb::filter_mode::serial_in_order, hand_out) &
                tbb::make_filter<std::uint64_t, std::shared_ptr<Numbered>>(tbb::filter_mode::parallel, work) &
                tbb::make_filter<std::shared_ptr<Numbered>, void>(tbb::filter_mode::serial_in_order, collect));
    });
}

}  // namespace gambrel
