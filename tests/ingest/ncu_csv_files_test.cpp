// Every real ncu CSV file at hand, against values read by eye or made by the authors' own scripts.
#include <gmock/gmock.h>

#include "csv_support.hpp"

namespace gambrel::ingest_detail {
namespace {

using namespace test;
namespace fs = std::filesystem;

Profile csv_file(const std::string& path, const MetricSet& metrics) {
    const std::string text = text_of(path);
    EXPECT_TRUE(is_ncu_csv(text)) << path;
    EXPECT_FALSE(is_nvprof_csv(text)) << path;
    auto profile = read_ncu_csv(text, {path, metrics, {}});
    if (!profile) ADD_FAILURE() << to_text(profile.error());
    return profile ? *profile : Profile{};
}

// Sums over launches against a table of expected values of one folder.
void expect_sums(const std::string& folder, const std::string& expected) {
    const MetricSet metrics = nersc_metrics();
    std::map<std::string, Profile> profiles;
    std::map<std::string, std::size_t> launches;
    for (const auto& row : table(expected)) {
        const std::string& file = row.at("file");
        if (!fs::exists(folder + "/" + file) || row.at("l1") == "nan") continue;  // held back, or a failed launch
        if (!profiles.contains(file)) profiles[file] = csv_file(folder + "/" + file, metrics);
        const Profile& p = profiles[file];
        const std::string& kernel = row.at("kernel");
        launches[file] += std::stoul(row.at("count"));
        const auto sum = [&](std::string_view metric) { return sums(p, metrics, metric)[kernel]; };
        const auto op = [&](const std::string& name) {
            return sum("sm__sass_thread_inst_executed_op_" + name + "_pred_on.sum");
        };
        EXPECT_EQ(sum("l1tex__t_bytes.sum"), std::stod(row.at("l1"))) << file << kernel;
        EXPECT_EQ(sum("lts__t_bytes.sum"), std::stod(row.at("l2"))) << file << kernel;
        EXPECT_EQ(sum("dram__bytes.sum"), std::stod(row.at("dram"))) << file << kernel;
        EXPECT_EQ(sum("sm__inst_executed_pipe_tensor.sum"), std::stod(row.at("tensor_inst"))) << file << kernel;
        EXPECT_EQ(op("dadd") + op("dmul") + 2 * op("dfma"), std::stod(row.at("fp64"))) << file << kernel;
        EXPECT_EQ(op("fadd") + op("fmul") + 2 * op("ffma"), std::stod(row.at("fp32"))) << file << kernel;
        EXPECT_EQ(op("hadd") + op("hmul") + 2 * op("hfma"), std::stod(row.at("fp16"))) << file << kernel;
        double time = 0;
        for (std::size_t i = 0; i < p.launches.size(); ++i) {
            if (p.launches[i].name.str() != kernel) continue;
            time += value(p, i, metrics, "sm__cycles_elapsed.avg").value() /
                    value(p, i, metrics, "sm__cycles_elapsed.avg.per_second").value();
        }
        EXPECT_NEAR(time / std::stod(row.at("time_exact")), 1, 1e-12) << file << kernel;
    }
    for (const auto& [file, count] : launches) EXPECT_EQ(profiles[file].launches.size(), count) << file;
}

TEST(NcuCsvFiles, gpp_on_rtx4060_adds_up_to_the_expected_table) {
    GAMBREL_NEEDS(shared("ncu_csv/gpp_rtx4060"));
    expect_sums(shared("ncu_csv/gpp_rtx4060"), shared("ncu_csv/gpp_rtx4060_expected.csv"));
    const MetricSet metrics = nersc_metrics();
    const auto p = csv_file(shared("ncu_csv/gpp_rtx4060/output.csv"), metrics);
    EXPECT_EQ(value(p, 0, metrics, "sm__cycles_elapsed.avg.per_second"), 1619726202.90);
    EXPECT_EQ(p.launches[0].shape, (LaunchShape{{65535, 1, 1}, {128, 1, 1}}));
    EXPECT_EQ(p.launches[0].cc, (ComputeCapability{8, 9}));
    EXPECT_EQ(p.launches[0].values, 15u);
}

TEST(NcuCsvFiles, gpp_failed_launch_is_a_row_of_faults) {
    GAMBREL_NEEDS(shared("ncu_csv/gpp_rtx4060/output8.csv"));
    const MetricSet metrics = nersc_metrics();
    const auto p = csv_file(shared("ncu_csv/gpp_rtx4060/output8.csv"), metrics);
    ASSERT_EQ(p.launches.size(), 1u);
    EXPECT_EQ(p.launches[0].name.str(), "sigma_gpp_gpu_39");
    EXPECT_EQ(p.launches[0].faults.size(), 15u);
    EXPECT_FALSE(p.launches[0].shape.has_value());  // (0, 0, 0) was never launched
    ASSERT_EQ(p.notes.size(), 2u);
    EXPECT_THAT(p.notes[0].what, testing::HasSubstr("LaunchFailed"));
}

TEST(NcuCsvFiles, detr_on_a100_adds_up_to_the_expected_table) {
    GAMBREL_NEEDS(shared("ncu_csv/detr_a100"));
    expect_sums(shared("ncu_csv/detr_a100"), shared("ncu_csv/detr_a100_expected_tc512.csv"));
}

TEST(NcuCsvFiles, b200_raw_pages_have_their_launches_or_say_why_not) {
    GAMBREL_NEEDS(shared("ncu_csv/b200"));
    const std::map<std::string, std::size_t> launches = {{"flashinfer_paged_decode__gqa_bf16_b1_ctx128k_p64", 64},
                                                         {"flashinfer_paged_decode__gqa_bf16_b1_ctx8k_p64", 32},
                                                         {"flashinfer_paged_decode__gqa_bf16_b64_ctx4k_p32", 32},
                                                         {"flashinfer_paged_decode__gqa_bf16_b8_ctx32k_p64", 64},
                                                         {"flashinfer_paged_decode__gqa_fp16_b64_ctx4k_p64", 0},
                                                         {"flashinfer_paged_decode__gqa_fp8_b1_ctx32k_p64", 16},
                                                         {"flashinfer_paged_decode__gqa_fp8_b32_ctx8k_p64", 32},
                                                         {"flashinfer_paged_decode__gqa_fp8_b8_ctx8k_p64", 32},
                                                         {"flashinfer_trtllm_decode__mha_bf16_b16_ctx4k_p64", 0},
                                                         {"torch_sdpa_auto__gqa_bf16_b8_ctx32k_p64", 16},
                                                         {"torch_sdpa_auto__mqa_bf16_b128_ctx4k_p64", 16},
                                                         {"torch_sdpa_cudnn__gqa_bf16_b8_ctx32k_p64", 16},
                                                         {"torch_sdpa_cudnn__mqa_bf16_b128_ctx4k_p64", 16},
                                                         {"torch_sdpa_flash__gqa_bf16_b8_ctx32k_p64", 16},
                                                         {"torch_sdpa_flash__mqa_bf16_b128_ctx4k_p64", 16}};
    const MetricSet metrics = metric_set({"gpu__time_duration.sum", "launch__waves_per_multiprocessor"});
    for (const auto& [name, count] : launches) {
        const std::string path = shared("ncu_csv/b200/" + name + ".ncu.csv");
        const std::string text = text_of(path);
        const auto p = read_ncu_csv(text, {path, metrics, {}});
        EXPECT_TRUE(is_ncu_csv(text)) << name;
        ASSERT_EQ(p.has_value(), count > 0) << name;
        if (!p) {
            EXPECT_THAT(p.error()[0].what, testing::ContainsRegex("holds no table, but \"==(ERROR|PROF)==")) << name;
            continue;
        }
        EXPECT_EQ(p->launches.size(), count) << name;
        EXPECT_EQ(p->launches[0].device.str(), "NVIDIA B200");
        EXPECT_TRUE(p->notes.empty()) << to_text(p->notes);
    }
    const auto p = csv_file(shared("ncu_csv/b200/flashinfer_paged_decode__gqa_bf16_b1_ctx128k_p64.ncu.csv"), metrics);
    EXPECT_EQ(value(p, 0, metrics, "gpu__time_duration.sum"), 14752.0);
    EXPECT_EQ(value(p, 0, metrics, "launch__waves_per_multiprocessor"), 0.08);
    EXPECT_EQ(p.launches[1].shape, (LaunchShape{{158, 8, 1}, {16, 4, 2}}));
}

TEST(NcuCsvFiles, details_pages_of_rtx5090_give_base_units) {
    const std::string folder = shared("ncu_csv/rtx5090_details/kernel_0003_0a7671622339a06b4a022feebfe90426");
    GAMBREL_NEEDS(folder);
    const MetricSet metrics =
        metric_set({"dram__bytes_read.sum", "gpu__time_duration.sum", "sm__ops_path_tensor_src_bf16_dst_fp32.sum",
                    "flop_count_hp.sum", "SM Frequency", "Duration", "DRAM Bandwidth", "Elapsed Cycles"});
    const auto p = csv_file(folder + "/ncu.details.csv", metrics);
    ASSERT_EQ(p.launches.size(), 1u);
    EXPECT_TRUE(p.notes.empty()) << to_text(p.notes);
    EXPECT_DOUBLE_EQ(value(p, 0, metrics, "dram__bytes_read.sum").value(), 3.35e6);
    EXPECT_DOUBLE_EQ(value(p, 0, metrics, "gpu__time_duration.sum").value(), 23420);
    EXPECT_DOUBLE_EQ(value(p, 0, metrics, "Duration").value(), 23420);
    EXPECT_DOUBLE_EQ(value(p, 0, metrics, "SM Frequency").value(), 1.99e9);
    EXPECT_EQ(value(p, 0, metrics, "Elapsed Cycles"), 46970);
    EXPECT_EQ(value(p, 0, metrics, "sm__ops_path_tensor_src_bf16_dst_fp32.sum"), 1275068416.0);
    EXPECT_EQ(p.launches[0].faults.size(), 1u);  // flop_count_hp.sum is n/a
    const auto chart = csv_file(folder + "/ncu.section_SpeedOfLight_RooflineChart.csv", metrics);
    EXPECT_DOUBLE_EQ(value(chart, 0, metrics, "DRAM Bandwidth").value(), 143.20e9);
    for (const auto& entry : fs::recursive_directory_iterator(shared("ncu_csv/rtx5090_details"))) {
        if (!entry.is_regular_file()) continue;
        const auto any = csv_file(entry.path().string(), metrics);
        EXPECT_EQ(any.launches.size(), 1u) << entry.path();
        EXPECT_TRUE(any.notes.empty()) << to_text(any.notes);
    }
}

TEST(NcuCsvFiles, rtx5070_reads_through_byte_order_mark_and_program_output) {
    GAMBREL_NEEDS(shared("ncu_csv/rtx5070"));
    const MetricSet metrics =
        metric_set({"dram__bytes_op_read.sum", "dram__bytes_op_write.sum", "gpu__time_duration.sum"});
    const auto p = csv_file(shared("ncu_csv/rtx5070/gemm_naive.csv"), metrics);
    ASSERT_EQ(p.launches.size(), 1u);
    EXPECT_EQ(value(p, 0, metrics, "dram__bytes_op_read.sum"), 54207744.0);
    EXPECT_EQ(value(p, 0, metrics, "dram__bytes_op_write.sum"), 26601216.0);
    EXPECT_EQ(value(p, 0, metrics, "gpu__time_duration.sum"), 9589248.0);
    EXPECT_EQ(p.launches[0].cc, (ComputeCapability{12, 0}));
    for (const char* name :
         {"gemm_register_blocked", "gemm_tiled", "gemm_vectorized", "saxpy", "transpose_naive", "transpose_tiled"}) {
        const auto any = csv_file(shared("ncu_csv/rtx5070/") + name + ".csv", metrics);
        EXPECT_EQ(any.launches.size(), 1u) << name;
        EXPECT_EQ(any.values.size(), 3u) << name;
        EXPECT_TRUE(any.notes.empty()) << name;
    }
    for (const char* name : {"timing", "nvml", "peaks"}) {
        const std::string text = text_of(shared("ncu_csv/rtx5070/") + name + ".csv");
        EXPECT_FALSE(is_ncu_csv(text)) << name;
        EXPECT_FALSE(is_nvprof_csv(text)) << name;
    }
}

TEST(NcuCsvFiles, per_kernel_summaries_on_a100_are_averages) {
    GAMBREL_NEEDS(shared("nvprof_csv/multi_kernels_metrics.csv"));
    const MetricSet metrics =
        metric_set({"dram__sectors_read.sum", "gpu__time_active.avg", "smsp__thread_inst_executed.sum"});
    const auto p = csv_file(shared("nvprof_csv/multi_kernels_metrics.csv"), metrics);
    ASSERT_EQ(p.launches.size(), 2u);
    EXPECT_EQ(p.launches[0].name.str(), "kernel_B");
    EXPECT_EQ(p.launches[0].launches, 100u);
    EXPECT_EQ(value(p, 0, metrics, "dram__sectors_read.sum"), 402339.36);
    EXPECT_EQ(value(p, 1, metrics, "dram__sectors_read.sum"), 806261.76);
    EXPECT_EQ(
        value(csv_file(shared("nvprof_csv/multi_kernels_timing.csv"), metrics), 1, metrics, "gpu__time_active.avg"),
        76952.96);
    EXPECT_EQ(value(csv_file(shared("nvprof_csv/multi_kernels_events.csv"), metrics), 0, metrics,
                    "smsp__thread_inst_executed.sum"),
              74784015.0);
}

}  // namespace
}  // namespace gambrel::ingest_detail
