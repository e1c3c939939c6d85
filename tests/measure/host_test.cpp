// Do the host's loops do what they say, and does the device notice when something is wrong? No speed is judged here:
// bench/likwid_ratio does that.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hwy/highway.h>

#include "measure/host/arena.hpp"
#include "measure/host/host.hpp"
#include "measure/host/kernels.hpp"
#include "measure/host/team.hpp"
#include "measure/runner.hpp"

namespace gambrel::measure_detail {
namespace {

// The best target has the lowest bit.
TEST(HostKernels, are_the_set_that_highway_would_choose) {
    const std::int64_t usable = hwy::SupportedTargets() & HWY_TARGETS;
    EXPECT_STREQ(host_kernels().target, hwy::TargetName(usable & -usable));
}

TEST(HostKernels, arithmetic_counts_its_own_operations) {
    for (const auto* set : {&host_kernels().fp64, &host_kernels().fp32})
        for (const std::int64_t trips : {1, 7, 1000, 600'000}) {  // the last: more than one emptying of the chains
            const double expected = static_cast<double>(set->operations * trips);
            EXPECT_EQ(set->fma(trips), expected);
            EXPECT_EQ(set->add(trips), expected);
            EXPECT_EQ(set->multiply(trips), set->multiply_sum);
        }
}

TEST(HostKernels, loads_sum_every_word_of_every_pass) {
    Arena arena;
    ASSERT_TRUE(arena.reserve(1 << 20));
    for (const std::size_t n : {64UL, 128UL, 1024UL + 64UL, 100'032UL}) {
        std::iota(arena.words(), arena.words() + n, std::uint64_t{5});
        const std::uint64_t once = std::accumulate(arena.words(), arena.words() + n, std::uint64_t{0});
        EXPECT_EQ(host_kernels().load(arena.words(), n, 3), 3 * once) << n;
    }
}

TEST(HostKernels, stores_copies_and_triads_reach_every_word_and_none_behind_it) {
    Arena arena;
    ASSERT_TRUE(arena.reserve(1 << 20));
    constexpr std::size_t n = 4096;
    const HostKernels& k = host_kernels();
    std::uint64_t* const w = arena.words();
    for (const bool stream : {false, true}) {
        std::fill(w, w + 3 * n + 1, 7);
        k.store(w, n, 2, 42, stream);
        EXPECT_EQ(std::count(w, w + n, 42U), n);
        EXPECT_EQ(w[n], 7U);
        std::iota(w + n, w + 2 * n, 100);
        k.copy(w, w + n, n, 2, stream);
        EXPECT_TRUE(std::equal(w, w + n, w + n));
        auto* const d = reinterpret_cast<double*>(w);
        std::fill(d + n, d + 2 * n, 1.0);
        std::fill(d + 2 * n, d + 3 * n, 2.0);
        k.triad(d, d + n, d + 2 * n, 3, n, 2, stream);
        EXPECT_EQ(std::count(d, d + n, 7.0), n);
        EXPECT_EQ(w[3 * n], 7U);
    }
}

TEST(Chase, goes_through_every_line_once) {
    Arena arena;
    ASSERT_TRUE(arena.reserve(1 << 20));
    for (const std::size_t bytes : {std::size_t{128}, std::size_t{1} << 15, std::size_t{100'000}}) {
        const std::size_t lines = make_chase(arena.words(), bytes);
        EXPECT_EQ(lines, bytes / 64);
        std::set<std::uint64_t> places;
        for (std::size_t i = 0; i < lines; ++i) places.insert(chase(arena.words(), static_cast<std::int64_t>(i))[1]);
        EXPECT_EQ(places.size(), lines);
        EXPECT_EQ(chase(arena.words(), static_cast<std::int64_t>(lines)), arena.words());
    }
}

TEST(Team, runs_on_as_many_threads_as_asked) {
    auto topology = HostTopology::load();
    ASSERT_TRUE(topology);
    Team team(**topology);
    std::vector<std::atomic<int>> hits(static_cast<std::size_t>(team.size()));
    for (int count = 1; count <= team.size(); ++count)
        EXPECT_GT(team.run(count, [&](int me) { ++hits[static_cast<std::size_t>(me)]; }).time.value(), 0);
    EXPECT_EQ(hits.front(), team.size());
    EXPECT_EQ(hits.back(), 1);
}

TEST(Team, sees_that_a_thread_did_not_have_its_core) {
    auto topology = HostTopology::load();
    ASSERT_TRUE(topology);
    Team team(**topology);
    const auto asleep = team.run(1, [](int) { std::this_thread::sleep_for(std::chrono::milliseconds(5)); });
    EXPECT_TRUE(asleep.disturbed);
}

TEST(Team, a_core_that_is_all_ours_issues_several_additions_in_a_cycle) {
    auto topology = HostTopology::load();
    ASSERT_TRUE(topology);
    Team team(**topology);
    std::vector<double> widths(301);
    team.run(1, [&](int) {
        for (double& width : widths) width = issue_width();
    });
    // The middle one: an interrupt makes a single width too small or, inside the calibration of the clock, too large.
    std::nth_element(widths.begin(), widths.begin() + 150, widths.end());
#if defined(__x86_64__) || defined(__aarch64__)
    EXPECT_GT(widths[150], 1.5) << "one would be what a chain of dependent additions gives";
    EXPECT_LT(widths[150], 12);
#else
    EXPECT_EQ(widths[150], 0);
#endif
}

TEST(Team, knows_the_width_of_a_whole_core_among_busy_times_and_interrupts) {
    std::mt19937 random(7);
    for (const double first : {2.2, 3.9, 60.0}) {
        double width = believed_width(0, first);
        int wrong = 0;
        for (int i = 0; i < 20000; ++i) {
            const auto pick = random() % 1000;
            width = believed_width(width, pick < 5     ? 60.0
                                          : pick < 10  ? 6.0
                                          : pick < 600 ? 2.2
                                                       : 3.87 + 0.001 * static_cast<double>(pick % 60));
            if (i > 1000) wrong += kWholeCore * width > 3.87 || kWholeCore * width < 2.3 ? 1 : 0;
        }
        EXPECT_LT(wrong, 600) << "begun with " << first;
    }
}

TEST(Host, says_what_it_is) {
    const auto host = open_host("");
    ASSERT_TRUE(host);
    const DeviceInfo& info = (*host)->info();
    EXPECT_EQ(info.kind, DeviceKind::host);
    EXPECT_GE(info.units, 1);
    ASSERT_GE(info.levels.size(), 2U);
    for (std::size_t i = 1; i < info.levels.size(); ++i) {
        EXPECT_GT(info.levels[i].level, info.levels[i - 1].level);
        EXPECT_GT(info.levels[i].capacity, info.levels[i - 1].capacity);
    }
    EXPECT_FALSE(open_host("1"));
}

TEST(Host, zen_4_executes_vectors_of_64_bytes_in_two_halves) {
    EXPECT_EQ(vector_pipe_bytes("AuthenticAMD", "25", 64), 32);
    EXPECT_EQ(vector_pipe_bytes("AuthenticAMD", "25", 16), 16);
    EXPECT_EQ(vector_pipe_bytes("AuthenticAMD", "26", 64), 64);  // Zen 5
    EXPECT_EQ(vector_pipe_bytes("GenuineIntel", "6", 64), 64);
    EXPECT_EQ(vector_pipe_bytes("", "", 16), 16);
}

TEST(Host, every_action_proves_itself_and_counts_its_bytes_and_flop) {
    auto host = open_host("");
    ASSERT_TRUE(host);
    const int units = (*host)->info().units;
    const Bytes set{48 * 1024};
    const auto sample = [&](Probe probe) -> Sample {
        auto p = (*host)->prepare(probe, set);
        EXPECT_TRUE(p && p->probe) << title(probe);
        const auto s = p->probe->run(set, 3);
        EXPECT_TRUE(s) << title(probe);
        EXPECT_FALSE(s->fault) << *s->fault;
        EXPECT_TRUE(s->clock);
        return *s;
    };
    for (const ProbeAction action : {ProbeAction::load, ProbeAction::store, ProbeAction::copy, ProbeAction::triad}) {
        EXPECT_EQ(sample({.action = action}).bytes.value(), 3 * set.value() * units) << name(action);
        EXPECT_EQ(sample({.action = action, .level = Level::dram, .units = 1}).bytes.value(), 3 * set.value());
    }
    EXPECT_EQ(sample({.action = ProbeAction::load, .sharing = WorkingSetSharing::split}).bytes.value(),
              3.0 * units * std::floor(set.value() / units / 512) * 512);
    EXPECT_EQ(sample({.action = ProbeAction::load, .sharing = WorkingSetSharing::whole}).bytes.value(),
              3 * set.value() * units);
    EXPECT_EQ(sample({.action = ProbeAction::chase, .units = 1}).accesses, 3);
    const auto lanes = static_cast<double>(host_kernels().fp32.operations);
    EXPECT_EQ(sample({.action = ProbeAction::fma, .pipe = Pipe::fp32}).flop, 2 * 3 * lanes * units);
    EXPECT_EQ(sample({.action = ProbeAction::add, .pipe = Pipe::fp32}).flop, 3 * lanes * units);
}

TEST(Host, two_probes_that_are_used_in_turn_do_not_spoil_each_other) {
    auto host = open_host("");
    ASSERT_TRUE(host);
    auto load = (*host)->prepare({.action = ProbeAction::load}, Bytes{65536});
    auto triad = (*host)->prepare({.action = ProbeAction::triad}, Bytes{65536});
    ASSERT_TRUE(load && triad);
    for (int i = 0; i < 3; ++i)
        for (auto* p : {&*load, &*triad}) {
            const auto s = p->probe->run(Bytes{32768.0 * (1 + i % 2)}, 2);
            ASSERT_TRUE(s);
            EXPECT_FALSE(s->fault) << *s->fault;
        }
}

TEST(Host, what_it_has_not_is_an_answer_and_what_is_wrong_an_error) {
    auto host = open_host("");
    ASSERT_TRUE(host);
    const auto mma = (*host)->prepare({.action = ProbeAction::mma, .pipe = Pipe::tensor_fp16}, {});
    ASSERT_TRUE(mma);
    EXPECT_EQ(mma->probe, nullptr);
    EXPECT_THAT(mma->reason, testing::HasSubstr("no such pipe"));
    auto load = (*host)->prepare({.action = ProbeAction::load}, Bytes{4096});
    ASSERT_TRUE(load && load->probe);
    EXPECT_FALSE(load->probe->run(Bytes{1e9}, 1));
    EXPECT_FALSE(load->probe->run(Bytes{8}, 1));
}

}  // namespace
}  // namespace gambrel::measure_detail
