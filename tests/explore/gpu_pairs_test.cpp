// Ratios of the times of one shape on two GPUs: which rows are compared, and how far off the predicted ones are.
#include <filesystem>

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

// Every pair of GPUs of the tables that `gambrel reproduce scaling-proof` reads, rows over 20 us.
TEST(GpuPairs, of_measured_tables_are_answered_within_bounds) {  // goal 10
    const std::filesystem::path folder = std::filesystem::path(GAMBREL_SHARED_DATA) / "measured";
    if (!std::filesystem::exists(folder)) GTEST_SKIP() << "shared data not found at " << folder;
    double ours = 0, roofline = 0, pairs = 0;
    for (const auto& [file, precision] : {std::pair{"conv_time_tiles_fp32.csv.gz", Precision::fp32},
                                          {"conv_time_cudnn_fp32.csv.gz", Precision::fp32},
                                          {"conv_time_cudnn_fp16tc.csv.gz", Precision::fp16},
                                          {"gemm_time_tiles_fp32.csv.gz", Precision::fp32},
                                          {"gemm_time_bf16.csv.gz", Precision::bf16},
                                          {"gemm_time_lowp.csv.gz", Precision::bf16}}) {
        const auto table = load_layer_table(folder / file, {precision});
        ASSERT_TRUE(table) << file;
        for (const GpuPair& pair : gpu_pairs(*table, 20e-6)) {
            EXPECT_LT(pair.error, 0.19) << pair.from << " to " << pair.to << ", " << pair.kind;
            ours += pair.error, roofline += pair.roofline_error, pairs += 1;
        }
    }
    EXPECT_GE(pairs, 37);
    EXPECT_LT(ours / pairs, 0.1095);
    EXPECT_LT(ours, 0.5 * roofline);
}

}  // namespace
}  // namespace gambrel
