// Does a kernel whose operator the trace does not name get the work of the same kernel that it does name, and nothing
// where that leaves a choice?
#include <gambrel/trace.hpp>

#include <cmath>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gambrel {
namespace {

using testing::HasSubstr;

constexpr const char* kHiddenKernel = "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_tn";

// A product [512 x depth] x [depth x 1024] that is launched by an operator, or by nobody.
struct LaunchedProduct {
    int depth = 0;
    bool named = true;
    int grid = 32;
};

std::vector<Kernel> run_of_products(const std::vector<LaunchedProduct>& products) {
    std::string text = R"({"deviceProperties":[{"id":0,"name":"NVIDIA A100-SXM4-40GB"}],"traceEvents":[)";
    int n = 0;
    for (const LaunchedProduct& p : products) {
        ++n;
        const std::string at = std::to_string(1000 * n), id = std::to_string(n), k = std::to_string(p.depth);
        if (p.named)
            text += R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":)" + at +
                    R"(,"dur":100,"args":{"Input Dims":[[512,)" + k + "],[" + k +
                    R"(,1024]],"Input type":["c10::Half","c10::Half"]}},)" +
                    R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":)" + at +
                    R"(,"dur":1,"args":{"correlation":)" + id + "}},";
        text += R"({"ph":"X","cat":"kernel","name":")" + std::string(kHiddenKernel) + R"(","pid":0,"tid":7,"ts":)" +
                at + R"(,"dur":9,"args":{"device":0,"stream":7,"correlation":)" + id + R"(,"grid":[)" +
                std::to_string(p.grid) + R"(,1,1],"block":[256,1,1]}},)";
    }
    text.back() = ']';
    const auto timeline = read_timeline(text + "}", "t");
    EXPECT_TRUE(timeline) << to_text(timeline.error());
    auto run = to_run(*timeline, {});
    EXPECT_TRUE(run) << to_text(run.error());
    return run ? std::move(run->kernels) : std::vector<Kernel>{};
}

double flop_in(const Kernel& k) { return flop(k) ? flop(k)->value.value() : -1; }

TEST(SameKernel, a_kernel_from_before_the_capture_does_the_work_of_the_same_kernel_later) {
    const auto k = run_of_products({{256, false}, {256}});
    ASSERT_EQ(k.size(), 2u);
    EXPECT_EQ(k[0].time_class.str(), "modelled");
    EXPECT_DOUBLE_EQ(flop_in(k[0]), 2.0 * 512 * 256 * 1024);
    EXPECT_EQ(k[0].op.str(), "aten::mm");
    ASSERT_FALSE(k[0].reasons.empty());
    EXPECT_THAT(k[0].reasons[0].str(), HasSubstr("not in the trace"));
    EXPECT_TRUE(k[1].reasons.empty() || k[1].reasons[0] != k[0].reasons[0]);
}

TEST(SameKernel, another_grid_is_another_kernel) {
    const auto k = run_of_products({{256, false, 64}, {256}});
    ASSERT_EQ(k.size(), 2u);
    EXPECT_EQ(k[0].time_class.str(), "before_capture");
}

TEST(SameKernel, two_depths_of_one_grid_are_distinguished_by_the_kernels_around_them) {
    // 7 tells what follows: depth 256 stands before it, 4096 behind it.
    const std::vector<LaunchedProduct> step = {{256}, {64, true, 7}, {4096}, {64, true, 9}};
    std::vector<LaunchedProduct> products = step;
    for (LaunchedProduct& p : products) p.named = false;
    products.insert(products.end(), step.begin(), step.end());
    products.insert(products.end(), step.begin(), step.end());
    const auto k = run_of_products(products);
    ASSERT_EQ(k.size(), 12u);
    EXPECT_DOUBLE_EQ(flop_in(k[0]), 2.0 * 512 * 256 * 1024);
    EXPECT_DOUBLE_EQ(flop_in(k[2]), 2.0 * 512 * 4096 * 1024);
}

TEST(SameKernel, two_depths_that_nothing_distinguishes_are_refused) {
    const auto k = run_of_products({{1, false}, {1, false, 3}, {256}, {64, true, 7}, {4096}, {64, true, 7}});
    ASSERT_EQ(k.size(), 6u);
    EXPECT_EQ(k[0].time_class.str(), "before_capture");
}

// A real trace whose launches are known, with a part of them hidden: what is found must be what was hidden.
TEST(SameKernel, what_is_hidden_of_a_real_trace_is_found_again) {
    const std::string file = std::string(GAMBREL_SHARED_DATA) + "/traces/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz";
    if (!std::filesystem::exists(file)) GTEST_SKIP() << "no shared data";
    const std::vector<std::string> paths = {file};
    auto timeline = read_timeline(paths);
    ASSERT_TRUE(timeline) << to_text(timeline.error());
    const auto whole = to_run(*timeline, {});
    ASSERT_TRUE(whole);
    std::vector<bool> hidden(timeline->activities.size());
    std::size_t seen = 0;
    for (std::size_t i = 0; i < hidden.size(); ++i) {
        Activity& a = timeline->activities[i];
        if (a.kind != Activity::Kind::kernel || a.call < 0 || ++seen > 600) continue;
        hidden[i] = true;
        a.call = -1;
        a.instance = -1;
        a.launch = Activity::Launch::before_capture;
    }
    const auto part = to_run(*timeline, {});
    ASSERT_TRUE(part);
    std::size_t found = 0, wrong = 0, all = 0;
    for (std::size_t i = 0; i < hidden.size(); ++i) {
        if (!hidden[i] || whole->kernels[i].time_class.str() != "modelled") continue;
        ++all;
        if (part->kernels[i].time_class.str() != "modelled") continue;
        ++found;
        const double was = whole->kernels[i].bytes[Level::dram]->value.value();
        const double is = part->kernels[i].bytes[Level::dram]->value.value();
        wrong += std::abs(is - was) > 0.02 * was || flop_in(whole->kernels[i]) != flop_in(part->kernels[i]) ? 1 : 0;
    }
    EXPECT_GT(all, 500u);
    EXPECT_GE(found * 10, all * 9);
    EXPECT_LE(wrong * 100, found) << wrong << " of " << found;
    RecordProperty("found", static_cast<int>(found));
    RecordProperty("wrong", static_cast<int>(wrong));
}

}  // namespace
}  // namespace gambrel
