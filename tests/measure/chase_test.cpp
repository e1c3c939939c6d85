// Does a pointer chase walk the whole of its set? One that begins again with each sample touches a few lines again and
// again, and finds the latency of a cache for that of DRAM.
#include <cstring>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "measure/gpu/probes.hpp"
#include "measure/host/host_device.hpp"

namespace gambrel::measure_detail {
namespace {

TEST(HostChase, goes_on_where_the_last_sample_ended) {
    auto topology = HostTopology::load();
    ASSERT_TRUE(topology);
    Host host(std::move(*topology));
    constexpr std::size_t kLines = 512;
    constexpr std::int64_t kSteps = 60;
    const Bytes set{kLines * 64.0};
    for (const Level level : {Level::l1, Level::dram}) {
        auto made = host.prepare({.action = ProbeAction::chase, .level = level, .units = 1}, set);
        ASSERT_TRUE(made && made->probe);
        std::uint64_t* const words = host.arenas().front().words();
        // What a sample has left behind is made a trap: a line that leads to itself.
        std::size_t walked = 0;
        for (; walked + kSteps < kLines; walked += kSteps) {
            const auto sample = made->probe->run(set, kSteps);
            ASSERT_TRUE(sample) << to_text(sample.error());
            ASSERT_FALSE(sample->fault) << "after " << walked << " lines: " << *sample->fault;
            for (std::size_t line = 0; line < kLines; ++line) {
                std::uint64_t* const at = words + line * kLineWords;
                if (at[1] < walked + kSteps) at[0] = reinterpret_cast<std::uint64_t>(at);
            }
        }
        const auto around = made->probe->run(set, kSteps);
        ASSERT_TRUE(around);
        EXPECT_TRUE(around->fault) << "the proof must see that the walk was caught";
        host.owner = nullptr;
    }
}

// Device memory is host memory; the one kernel is the chase, which notes the links it loads.
class ChaseBackend final : public Backend {
public:
    struct Memory final : Buffer {
        explicit Memory(std::size_t size) : bytes(size) {}
        [[nodiscard]] std::size_t size() const override { return bytes.size(); }
        std::vector<std::byte> bytes;
    };
    struct Nothing final : Program {};

    std::set<std::uint32_t> visited;
    std::vector<std::size_t> written;        // sizes, in order
    std::vector<std::size_t> steps, warmed;  // of each launch, in all and before the clock starts

    [[nodiscard]] const Target& target() const override { return target_; }
    Result<std::unique_ptr<Program>> compile(const KernelSource&) override { return std::make_unique<Nothing>(); }
    Result<std::unique_ptr<Buffer>> allocate(std::size_t bytes) override { return std::make_unique<Memory>(bytes); }
    Result<void> write(const Buffer& to, std::span<const std::byte> from, std::size_t offset) override {
        std::memcpy(bytes_of(&to) + offset, from.data(), from.size());
        written.push_back(from.size());
        return {};
    }
    Result<void> read(std::span<std::byte> to, const Buffer& from, std::size_t offset) override {
        std::memcpy(to.data(), bytes_of(&from) + offset, to.size());
        return {};
    }
    Result<Seconds> launch(const Launch& l) override {
        const auto* ring = reinterpret_cast<const std::uint32_t*>(bytes_of(std::get<const Buffer*>(l.arguments[0])));
        auto at = std::get<std::uint32_t>(l.arguments[3]);
        const std::uint32_t warm = std::get<std::uint32_t>(l.arguments[4]),
                            rounds = std::get<std::uint32_t>(l.arguments[5]);
        const std::uint32_t all = 16 * (warm + rounds);
        for (std::uint32_t i = 0; i < all; ++i) {
            visited.insert(at);
            at = ring[at];
        }
        std::memcpy(bytes_of(std::get<const Buffer*>(l.arguments[1])), &at, sizeof at);
        steps.push_back(all);
        warmed.push_back(16 * warm);
        return Seconds{1e-3};
    }
    Result<Seconds> launch_many(const Launch&, std::int64_t) override { return failure("test", "not here"); }
    Result<std::span<std::byte>> pinned_bytes(std::size_t) override { return failure("test", "not here"); }
    Result<Seconds> transfer(Direction, const Buffer&, std::size_t, std::int64_t) override {
        return failure("test", "not here");
    }

private:
    static std::byte* bytes_of(const Buffer* buffer) {
        return const_cast<Memory*>(static_cast<const Memory*>(buffer))->bytes.data();
    }
    Target target_;
};

TEST(GpuChase, samples_together_visit_every_line_of_a_set_beyond_the_caches) {
    const auto backend = std::make_shared<ChaseBackend>();
    constexpr std::size_t kLinks = 4096;
    const Bytes set{kLinks * 128.0};
    auto made = prepare_chase({backend, 1}, {.action = ProbeAction::chase, .level = Level::dram, .units = 1}, set);
    ASSERT_TRUE(made && made->probe);
    for (std::size_t walked = 0; walked < kLinks; walked += 256) {
        const auto sample = made->probe->run(set, 256);
        ASSERT_TRUE(sample && !sample->fault);
        EXPECT_EQ(sample->accesses, 256);
        EXPECT_EQ(backend->visited.size(), walked + 256) << "a line was visited again before all others were";
    }
    // The ring, and then as much again that drives it out of the caches.
    ASSERT_GE(backend->written.size(), 2U);
    EXPECT_EQ(backend->written[0], kLinks * 128);
    EXPECT_EQ(backend->written[1], kLinks * 128);
}

TEST(GpuChase, a_set_meant_for_a_cache_is_walked_once_before_it_is_timed) {
    const auto backend = std::make_shared<ChaseBackend>();
    constexpr std::size_t kLinks = 1000;
    const Bytes set{kLinks * 128.0};
    auto made = prepare_chase({backend, 1}, {.action = ProbeAction::chase, .level = Level::l2, .units = 1}, set);
    ASSERT_TRUE(made && made->probe);
    const auto sample = made->probe->run(set, 32);
    ASSERT_TRUE(sample && !sample->fault);
    EXPECT_EQ(backend->visited.size(), kLinks);
    EXPECT_EQ(backend->steps.size(), 1U);
    EXPECT_GE(backend->warmed[0], kLinks);
    EXPECT_EQ(sample->accesses, 32);
    ASSERT_TRUE(made->probe->run(set, 32));
    EXPECT_EQ(backend->warmed[1], 0U) << "the L2 keeps what the first launch left there";
}

TEST(GpuChase, the_l1_is_warmed_in_every_kernel_because_it_is_empty_at_its_start) {
    const auto backend = std::make_shared<ChaseBackend>();
    const Bytes set{500 * 128.0};
    auto made = prepare_chase({backend, 1}, {.action = ProbeAction::chase, .level = Level::l1, .units = 1}, set);
    ASSERT_TRUE(made && made->probe);
    for (int i = 0; i < 3; ++i) {
        const auto sample = made->probe->run(set, 32);
        ASSERT_TRUE(sample && !sample->fault);
        EXPECT_GE(backend->warmed.back(), 500U);
        EXPECT_EQ(sample->accesses, 32);
    }
}

}  // namespace
}  // namespace gambrel::measure_detail
