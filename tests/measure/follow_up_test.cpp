// Is what a run tells beside its ceilings right: uneven groups, the ends of a plateau, stores that stay in a cache,
// kernels compiled ahead?
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "measure/cuda/compile_ahead.hpp"
#include "measure/follow_up.hpp"
#include "measure/sweep.hpp"

namespace gambrel::measure_detail {
namespace {

using testing::HasSubstr;

TEST(GroupRemarks, name_the_slowest_and_the_fastest_sm_only_where_they_differ) {
    EXPECT_TRUE(group_remarks({}).empty());
    EXPECT_TRUE(group_remarks({{1000, 0, 0}, {1040, 0, 1}}).empty());
    const auto uneven = group_remarks({{1000, 0, 4}, {1080, 0, 7}, {1010, 0, 5}});
    ASSERT_EQ(uneven.size(), 1U);
    EXPECT_THAT(uneven.front(), HasSubstr("slowest of 3 groups (SM 7) took 8 % longer than the fastest (SM 4)"));
}

SweepPoint point(double set, double rate) {
    SweepPoint p;
    p.working_set = Bytes(set);
    p.rate.median = rate;
    return p;
}

// An L2 of 50 MB whose rate falls with the set, as that of an H200 does.
MeasuredSweep falling() {
    MeasuredSweep sweep;
    for (int mb = 1; mb <= 44; ++mb) sweep.points.push_back(point(mb * 1e6, 11.751e12 - 0.051e12 * mb));
    sweep.windows = {{Level::l2, 0, 50e6}};
    Plateau plateau;
    plateau.level = Level::l2;
    plateau.from = Bytes(1e6);
    plateau.to = Bytes(44e6);
    sweep.plateaus = {plateau};
    return sweep;
}

TEST(L2Ceiling, is_measured_where_every_group_has_a_tile_of_its_own) {
    const MeasuredSweep sweep = falling();
    EXPECT_LT(best_set(sweep, sweep.plateaus[0])->value(), 8.6e6) << "without the condition the fastest is a small set";
    EXPECT_GE(best_set(sweep, sweep.plateaus[0], Bytes(8.6e6))->value(), 8.6e6);
    EXPECT_TRUE(best_set(sweep, sweep.plateaus[0], Bytes(60e6))) << "a small L2 has no such set, and still a ceiling";
}

TEST(L2Ceiling, tells_both_ends_of_its_plateau) {
    const MeasuredSweep sweep = falling();
    const auto remarks = plateau_remarks(sweep, sweep.plateaus[0], Bytes(10e6), Bytes(8.6e6));
    ASSERT_EQ(remarks.size(), 1U);
    EXPECT_THAT(remarks.front(), HasSubstr("from 11.7 TB/s at"));
    EXPECT_THAT(remarks.front(), HasSubstr("to 9.51 TB/s at"));
    EXPECT_EQ(plateau_remarks(sweep, sweep.plateaus[0], Bytes(2e6), Bytes(8.6e6)).size(), 2U);
    EXPECT_TRUE(plateau_remarks(sweep, sweep.plateaus[0], Bytes(2e6), Bytes(0)).empty()) << "other sweeps";
}

TEST(Stores, run_until_what_stays_in_the_l2_is_a_hundredth) {
    DeviceInfo gpu;
    gpu.kind = DeviceKind::cuda;
    gpu.levels = {{Level::l2, Bytes(72e6), 1}};
    const Probe store{.action = ProbeAction::store, .level = Level::dram};
    Sample sample;
    sample.time = Seconds(1e-3);
    sample.bytes = Bytes(1e9);
    EXPECT_EQ(enough_for_stores(gpu, store, sample, 10), 72);
    sample.bytes = Bytes(8e9);
    EXPECT_EQ(enough_for_stores(gpu, store, sample, 10), 10);
    const Probe load{.action = ProbeAction::load, .level = Level::dram};
    sample.bytes = Bytes(1e9);
    EXPECT_EQ(enough_for_stores(gpu, load, sample, 10), 10);
    sample.time = Seconds(0.04);
    EXPECT_LE(enough_for_stores(gpu, store, sample, 10), 13) << "a sample stays a short one";
}

class Ahead : public testing::Test {
protected:
    void SetUp() override {
        log_ = testing::TempDir() + "/compile_ahead_" + std::to_string(getpid()) + ".log";
        setenv("GAMBREL_NVRTC", GAMBREL_FAKE_CUDA, 1);
        setenv("FAKE_LOG", log_.c_str(), 1);
    }
    void TearDown() override {
        unsetenv("GAMBREL_NVRTC");
        unsetenv("FAKE_LOG");
        std::filesystem::remove(log_);
    }
    [[nodiscard]] int compiled() const {
        std::ifstream in(log_);
        int count = 0;
        for (std::string line; std::getline(in, line);) count += line == "nvrtcCompileProgram" ? 1 : 0;
        return count;
    }
    std::string log_;
};

TEST_F(Ahead, each_kernel_is_compiled_once_whoever_is_first) {
    const auto compiler = Nvrtc::open();
    ASSERT_TRUE(compiler) << to_text(compiler.error());
    std::vector<KernelSource> sources;
    for (int i = 0; i < 8; ++i) sources.push_back({"// kernel " + std::to_string(i) + "\n", "nothing", 1});
    CompileAhead ahead(*compiler, "sm_80");
    ahead.expect(sources);
    ahead.expect(sources);
    for (auto it = sources.rbegin(); it != sources.rend(); ++it) {
        const auto binary = ahead.get(*it);
        ASSERT_TRUE(binary) << to_text(binary.error());
        EXPECT_THAT(binary->image, HasSubstr(it->text));
    }
    EXPECT_EQ(compiled(), 8);
    EXPECT_LE(ahead.compiled_ahead(), 8);
}

}  // namespace
}  // namespace gambrel::measure_detail
