// Ranks that share the parts of an exploration. Rank 0 hands out batches and works itself; only its main thread speaks
// MPI. Open MPI ends all ranks when one dies, and the checkpoint is what the next run goes on from.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>

#include "app/explore_run.hpp"

#ifdef GAMBREL_HAVE_MPI
#define OMPI_SKIP_MPICXX 1  // the C++ bindings were removed from MPI in 2012
#include <mpi.h>
#endif

namespace gambrel::app {

#ifndef GAMBREL_HAVE_MPI

World::World() = default;
World::~World() = default;
bool World::agreed(bool mine) const { return mine; }

void World::share(const Exploration& exploration, Recorder* recorder, const RunFlags& flags) const {
    run_parts(exploration, {recorder->next(), exploration.parts()}, flags.threads, !flags.designs.empty(),
              [&](std::uint64_t part, const Exploration::Part& found) { return recorder->add(part, found); });
}

#else

namespace {

constexpr std::uint64_t kBatch = 16;  // parts: some tens of milliseconds
constexpr std::uint64_t kNone = ~std::uint64_t{0};
enum Tag : int { kAsk = 1, kRange = 2, kFound = 3, kDesigns = 4 };

struct Found {
    std::uint64_t number = 0;
    Exploration::Part part;
};

// Batches that are handed out and come back in any order; recorded in order. At most `ahead` are in between, so memory
// is bounded.
class Dispatcher {
public:
    Dispatcher(const Exploration& e, Recorder& recorder, std::uint64_t ahead)
        : end_(e.parts()), recorder_(recorder), next_(recorder.next()), ahead_(ahead) {}

    // An empty range: nothing to do now; kNone: nothing ever again.
    PartRange take() {
        const std::scoped_lock lock(mutex_);
        if (stopped_ || next_ >= end_) return {kNone, kNone};
        if (next_ - recorder_.next() >= ahead_ * kBatch) return {0, 0};
        const PartRange range{next_, std::min(end_, next_ + kBatch)};
        next_ = range.last;
        return range;
    }
    void give(std::vector<Found> found) {
        const std::scoped_lock lock(mutex_);
        for (Found& f : found) waiting_.emplace(f.number, std::move(f.part));
        for (auto it = waiting_.begin(); it != waiting_.end() && it->first == recorder_.next() && !stopped_;) {
            if (!recorder_.add(it->first, it->second)) stopped_ = true;
            it = waiting_.erase(it);
        }
    }

private:
    std::uint64_t end_;
    Recorder& recorder_;
    std::uint64_t next_, ahead_;
    std::mutex mutex_;
    std::map<std::uint64_t, Exploration::Part> waiting_;
    bool stopped_ = false;
};

std::vector<Found> work(const Exploration& e, PartRange range, int threads, bool keep) {
    std::vector<Found> found;
    run_parts(e, range, threads, keep, [&](std::uint64_t part, const Exploration::Part& p) {
        found.push_back({part, p});
        return true;
    });
    return found;
}

// The result and the designs of one part as two messages.
void send(const Found& f) {
    Checkpoint c;
    c.next = f.number;
    c.result = f.part.result;
    const std::string text = to_text(c);
    MPI_Send(text.data(), static_cast<int>(text.size()), MPI_CHAR, 0, kFound, MPI_COMM_WORLD);
    MPI_Send(f.part.designs.data(), static_cast<int>(f.part.designs.size() * sizeof(Design)), MPI_BYTE, 0, kDesigns,
             MPI_COMM_WORLD);
}

Found receive(int rank) {
    MPI_Status status;
    int size = 0;
    MPI_Probe(rank, kFound, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_CHAR, &size);
    std::string text(static_cast<std::size_t>(size), '\0');
    MPI_Recv(text.data(), size, MPI_CHAR, rank, kFound, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    Found f;
    if (const auto read = checkpoint_from(text, "a rank")) {
        f.number = read->next;
        f.part.result = read->result;
    }
    MPI_Probe(rank, kDesigns, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &size);
    f.part.designs.resize(static_cast<std::size_t>(size) / sizeof(Design));
    MPI_Recv(f.part.designs.data(), size, MPI_BYTE, rank, kDesigns, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return f;
}

// An ask of 0 wants a batch; another number says how many parts follow.
void work_for_rank_0(const Exploration& e, int threads, bool keep) {
    for (;;) {
        std::uint64_t count = 0;
        PartRange range;
        MPI_Send(&count, 1, MPI_UINT64_T, 0, kAsk, MPI_COMM_WORLD);
        MPI_Recv(&range, 2, MPI_UINT64_T, 0, kRange, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (range.first == kNone) return;
        if (range.first == range.last) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            continue;
        }
        const auto found = work(e, range, threads, keep);
        count = found.size();
        MPI_Send(&count, 1, MPI_UINT64_T, 0, kAsk, MPI_COMM_WORLD);
        for (const Found& f : found) send(f);
    }
}

}  // namespace

World::World() {
    if (!std::getenv("OMPI_COMM_WORLD_SIZE") && !std::getenv("PMI_SIZE") && !std::getenv("PMIX_RANK")) return;
    int initialized = 0, provided = 0;
    MPI_Initialized(&initialized);
    if (!initialized) {
        MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
        started_ = true;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
}
World::~World() {
    if (started_) MPI_Finalize();
}

bool World::agreed(bool mine) const {
    int word = mine ? 1 : 0;
    if (size_ > 1) MPI_Bcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return word != 0;
}

void World::share(const Exploration& e, Recorder* recorder, const RunFlags& flags) const {
    const bool keep = !flags.designs.empty();
    if (size_ == 1) {
        run_parts(e, {recorder->next(), e.parts()}, flags.threads, keep,
                  [&](std::uint64_t part, const Exploration::Part& found) { return recorder->add(part, found); });
        return;
    }
    // Ranks of a node share its cores.
    int local = 1;
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &local);
    MPI_Comm_free(&node);
    const int cores = static_cast<int>(std::thread::hardware_concurrency());
    const int threads = flags.threads > 0 ? flags.threads : std::max(1, cores / local);
    if (rank_ != 0) return work_for_rank_0(e, threads, keep);

    Dispatcher dispatcher(e, *recorder, 8 * static_cast<std::uint64_t>(size_));
    std::thread own([&] {
        for (PartRange range = dispatcher.take(); range.first != kNone; range = dispatcher.take())
            if (range.first == range.last)
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            else
                dispatcher.give(work(e, range, threads, keep));
    });
    for (int working = size_ - 1; working > 0;) {
        int waiting = 0;
        MPI_Status status;
        MPI_Iprobe(MPI_ANY_SOURCE, kAsk, MPI_COMM_WORLD, &waiting, &status);
        if (!waiting) {
            std::this_thread::sleep_for(std::chrono::microseconds(200));
            continue;
        }
        const int rank = status.MPI_SOURCE;
        std::uint64_t count = 0;
        MPI_Recv(&count, 1, MPI_UINT64_T, rank, kAsk, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (count > 0) {
            std::vector<Found> found;
            for (std::uint64_t i = 0; i < count; ++i) found.push_back(receive(rank));
            dispatcher.give(std::move(found));
            continue;
        }
        const PartRange range = dispatcher.take();
        MPI_Send(&range, 2, MPI_UINT64_T, rank, kRange, MPI_COMM_WORLD);
        if (range.first == kNone) --working;
    }
    own.join();
}

#endif

}  // namespace gambrel::app
