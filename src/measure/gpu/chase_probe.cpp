#include <algorithm>
#include <array>
#include <bit>
#include <random>

#include <fmt/format.h>

#include "measure/gpu/probes.hpp"
#include "measure/gpu/programs.hpp"

namespace gambrel::measure_detail {

namespace {

constexpr std::size_t kLineWords = kLinkWords;
constexpr int kUnroll = 16;

class ChaseProbe final : public PreparedProbe {
public:
    ChaseProbe(const Gpu& gpu, Level level) : backend_(gpu.backend), level_(level), programs_(*gpu.backend) {}

    Result<void> build(Bytes largest) {
        return allocate_all(*backend_, {{&ring_, static_cast<std::size_t>(largest.value())},
                                        {&out_, sizeof(std::uint32_t)},
                                        {&times_, kGroupTimeBytes}});
    }

    Result<Sample> run(Bytes working_set, std::int64_t repetitions) override {
        auto links = static_cast<std::size_t>(working_set.value()) / (kLineWords * 4);
        // One group may have less shared memory than a unit holds; latency is the same everywhere in it.
        if (level_ == Level::shared) links = std::min(links, ring_->size() / (kLineWords * 4));
        if (links < 2 || links * kLineWords * 4 > ring_->size())
            return failure("latency", fmt::format("working set of {:.0f} B; expected 256 to {} B", working_set.value(),
                                                  ring_->size()));
        if (links != order_.size()) {
            if (auto laid = lay_ring(links); !laid) return tl::unexpected(laid.error());
        }
        Shape shape{1, kUnroll, 1, 0};
        if (level_ == Level::shared) shape.set_bytes = static_cast<std::int64_t>(links * kLineWords * 4);
        const auto program = programs_.get(chase_source(backend_->target(), level_, shape));
        if (!program) return tl::unexpected(program.error());
        const std::int64_t trips = std::clamp<std::int64_t>(repetitions / kUnroll, 1, kMostTrips);
        return walk(**program, warm_trips(), trips);
    }

private:
    // Once around, into the cache it is meant for: the L1 is empty at the start of every kernel, other caches keep what
    // the first walk left there, and to walk around a set in DRAM would take seconds.
    [[nodiscard]] std::int64_t warm_trips() {
        const bool warm = level_ == Level::l1 || (level_ != Level::dram && level_ != Level::shared && !walked_);
        walked_ = true;
        return warm ? static_cast<std::int64_t>(order_.size()) / kUnroll + 1 : 0;
    }

    // A sample is a few thousand steps. From the first link each time they would be the same few hundred KiB, and the
    // latency that of the cache which holds them, however large the set is: so each begins where the last one ended.
    Result<Sample> walk(const Program& program, std::int64_t warm, std::int64_t trips) {
        const auto time = backend_->launch({&program,
                                            1,
                                            1,
                                            {ring_.get(), out_.get(), times_.get(), order_[place_],
                                             static_cast<std::uint32_t>(warm), static_cast<std::uint32_t>(trips)}});
        if (!time) return tl::unexpected(time.error());
        Sample sample;
        sample.time = *time;
        sample.accesses = static_cast<double>(trips) * kUnroll;
        place_ = (place_ + static_cast<std::size_t>(warm + trips) * kUnroll) % order_.size();
        if (auto noted = note_times(sample, *backend_, *times_, 1, Occupancy::any); !noted)
            return tl::unexpected(noted.error());
        // The loop's own time, without the launch, the warm-up and the filling of shared memory.
        if (!sample.groups.empty() && sample.groups.front().nanoseconds > 0)
            sample.time = Seconds(1e-9 * static_cast<double>(sample.groups.front().nanoseconds));
        return checked(sample, trips * kUnroll);
    }

    Result<Sample> checked(Sample sample, std::int64_t steps) {
        std::array<std::byte, 4> at{};
        if (const auto read = backend_->read(at, *out_); !read) return tl::unexpected(read.error());
        const auto found = std::bit_cast<std::uint32_t>(at);
        const std::uint32_t expected = order_[place_];
        if (found != expected)
            sample.fault = fmt::format("{} steps end at link {}, expected {}", steps, found, expected);
        at.fill(std::byte{0xff});
        if (const auto wrote = backend_->write(*out_, at); !wrote) return tl::unexpected(wrote.error());
        return sample;
    }

    // One ring through all lines in random order, the same in every run: prefetchers find no stride in it.
    Result<void> lay_ring(std::size_t links) {
        order_.resize(links);
        place_ = 0;
        walked_ = false;
        for (std::size_t i = 0; i < links; ++i) order_[i] = static_cast<std::uint32_t>(i * kLineWords);
        std::mt19937 random(1);
        for (std::size_t i = links - 1; i > 0; --i) std::swap(order_[i], order_[random() % (i + 1)]);
        // A link is the next one's address where kernels take addresses, else its place. Shared memory is filled from
        // places: only the kernel knows the addresses in it.
        const auto base = level_ == Level::shared ? std::nullopt : backend_->address(*ring_);
        std::vector<std::uint32_t> words(links * kLineWords);
        for (std::size_t i = 0; i < links; ++i) {
            const std::uint64_t next = order_[(i + 1) % links], link = base ? *base + 4 * next : next;
            words[order_[i]] = static_cast<std::uint32_t>(link);
            words[order_[i] + 1] = static_cast<std::uint32_t>(link >> 32U);
        }
        if (auto wrote = backend_->write(*ring_, std::as_bytes(std::span(words))); !wrote || level_ != Level::dram)
            return wrote;
        // The caches hold the end of what was written, so a part of the first steps would find their links there. What
        // is written after it drives them out; to walk around the ring once would take seconds.
        auto other = backend_->allocate(words.size() * sizeof(std::uint32_t));
        if (!other) return tl::unexpected(other.error());
        return backend_->write(**other, std::as_bytes(std::span(words)));
    }

    std::shared_ptr<Backend> backend_;
    Level level_;
    Programs programs_;
    std::unique_ptr<Buffer> ring_, out_, times_;
    std::vector<std::uint32_t> order_;
    std::size_t place_ = 0;  // in order_: where the last walk ended
    bool walked_ = false;    // once around
};

}  // namespace

Result<Preparation> prepare_chase(const Gpu& gpu, const Probe& probe, Bytes largest) {
    const Level level = probe.level.value_or(Level::dram);
    if (level == Level::shared)
        largest = std::min(largest, Bytes(static_cast<double>(gpu.backend->target().shared_bytes)));
    auto made = std::make_unique<ChaseProbe>(gpu, level);
    if (auto built = made->build(largest); !built) return tl::unexpected(built.error());
    return prepared(std::move(made));
}

}  // namespace gambrel::measure_detail
