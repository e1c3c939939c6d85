#include "sim/run.hpp"

#include <algorithm>
#include <cmath>
#include <thread>

namespace gambrel::sim_detail {
namespace {

// Events of one batch: enough for threads to share, little enough for the misses to stay in the host's caches.
constexpr std::size_t kBatch = 8192;

class Runner {
public:
    Runner(const AddressStream& stream, const Device& device, const SimulationOptions& options)
        : stream_(stream),
          device_(device),
          options_(options),
          hierarchy_(stream, device.caches, device.ctas_per_sm,
                     options.threads > 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency())) {}

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
        for (std::int64_t cta = 0; cta < result.ctas_done; ++cta)
            result.shared_memory_bytes += stream_.shared_memory_bytes(cta);
        return result;
    }

    RunResult sampled(std::int64_t wave, int windows) {
        const std::int64_t ctas = stream_.ctas();
        planned_ = 2 * wave * windows;
        RunResult result;
        std::vector<TensorCounts> parts;
        for (int w = 0; w < windows && !stopped_; ++w) {
            const std::int64_t first = (ctas - 2 * wave) * w / std::max(1, windows - 1);
            hierarchy_.clear();
            range(first, first + wave, first + wave);
            hierarchy_.flush(false);
            range(first + wave, first + 2 * wave, first + wave);
            if (stopped_) break;
            hierarchy_.flush();
            parts.push_back(hierarchy_.counts());
            for (unsigned t = 0; t < kTensors; ++t) result.counts[t] += parts.back()[t];
            for (std::int64_t cta = first + wave; cta < first + 2 * wave; ++cta)
                result.shared_memory_bytes += stream_.shared_memory_bytes(cta);
            result.ctas_done += wave;
        }
        result.partial = stopped_;
        if (result.ctas_done > 0) result.scale = static_cast<double>(ctas) / static_cast<double>(result.ctas_done);
        result.error = spread(parts, 1 / result.scale);
        return result;
    }

private:
    // All kernels, each after the end of the one before it.
    std::int64_t in_turn() {
        const std::int64_t kernels = stream_.kernels(), ctas = stream_.ctas() / kernels;
        std::int64_t done = 0;
        for (std::int64_t kernel = 0; kernel < kernels && !stopped_; ++kernel) {
            done += range(kernel * ctas, (kernel + 1) * ctas, 0);
            hierarchy_.end_kernel();
        }
        return done;
    }
    std::int64_t range(std::int64_t first, std::int64_t end, std::int64_t counted_from) {
        Schedule schedule(stream_, {device_.caches.sms, device_.ctas_per_sm}, device_.contention, options_.seed, first,
                          end);
        std::int64_t ended = 0;
        for (schedule.next(kBatch, events_); !events_.empty(); schedule.next(kBatch, events_)) {
            if (options_.stop.stop_requested()) {
                stopped_ = true;
                break;
            }
            hierarchy_.run(events_, counted_from);
            for (const Event& event : events_) ended += event.last ? 1 : 0;
            if (options_.progress)
                options_.progress(std::min(1.0, static_cast<double>(done_ + ended) / static_cast<double>(planned_)));
        }
        done_ += ended;
        return ended;
    }

    // Student's t at 95 % of the mean over windows; as a fraction of it, less what needs no estimate.
    static SamplingError spread(const std::vector<TensorCounts>& parts, double part_of_all) {
        static constexpr std::array<double, 10> kStudent{12.71, 12.71, 4.303, 3.182, 2.776,
                                                         2.571, 2.447, 2.365, 2.306, 2.262};
        const std::size_t n = parts.size();
        if (n < 2) return {1, 1, 1};
        const auto bound = [&](auto amount) {
            double sum = 0, squares = 0;
            for (const TensorCounts& part : parts) {
                double value = 0;
                for (const Counts& counts : part) value += static_cast<double>(amount(counts));
                sum += value;
                squares += value * value;
            }
            const double count = static_cast<double>(n), mean = sum / count;
            const double variance = std::max(0.0, squares / count - mean * mean) * count / (count - 1);
            const double t = n - 1 < kStudent.size() ? kStudent[n - 1] : 1.96;
            return mean > 0 ? t * std::sqrt(variance / count * std::max(0.0, 1 - part_of_all)) / mean : 0;
        };
        return {bound([](const Counts& c) { return c.l1_read + c.l1_write; }),
                bound([](const Counts& c) { return c.l2_read + c.l2_write; }),
                bound([](const Counts& c) { return c.dram_read + c.dram_write; })};
    }

    const AddressStream& stream_;
    const Device& device_;
    const SimulationOptions& options_;
    Hierarchy hierarchy_;
    std::vector<Event> events_;
    std::int64_t planned_ = 1, done_ = 0;
    bool stopped_ = false;
};

}  // namespace

RunResult run(const AddressStream& stream, const Device& device, const SimulationOptions& options) {
    Runner runner(stream, device, options);
    const std::int64_t wave = std::int64_t{device.caches.sms} * device.ctas_per_sm;
    // A window is two waves; below that much saving the whole is no dearer and has no error.
    if (options.sample > 1 && stream.kernels() == 1 && stream.ctas() > 3 * wave * options.sample) return runner.sampled(wave, options.sample);
    return runner.all();
}

}  // namespace gambrel::sim_detail
