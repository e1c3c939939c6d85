#include "sim/run.hpp"

#include <algorithm>
#include <cmath>
#include <thread>

#include "sim/sampled_estimate.hpp"

namespace gambrel::sim_detail {
namespace {

// Events of one batch for each thread: little enough for what they ask of L2 to stay in the caches of the host's core,
// and of four threads or more enough to share. Batches are whole rounds (hierarchy.hpp).
constexpr std::size_t kBatch = 512;
constexpr unsigned kMostShares = 4;
std::size_t batch(const Device& device, unsigned threads) {
    const std::size_t round = std::size_t{device.caches.sms} * device.ctas_per_sm;
    return round * std::max<std::size_t>(1, kBatch * std::clamp(threads, 1U, kMostShares) / round);
}

class Runner {
public:
    Runner(const AddressStream& stream, const Device& device, const SimulationOptions& options)
        : stream_(stream),
          device_(device),
          options_(options),
          threads_(options.threads > 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency())),
          hierarchy_(stream, device.caches, device.ctas_per_sm, threads_) {}

    RunResult all() {
        const std::int64_t ctas = stream_.ctas();
        planned_ = ctas * (options_.warm ? 2 : 1);
        RunResult result;
        if (options_.warm) {
            result.ctas_done = in_turn();
            // What the first run still has to write is its own.
            hierarchy_.flush(false);
            if (!stopped_) hierarchy_.clear_counts();
        }
        if (!stopped_) result.ctas_done = in_turn();
        hierarchy_.flush();
        result.counts = hierarchy_.counts();
        result.partial = stopped_;
        result.shared_memory_bytes = shared_memory(result.ctas_done);
        for (const Counts& counts : result.counts) result.accesses += counts.l1_read + counts.l1_write;
        return result;
    }

    // The waves that fill the caches from nothing are simulated as they are. The others are estimated from windows: as
    // many waves to fill the caches again, and one that is counted.
    RunResult sampled(std::int64_t wave, int windows) {
        const std::int64_t ctas = stream_.ctas(), fill = fill_waves(wave) * wave, head = fill + wave;
        // The wave after a counted one keeps its SMs as busy as they would be.
        const std::int64_t window = fill + 2 * wave;
        if (stopped_ || head + wave + windows * window > ctas * 7 / 10) {
            hierarchy_.clear();
            done_ = 0;
            return all();
        }
        planned_ = 2 * wave + head + windows * window;
        RunResult result;
        hierarchy_.clear();
        range(0, head + wave, {0, head});
        hierarchy_.flush(true, false);
        SampledEstimate estimate(hierarchy_.counts(), hierarchy_.uncounted(), work(0, head), work(head, head + wave));
        for (int w = 0; w < windows && !stopped_; ++w) {
            const std::int64_t first = head + (ctas - head - wave) * w / (windows - 1), end = first + wave;
            const std::int64_t after = std::min(ctas, end + wave);
            hierarchy_.clear();
            // Every other window starts in progress: how far CTAs are out of step is between the two, and so becomes
            // part of the spread.
            range(first - fill, after, {first, end}, w % 2 == 1);
            hierarchy_.flush(true, false);
            if (stopped_) break;
            estimate.add(hierarchy_.counts(), hierarchy_.uncounted(), work(first, end),
                         work(first - fill, first) + work(end, after));
        }
        result.ctas_done = stopped_ ? 0 : head + windows * wave;
        result.partial = stopped_;
        result.counts = stopped_ ? TensorCounts{} : estimate.total(work(head, ctas));
        result.error = stopped_ ? SamplingError{1, 1, 1} : estimate.error(work(head, ctas));
        if (!stopped_) result.shared_memory_bytes = shared_memory(ctas);
        result.accesses = accesses_;
        return result;
    }

private:
    // All kernels, each after the end of the one before it.
    std::int64_t in_turn() {
        std::int64_t done = 0, first = 0;
        for (std::int64_t kernel = 0; kernel < stream_.kernels() && !stopped_; ++kernel) {
            const std::int64_t end = stream_.end_of(kernel);
            done += range(first, end, {});
            first = end;
            hierarchy_.end_kernel();
        }
        return done;
    }
    std::int64_t range(std::int64_t first, std::int64_t end, Hierarchy::Counted counted, bool in_progress = false) {
        Schedule schedule(stream_, {device_.caches.sms, device_.ctas_per_sm, in_progress}, device_.contention,
                          options_.seed, first, end);
        std::int64_t ended = 0;
        const std::size_t most = batch(device_, threads_);
        for (schedule.next(most, events_); !events_.empty(); schedule.next(most, events_)) {
            if (options_.stop.stop_requested()) {
                stopped_ = true;
                break;
            }
            hierarchy_.run(events_, counted);
            for (const Event& event : events_) ended += event.last ? 1 : 0;
            if (options_.progress)
                options_.progress(std::min(1.0, static_cast<double>(done_ + ended) / static_cast<double>(planned_)));
        }
        done_ += ended;
        for (const Counts& counts : hierarchy_.counts()) accesses_ += counts.l1_read + counts.l1_write;
        return ended;
    }

    // How many waves it takes to fill L2, by what the first one brings in.
    std::int64_t fill_waves(std::int64_t wave) {
        range(0, wave, {});
        std::uint64_t lines = 0;
        for (const Counts& counts : hierarchy_.counts()) lines += counts.l2_filled;
        const double waves = 1.5 * static_cast<double>(device_.caches.l2_lines) / static_cast<double>(lines + 1);
        return static_cast<std::int64_t>(std::clamp(std::ceil(waves), 1.0, 8.0));
    }
    [[nodiscard]] double work(std::int64_t first, std::int64_t end) const {
        double sum = 0;
        for (std::int64_t cta = first; cta < end; ++cta) sum += stream_.work(cta);
        return sum;
    }
    [[nodiscard]] double shared_memory(std::int64_t ctas) const {
        double bytes = 0;
        for (std::int64_t cta = 0; cta < ctas; ++cta) bytes += stream_.shared_memory_bytes(cta);
        return bytes;
    }

    const AddressStream& stream_;
    const Device& device_;
    const SimulationOptions& options_;
    unsigned threads_;
    Hierarchy hierarchy_;
    std::vector<Event> events_;
    std::int64_t planned_ = 1, done_ = 0;
    std::uint64_t accesses_ = 0;
    bool stopped_ = false;
};

}  // namespace

RunResult run(const AddressStream& stream, const Device& device, const SimulationOptions& options) {
    // SMs that would have no CTA need no caches; halves of L2 belong to SMs by their number, so those keep them all.
    Device used = device;
    if (device.caches.partitions <= 1)
        used.caches.sms = static_cast<std::uint32_t>(std::clamp<std::int64_t>(stream.ctas(), 1, device.caches.sms));
    Runner runner(stream, used, options);
    const std::int64_t wave = std::int64_t{device.caches.sms} * device.ctas_per_sm;
    // A window is two waves. Where little is saved, the whole layer costs hardly more and has no error.
    if (options.sample > 1 && stream.kernels() == 1 && stream.ctas() > 3 * wave * options.sample)
        return runner.sampled(wave, options.sample);
    return runner.all();
}

}  // namespace gambrel::sim_detail
