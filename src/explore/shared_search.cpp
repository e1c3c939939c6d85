#include "explore/shared_search.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "explore/recorder.hpp"

namespace gambrel::explore_detail {
namespace {

constexpr std::uint64_t kBatch = 16;  // parts: some tens of milliseconds
constexpr std::uint64_t kNone = ~std::uint64_t{0};
constexpr std::chrono::milliseconds kPause{1};

struct FoundPart {
    std::uint64_t number = 0;
    Exploration::Part part;
};

// Batches are handed out and come back in any order; they are recorded in order. At most `ahead` of them are between
// the two, so memory is bounded.
class Dispatcher {
public:
    Dispatcher(const Exploration& e, Recorder& recorder, std::uint64_t ahead)
        : end_(e.parts()), recorder_(recorder), next_(recorder.next()), ahead_(ahead) {}

    // An empty range: nothing to do at the moment. kNone: nothing more to do.
    PartRange take() {
        const std::scoped_lock lock(mutex_);
        if (stopped_ || next_ >= end_) return {kNone, kNone};
        if (next_ - recorder_.next() >= ahead_ * kBatch) return {0, 0};
        const PartRange range{next_, std::min(end_, next_ + kBatch)};
        next_ = range.last;
        return range;
    }
    void give(std::vector<FoundPart> found) {
        const std::scoped_lock lock(mutex_);
        for (FoundPart& f : found) waiting_.emplace(f.number, std::move(f.part));
        for (auto it = waiting_.begin(); it != waiting_.end() && it->first == recorder_.next() && !stopped_;) {
            if (!recorder_.add(it->first, it->second)) stopped_ = true;
            it = waiting_.erase(it);
        }
    }
    void stop() {
        const std::scoped_lock lock(mutex_);
        stopped_ = true;
    }

private:
    std::uint64_t end_;
    Recorder& recorder_;
    std::uint64_t next_, ahead_;
    std::mutex mutex_;
    std::map<std::uint64_t, Exploration::Part> waiting_;
    bool stopped_ = false;
};

std::vector<FoundPart> work(const Exploration& e, PartRange range, int threads, bool keep) {
    std::vector<FoundPart> found;
    run_parts(e, range, threads, keep, [&](std::uint64_t part, const Exploration::Part& p) {
        found.push_back({part, p});
        return true;
    });
    return found;
}

// Bytes in the order of the machine: all ranks of a run are of one kind.
template <class T>
void put(std::string& out, const T& value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
}
template <class T>
T take(std::string_view& in) {
    T value{};
    std::memcpy(&value, in.data(), std::min(in.size(), sizeof value));
    in.remove_prefix(std::min(in.size(), sizeof value));
    return value;
}

// What a rank tells rank 0: whether it was asked to stop, and the parts of its last batch, none in its first message.
std::string to_wire(bool stop, const std::vector<FoundPart>& found) {
    std::string out(1, stop ? 's' : 'w');
    for (const FoundPart& f : found) {
        const std::string result = to_text(Checkpoint{0, f.number, 0, f.part.result});
        put(out, static_cast<std::uint64_t>(result.size()));
        put(out, static_cast<std::uint64_t>(f.part.designs.size()));
        out += result;
        for (const Design& d : f.part.designs) put(out, d);
    }
    return out;
}

std::vector<FoundPart> from_wire(std::string_view in) {
    std::vector<FoundPart> found;
    while (!in.empty()) {
        const auto text = take<std::uint64_t>(in), designs = take<std::uint64_t>(in);
        FoundPart f;
        if (const auto read = checkpoint_from(in.substr(0, text), "a rank")) {
            f.number = read->next;
            f.part.result = read->result;
        }
        in.remove_prefix(std::min<std::size_t>(in.size(), text));
        for (std::uint64_t i = 0; i < designs && !in.empty(); ++i) f.part.designs.push_back(take<Design>(in));
        found.push_back(std::move(f));
    }
    return found;
}

void work_for_rank_0(const Exploration& e, const ExploreRequest& request, World& world, int threads) {
    std::vector<FoundPart> found;
    for (;;) {
        world.send(0, to_wire(request.stop && request.stop(), found));
        found.clear();
        const std::string reply = world.receive(0);
        std::string_view in = reply;
        const PartRange range = take<PartRange>(in);
        if (range.first == kNone) return;
        if (range.first == range.last)
            std::this_thread::sleep_for(kPause);
        else
            found = work(e, range, threads, !request.designs.empty());
    }
}

void dispatch(const Exploration& e, Recorder& recorder, const ExploreRequest& request, World& world, int threads) {
    Dispatcher dispatcher(e, recorder, 8 * static_cast<std::uint64_t>(world.size()));
    // The calculation is another thread's, because only this one may use the World.
    std::thread own([&] {
        for (PartRange range = dispatcher.take(); range.first != kNone; range = dispatcher.take())
            if (range.first == range.last)
                std::this_thread::sleep_for(kPause);
            else
                dispatcher.give(work(e, range, threads, !request.designs.empty()));
    });
    for (int working = world.size() - 1; working > 0;) {
        const auto message = world.received();
        if (!message) {
            std::this_thread::sleep_for(std::chrono::microseconds(200));
            continue;
        }
        if (message->text.starts_with('s')) dispatcher.stop();
        dispatcher.give(from_wire(std::string_view(message->text).substr(1)));
        const PartRange range = dispatcher.take();
        std::string reply;
        put(reply, range);
        world.send(message->from, reply);
        if (range.first == kNone) --working;
    }
    own.join();
}

}  // namespace

Result<Checkpoint> shared_search(const Exploration& e, const ExploreRequest& request, World& world) {
    const bool first = world.rank() == 0;
    Recorder recorder(e, request);
    // Rank 0 has the files; the others learn of its errors, so that nobody waits for a rank that has given up.
    const auto agreed = [&](const Result<void>& mine) -> Result<void> {
        const std::string fault = world.broadcast(first && !mine ? to_text(mine.error()) : "");
        if (fault.empty() || first) return mine;
        return failure("rank 0", fault);
    };
    if (const auto opened = agreed(first ? recorder.open() : Result<void>{}); !opened)
        return tl::unexpected(opened.error());
    const int cores = static_cast<int>(std::thread::hardware_concurrency());
    if (world.size() == 1) {
        run_parts(e, {recorder.next(), e.parts()}, request.threads, !request.designs.empty(),
                  [&](std::uint64_t part, const Exploration::Part& found) { return recorder.add(part, found); });
    } else {
        const int threads = request.threads > 0 ? request.threads : std::max(1, cores / world.ranks_on_node());
        if (first)
            dispatch(e, recorder, request, world, threads);
        else
            work_for_rank_0(e, request, world, threads);
    }
    if (const auto closed = agreed(first ? recorder.close() : Result<void>{}); !closed)
        return tl::unexpected(closed.error());
    return checkpoint_from(world.broadcast(first ? to_text(recorder.state()) : ""), "rank 0");
}

}  // namespace gambrel::explore_detail
