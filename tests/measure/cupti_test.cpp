// Do counters prove the levels of memory ceilings? The model's own counters stand for CUPTI's; the names of the metrics
// are tried on NVIDIA's host library for every chip that it knows, which needs no GPU.
#include <dlfcn.h>

#include <iostream>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "measure/cuda/cupti.hpp"
#include "measure/follow_up.hpp"
#include "ptx_gpu.hpp"

namespace gambrel::measure_detail {
namespace {

using testing::HasSubstr;

class PtxCounters : public PtxGpu {
protected:
    void SetUp() override {
        PtxGpu::SetUp();
        set("GAMBREL_CUPTI", GAMBREL_PTX_DEVICE);
        set("PTX_CC", 80);
        set("PTX_L1", 192 * 1024);
        set("PTX_MEMORY", 80e6);
    }
    static Result<CountedRun> counted(const Probe& probe, double bytes, std::int64_t repetitions) {
        auto device = open_device("cuda:0");
        if (!device) return tl::unexpected(device.error());
        auto prepared = (*device)->prepare(probe, Bytes(bytes));
        if (!prepared) return tl::unexpected(prepared.error());
        return (*device)->counted(probe, *prepared->probe, Bytes(bytes), repetitions);
    }
    static std::string verdict(const Probe& probe, double bytes, std::int64_t repetitions) {
        const auto run = counted(probe, bytes, repetitions);
        if (!run) return to_text(run.error());
        if (run->sample.fault) return *run->sample.fault;
        return contradiction(*probe.level, probe.action != ProbeAction::load, run->sample.bytes, run->bytes,
                             Bytes(2 << 20));
    }
};

TEST_F(PtxCounters, find_the_bytes_of_each_level_where_its_ceiling_says) {
    if (IsSkipped()) return;
    using enum WorkingSetSharing;
    EXPECT_EQ(verdict({.action = ProbeAction::load, .level = Level::l1, .sharing = own}, 60'000, 30), "");
    EXPECT_EQ(verdict({.action = ProbeAction::load, .level = Level::l2, .sharing = split}, 1e6, 30), "");
    EXPECT_EQ(verdict({.action = ProbeAction::load, .level = Level::dram, .sharing = split}, 8e6, 2), "");
    for (const ProbeAction action : {ProbeAction::store, ProbeAction::copy})
        EXPECT_EQ(verdict({.action = action, .level = Level::dram, .sharing = split}, 8e6, 2), "") << name(action);
}

TEST_F(PtxCounters, contradict_a_set_that_lies_in_another_level) {
    if (IsSkipped()) return;
    using enum WorkingSetSharing;
    EXPECT_THAT(verdict({.action = ProbeAction::load, .level = Level::dram, .sharing = split}, 1e6, 30),
                HasSubstr("of the bytes passed through DRAM"));
    EXPECT_THAT(verdict({.action = ProbeAction::load, .level = Level::l2, .sharing = split}, 8e6, 2),
                HasSubstr("came from DRAM"));
    EXPECT_THAT(verdict({.action = ProbeAction::load, .level = Level::l1, .sharing = own}, 600'000, 3),
                HasSubstr("came from L2"));
}

TEST_F(PtxCounters, of_a_gpu_without_memory_of_its_own_count_the_caches) {
    if (IsSkipped()) return;
    set("PTX_CHIP", "GB20B");
    const auto run =
        counted({.action = ProbeAction::load, .level = Level::l2, .sharing = WorkingSetSharing::split}, 1e6, 4);
    ASSERT_TRUE(run) << to_text(run.error());
    EXPECT_TRUE(run->bytes.l1 && run->bytes.l2);
    EXPECT_FALSE(run->bytes.dram);
}

TEST_F(PtxCounters, that_are_not_permitted_or_not_there_are_named_and_the_run_goes_on) {
    if (IsSkipped()) return;
    const auto reason = [] {
        const auto run = counted({.action = ProbeAction::load, .level = Level::l1}, 60'000, 1);
        return run ? std::string("counted") : to_text(run.error());
    };
    set("PTX_COUNTERS_DENIED", "35");
    EXPECT_THAT(reason(), HasSubstr("lets only administrators read counters"));
    set("PTX_COUNTERS_DENIED", "33");
    EXPECT_THAT(reason(), HasSubstr("not supported on this GPU"));
    set("GAMBREL_CUPTI", GAMBREL_NVRTC_AS_PTX);
    EXPECT_THAT(reason(), HasSubstr("lacks cuptiProfilerInitialize"));
    set("GAMBREL_CUPTI", "/nowhere/libcupti.so");
    EXPECT_THAT(reason(), HasSubstr("/nowhere/libcupti.so"));
    set("PTX_CC", 80);
    set("PTX_FAULT", "arithmetic");  // so that the run is short: its context is lost before the sweeps
    auto device = open_device("cuda:0");
    ASSERT_TRUE(device);
    MeasureOptions options;
    options.quick = options.prove = true;
    options.budget = Seconds{1};
    EXPECT_GT(characterize(**device, options).skipped.size(), 5U);
}

TEST(Contradiction, needs_counters_that_say_so) {
    const Bytes moved{1e9}, none{0};
    EXPECT_EQ(contradiction(Level::dram, false, moved, {}, none), "") << "nothing counted, nothing contradicted";
    EXPECT_NE(contradiction(Level::dram, true, moved, {{}, {}, Bytes{7e8}}, Bytes{1e8}), "");
    EXPECT_EQ(contradiction(Level::dram, true, moved, {{}, {}, Bytes{8.5e8}}, Bytes{1e8}), "") << "the rest is cached";
    EXPECT_NE(contradiction(Level::dram, false, moved, {{}, {}, Bytes{8.5e8}}, Bytes{1e8}), "") << "a load leaves none";
    EXPECT_EQ(contradiction(Level::l2, false, moved, {{}, Bytes{2e9}, none}, none), "") << "both halves of an L2 count";
    EXPECT_NE(contradiction(Level::shared, false, moved, {none, Bytes{1e9}, none}, none), "");
}

TEST(CuptiHostLibrary, knows_the_metrics_on_every_chip) {
    // The library opens another one with RTLD_DEEPBIND, which ends every program with the address sanitizer.
    if (::dlsym(RTLD_DEFAULT, "__asan_init")) GTEST_SKIP() << "not with sanitizers; a build of preset dev runs it";
    for (const char* path : {"/usr/local/cuda-13.0/lib64/libcupti.so.13", "/usr/local/cuda-13.0/lib/libcupti.so.13",
                             "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"})
        if (std::filesystem::exists(path)) setenv("GAMBREL_CUPTI", path, 0);
    const auto api = open_cupti(0);
    unsetenv("GAMBREL_CUPTI");
    if (!api) GTEST_SKIP() << to_text(api.error());
    const auto list = (*api)->library.find<int(CuptiChips*)>("cuptiProfilerHostGetSupportedChips");
    ASSERT_NE(list, nullptr);
    CuptiChips chips;
    chips.size = sizeof chips;
    ASSERT_EQ(list(&chips), 0);
    ASSERT_GE(chips.count, 20U);
    std::size_t all = 0, caches = 0;
    std::vector<std::string> refused;
    for (std::size_t i = 0; i < chips.count; ++i) {
        const auto config = CounterConfig::make(*api, chips.names[i]);
        if (!config) {
            refused.emplace_back(chips.names[i]);
            continue;
        }
        EXPECT_FALSE((*config)->image().empty()) << chips.names[i];
        ++((*config)->metrics().size() == kLevelMetrics.size() ? all : caches);
    }
    std::cout << fmt::format("{} chips: {} count all levels, {} the caches only, refused: {}\n", chips.count, all,
                             caches, fmt::join(refused, ", "));
    EXPECT_LE(refused.size(), 1U) << "GV11B is listed but has no range profiler";
    EXPECT_LE(caches, 4U) << "only GPUs that share the host's memory";
}

}  // namespace
}  // namespace gambrel::measure_detail
