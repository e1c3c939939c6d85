// Ratios of the times of one shape on two GPUs: which rows are compared.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <gambrel/explore.hpp>

namespace gambrel {
namespace {

// Each shape on V100 by two versions of a library, the older one 1.5 times as slow, and on T4 by the newer one.
TEST(GpuPairs, compare_no_two_versions_of_a_library) {
    std::string text = "gpu,cudnn,algorithm,N,C,H,W,K,R,S,time_us\n";
    for (int filters = 32; filters < 32 * (static_cast<int>(kFewestShared) + 2); filters += 32)
        for (const auto& [gpu, version, time] :
             {std::tuple{"v100-sxm2-16gb", "7.5.0", 150}, {"v100-sxm2-16gb", "7.6.3", 100}, {"t4", "7.6.3", 400}})
            text += fmt::format("{},{},IMPLICIT_PRECOMP_GEMM,16,64,28,28,{},1,1,{}\n", gpu, version, filters, time);
    const auto table = read_layer_table(text, "table");
    ASSERT_TRUE(table);
    const auto pairs = gpu_pairs(*table, 0);
    ASSERT_EQ(pairs.size(), 1U);
    const auto all = pairs.front().error;
    // The same table without the older version says the same.
    std::string newer;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at) + 1;
        if (const std::string line = text.substr(at, end - at); line.find("7.5.0") == line.npos) newer += line;
        at = end;
    }
    const auto alone = gpu_pairs(*read_layer_table(newer, "table"), 0);
    ASSERT_EQ(alone.size(), 1U);
    EXPECT_EQ(alone.front().rows, pairs.front().rows);
    EXPECT_EQ(alone.front().error, all);
}

}  // namespace
}  // namespace gambrel
