#include <gmock/gmock.h>

#include "csv_support.hpp"

namespace gambrel::ingest_detail {
namespace {

using namespace test;
using testing::HasSubstr;

const MetricSet& wanted() {
    static const MetricSet metrics = metric_set(
        {"nvprof:time", "nvprof:dram_read_transactions", "nvprof:dram_write_transactions", "nvprof:gld_transactions",
         "nvprof:l2_write_transactions", "nvprof:dram_read_throughput", "nvprof:sm_efficiency",
         "nvprof:dram_utilization", "nvprof:thread_inst_executed", "dram_read_transactions"});
    return metrics;
}

Profile read(const std::string& text, KeepName keep = {}) {
    EXPECT_TRUE(is_nvprof_csv(text));
    EXPECT_FALSE(is_ncu_csv(text));
    auto profile = read_nvprof_csv(text, {"run.csv", wanted(), std::move(keep)});
    if (!profile) ADD_FAILURE() << to_text(profile.error());
    return profile ? *profile : Profile{};
}

const std::string kMetrics =
    "\"Device\",\"Kernel\",\"Invocations\",\"Metric Name\",\"Metric Description\",\"Min\",\"Max\",\"Avg\"\n";

TEST(NvprofCsv, reads_metric_summaries_with_units_in_the_values) {
    const auto p =
        read("==12== NVPROF is profiling process 12, command: ./a\nhello\n==12== Metric result:\n" + kMetrics +
             "\"Tesla V100S-PCIE-32GB (0)\",\"k(int, int)\",101,\"dram_read_transactions\",\"x\",1,3,2\n"
             "\"Tesla V100S-PCIE-32GB (0)\",\"k(int, int)\",101,\"dram_read_throughput\",\"x\",1GB/s,3GB/s,2.5GB/s\n"
             "\"Tesla V100S-PCIE-32GB (0)\",\"k(int, int)\",101,\"sm_efficiency\",\"x\",1%,3%,45.6%\n"
             "\"Tesla V100S-PCIE-32GB (0)\",\"k(int, int)\",101,\"dram_utilization\",\"x\",\"Low (1)\",\"Low "
             "(3)\",\"Low (2)\"\n");
    ASSERT_EQ(p.launches.size(), 1u);
    EXPECT_EQ(p.tool, "nvprof");
    EXPECT_EQ(p.launches[0].name.str(), "k(int, int)");
    EXPECT_EQ(p.launches[0].device.str(), "Tesla V100S-PCIE-32GB");
    EXPECT_EQ(p.launches[0].launches, 101u);
    EXPECT_EQ(value(p, 0, wanted(), "nvprof:dram_read_transactions"), 2.0);
    EXPECT_FALSE(value(p, 0, wanted(), "dram_read_transactions").has_value());  // names of nvprof and ncu never meet
    EXPECT_EQ(value(p, 0, wanted(), "nvprof:dram_read_throughput"), 2.5 * 1073741824.0);
    EXPECT_EQ(value(p, 0, wanted(), "nvprof:sm_efficiency"), 45.6);
    EXPECT_EQ(value(p, 0, wanted(), "nvprof:dram_utilization"), 2.0);
    EXPECT_TRUE(p.notes.empty());
}

TEST(NvprofCsv, reads_times_by_the_unit_of_their_own_column) {
    const auto p = read(
        "\"Type\",\"Time(%)\",\"Time\",\"Calls\",\"Avg\",\"Min\",\"Max\",\"Name\"\n,%,ms,,us,ns,ms,\n"
        "\"GPU activities\",50,2,2,1000,9,1.1,\"k\"\n\"GPU activities\",50,2,1,2000,2,2,\"[CUDA memcpy DtoH]\"\n"
        "\"API calls\",50,2,1,2000,2,2,\"cudaMalloc\"\n");
    ASSERT_EQ(p.launches.size(), 1u);
    EXPECT_EQ(value(p, 0, wanted(), "nvprof:time"), 1e6);
    EXPECT_EQ(p.launches[0].launches, 2u);
    ASSERT_EQ(p.notes.size(), 1u);
    EXPECT_THAT(p.notes[0].what, HasSubstr("2 rows"));
}

TEST(NvprofCsv, leaves_out_api_calls_of_tables_without_a_type) {
    const auto p = read(
        "==1== Profiling result:\n\"Time(%)\",\"Time\",\"Calls\",\"Avg\",\"Min\",\"Max\",\"Name\"\n%,us,,us,us,us,\n"
        "100,5,1,5,5,5,\"k\"\n\n==1== API calls:\n\"Time(%)\",\"Time\",\"Calls\",\"Avg\",\"Min\",\"Max\",\"Name\"\n"
        "%,us,,us,us,us,\n100,9,1,9,9,9,\"cudaMalloc\"\n");
    ASSERT_EQ(p.launches.size(), 1u);
    EXPECT_EQ(value(p, 0, wanted(), "nvprof:time"), 5000.0);
}

TEST(NvprofCsv, reads_traces_launch_by_launch) {
    const auto p = read(
        "==1== Profiling result:\n\"Start\",\"Duration\",\"Grid X\",\"Grid Y\",\"Grid Z\",\"Block X\",\"Block "
        "Y\",\"Block "
        "Z\",\"Registers Per Thread\",\"Device\",\"Context\",\"Stream\",\"Name\"\nms,us,,,,,,,,,,,\n"
        "1,2.5,80,1,1,256,1,1,32,\"Tesla V100 (0)\",\"1\",\"7\",\"k(float*) [105]\"\n"
        "2,3.5,80,1,1,256,1,1,32,\"Tesla V100 (0)\",\"1\",\"7\",\"k(float*) [107]\"\n"
        "3,1,,,,,,,,\"Tesla V100 (0)\",\"1\",\"7\",\"[CUDA memset]\"\n");
    ASSERT_EQ(p.launches.size(), 2u);
    EXPECT_EQ(p.launches[0].name, p.launches[1].name);
    EXPECT_EQ(p.launches[0].name.str(), "k(float*)");
    EXPECT_EQ(p.launches[0].shape, (LaunchShape{{80, 1, 1}, {256, 1, 1}}));
    EXPECT_EQ(value(p, 1, wanted(), "nvprof:time"), 3500.0);
}

TEST(NvprofCsv, reads_metrics_of_traces_by_name_or_description) {
    const auto p = read(
        "\"Device\",\"Context\",\"Stream\",\"Kernel\",\"Device Memory Read Transactions\",\"gld_transactions\"\n"
        "\"Tesla V100 (0)\",\"1\",\"7\",\"k [1]\",11,12\n\"Tesla V100 (0)\",\"1\",\"7\",\"k [2]\",13,14\n");
    ASSERT_EQ(p.launches.size(), 2u);
    EXPECT_EQ(value(p, 0, wanted(), "nvprof:dram_read_transactions"), 11.0);
    EXPECT_EQ(value(p, 1, wanted(), "nvprof:gld_transactions"), 14.0);
}

TEST(NvprofCsv, merges_events_and_metrics_of_one_kernel) {
    const auto p = read(
        "==1== Event result:\n\"Device\",\"Kernel\",\"Invocations\",\"Event Name\",\"Min\",\"Max\",\"Avg\",\"Total\"\n"
        "\"G (0)\",\"k\",3,\"thread_inst_executed\",1,1,1,3\n\n==1== Metric result:\n" +
        kMetrics +
        "\"G (0)\",\"k\",3,\"gld_transactions\",\"x\",7,7,7\n\"G (1)\",\"k\",3,\"gld_transactions\",\"x\",8,8,8\n");
    ASSERT_EQ(p.launches.size(), 1u + 0u);  // "G (0)" and "G (1)" are two boards of one kind
    EXPECT_EQ(value(p, 0, wanted(), "nvprof:thread_inst_executed"), 1.0);
    EXPECT_EQ(value(p, 0, wanted(), "nvprof:gld_transactions"), 7.0);
}

TEST(NvprofCsv, notes_bad_rows_and_bad_values) {
    const auto p =
        read(kMetrics +
             "\"G (0)\",\"k\",3,\"gld_transactions\"\n\"G (0)\",\"k\",3,\"gld_transactions\",\"x\",1,1,<OVERFLOW>\n");
    ASSERT_EQ(p.launches.size(), 1u);
    EXPECT_TRUE(std::isnan(value(p, 0, wanted(), "nvprof:gld_transactions").value()));
    ASSERT_EQ(p.notes.size(), 2u);
    EXPECT_EQ(p.notes[0].where, "run.csv: line 2");
}

TEST(NvprofCsv, filters_by_name) {
    const auto p = read(
        kMetrics +
            "\"G (0)\",\"a\",3,\"gld_transactions\",\"x\",7,7,7\n\"G (0)\",\"b\",3,\"gld_transactions\",\"x\",7,7,8\n",
        [](const std::string& name) { return name == "b"; });
    ASSERT_EQ(p.launches.size(), 1u);
    EXPECT_EQ(p.filtered_launches, 1u);
    EXPECT_EQ(value(p, 0, wanted(), "nvprof:gld_transactions"), 8.0);
}

TEST(NvprofCsv, says_what_a_file_without_a_table_holds) {
    const std::string text = "==9== NVPROF is profiling process 9, command: ./a\n==9== No kernels were profiled.\n";
    EXPECT_TRUE(is_nvprof_csv(text));
    const auto p = read_nvprof_csv(text, {"a.csv", wanted(), {}});
    ASSERT_FALSE(p);
    EXPECT_THAT(p.error()[0].what, HasSubstr("NVPROF is profiling process 9"));
}

TEST(NvprofCsvFiles, transpose_on_v100s_has_the_values_in_the_files) {
    GAMBREL_NEEDS(shared("nvprof_csv"));
    const auto metrics = read(text_of(shared("nvprof_csv/hierarchical_metrics_transpose.csv")));
    ASSERT_EQ(metrics.launches.size(), 1u);
    EXPECT_EQ(metrics.launches[0].device.str(), "Tesla V100S-PCIE-32GB");
    EXPECT_EQ(metrics.launches[0].launches, 101u);
    EXPECT_EQ(value(metrics, 0, wanted(), "nvprof:dram_read_transactions"), 136549.0);
    EXPECT_EQ(value(metrics, 0, wanted(), "nvprof:dram_write_transactions"), 135811.0);
    EXPECT_EQ(value(metrics, 0, wanted(), "nvprof:l2_write_transactions"), 545629.0);
    const auto events = read(text_of(shared("nvprof_csv/hierarchical_events_transpose.csv")));
    EXPECT_EQ(value(events, 0, wanted(), "nvprof:thread_inst_executed"), 16777216.0);
    const auto timing = read(text_of(shared("nvprof_csv/hierarchical_timing_transpose.csv")));
    ASSERT_EQ(timing.launches.size(), 1u);
    EXPECT_EQ(timing.launches[0].name.str(), "transposeNaive(float*, float*, int, int)");
    EXPECT_DOUBLE_EQ(value(timing, 0, wanted(), "nvprof:time").value(), 26445.0);
}

}  // namespace
}  // namespace gambrel::ingest_detail
